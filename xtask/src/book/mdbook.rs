//! The program mdbook: whether it is there, and what it is asked to do.
//!
//! It is the one tool of the course that cargo does not build along.
//! Invariant: without it, or with one that is too old, one line says what to install.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::Place;

/// The oldest series that the book's settings and scripts are written for.
const OLDEST: (u32, u32) = (0, 5);
const INSTALL: &str = "install it with: cargo install mdbook --locked";

/// The program, when it is there and new enough.
///
/// # Errors
/// One line that says what to install.
pub fn find() -> Result<PathBuf> {
    let mdbook = PathBuf::from("mdbook");
    let output = Command::new(&mdbook)
        .arg("--version")
        .stdin(Stdio::null())
        .output();
    let Ok(output) = output else {
        bail!("mdbook is missing; {INSTALL}");
    };
    let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if version(&said).is_none_or(|version| version < OLDEST) {
        bail!("{said} is too old for the book; {INSTALL}");
    }
    Ok(mdbook)
}

/// The first two numbers of `mdbook v0.5.4`.
fn version(said: &str) -> Option<(u32, u32)> {
    let mut numbers = said.strip_prefix("mdbook v")?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Makes the HTML.
///
/// # Errors
/// What mdbook says when it fails, or warns of.
pub fn build(mdbook: &PathBuf, place: &Place) -> Result<()> {
    let output = Command::new(mdbook)
        .arg("build")
        .arg(&place.folder)
        .stdin(Stdio::null())
        .output()
        .context("starting mdbook")?;
    let said = String::from_utf8_lossy(&output.stderr);
    let warns = said
        .lines()
        .any(|line| line.trim_start().starts_with("WARN"));
    if !output.status.success() || warns {
        bail!("mdbook build: {}\n{}", output.status, said.trim());
    }
    Ok(())
}

/// Serves the book until Ctrl-C.
///
/// # Errors
/// When mdbook fails; one that was built without `serve` says so itself.
pub fn serve(mdbook: &PathBuf, place: &Place) -> Result<()> {
    let status = Command::new(mdbook)
        .arg("serve")
        .arg(&place.folder)
        .status()
        .context("starting mdbook")?;
    if !status.success() {
        bail!("mdbook serve: {status}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_two_numbers() {
        assert_eq!(version("mdbook v0.5.4"), Some((0, 5)));
        assert_eq!(version("mdbook v0.4.52"), Some((0, 4)));
        assert!(version("mdbook v1.0.0") > Some(OLDEST));
        assert_eq!(version("something else"), None);
    }
}

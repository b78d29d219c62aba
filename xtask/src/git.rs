//! The few calls of git that xtask makes.
//!
//! Real git merges and lists files as the contributor's own git would, with the same settings.
//! Invariant: git's complaint reaches the reader in its own words.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};

/// Runs git in `folder` and returns what it printed.
///
/// # Errors
/// When git is missing or exits with a status other than 0.
pub fn run(folder: &Path, args: &[&str]) -> Result<String> {
    let output = output(folder, args)?;
    if !output.status.success() {
        bail!(
            "git {} in {}: {}",
            args.join(" "),
            folder.display(),
            complaint(&output)
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs git in `folder` and returns its output, whatever its exit status.
///
/// # Errors
/// When git cannot be started.
pub fn output(folder: &Path, args: &[&str]) -> Result<Output> {
    Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(args)
        .stdin(Stdio::null())
        .output()
        .context("starting git (is it installed?)")
}

/// What git wrote to stderr, in one piece.
pub fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim().to_owned()
}

//! Cargo, started by a program that cargo runs.
//!
//! `cargo run` describes the program it runs in the environment, and build scripts look at such variables: ring's, for one. Handed
//! on, they would make the next cargo build ring again, and all that stands on it, each time a person goes from
//! `cargo x` to `cargo run` and back.
//! Invariant: a cargo started here sees the environment that the person's own cargo saw.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::git;

/// What cargo tells a program about its package.
const OF_A_PACKAGE: [&str; 2] = ["CARGO_MANIFEST_", "CARGO_PKG_"];

/// The cargo that runs this program, with these arguments.
pub fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).env_remove("CARGO");
    // A git hook points git at the repository it runs for; the tests' own repositories must not follow it.
    for name in git::ELSEWHERE {
        command.env_remove(name);
    }
    for (name, _) in std::env::vars_os() {
        let described = |name: &str| OF_A_PACKAGE.iter().any(|start| name.starts_with(start));
        if name.to_str().is_some_and(described) {
            command.env_remove(name);
        }
    }
    command
}

/// Runs a cargo to its end, with its words on the screen: whether it succeeded.
///
/// # Errors
/// When it cannot be started.
pub fn succeeds(cargo: &mut Command) -> Result<bool> {
    Ok(cargo.status().context("starting cargo")?.success())
}

/// The target folder, where this program lies: it outlives a clone's builds, and git ignores it.
///
/// # Errors
/// When this program cannot tell where it lies.
pub fn target() -> Result<PathBuf> {
    let own = std::env::current_exe().context("looking for the target folder")?;
    let target = own.ancestors().nth(2);
    Ok(target.context("looking for the target folder")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cargo_and_git_say_of_another_place_is_not_handed_on() {
        // The test itself is run by cargo.
        assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
        let command = cargo(&["build"]);

        for name in
            ["CARGO", "CARGO_MANIFEST_DIR", "CARGO_PKG_NAME", "CARGO_PKG_VERSION", "GIT_DIR"]
        {
            assert!(
                command.get_envs().any(|(key, value)| key == name && value.is_none()),
                "{name}"
            );
        }
    }
}

//! The few calls of git that xtask makes.
//!
//! Real git merges and lists files as the contributor's own git would, with the same settings.
//! Invariant: git works on the repository of the folder it is given, also when a hook of another one has started it; its
//! complaint reaches the reader in its own words.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};

/// What a git hook and `git rebase --exec` set, and what git follows before it looks where it is.
pub const ELSEWHERE: [&str; 4] = ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_PREFIX"];

/// Git in `folder`.
pub fn command(folder: &Path) -> Command {
    let mut git = Command::new("git");
    git.current_dir(folder).stdin(Stdio::null());
    ELSEWHERE.iter().for_each(|name| {
        git.env_remove(name);
    });
    git
}

/// Runs git in `folder` and returns what it printed.
///
/// # Errors
/// When git is missing or exits with a status other than 0.
pub fn run(folder: &Path, args: &[&str]) -> Result<String> {
    let output = output(folder, args)?;
    if !output.status.success() {
        bail!("git {} in {}: {}", args.join(" "), folder.display(), complaint(&output));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs git in `folder` and returns its output, whatever its exit status.
///
/// # Errors
/// When git cannot be started.
pub fn output(folder: &Path, args: &[&str]) -> Result<Output> {
    let output = command(folder).args(args).output();
    output.context("starting git (is it installed?)")
}

/// What git wrote to stderr, in one piece.
pub fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_stays_in_its_folder_although_a_hook_points_elsewhere() {
        let git = command(Path::new("."));
        for name in ELSEWHERE {
            let mut envs = git.get_envs();
            assert!(envs.any(|it| it == (name.as_ref(), None)), "{name}");
        }
    }
}

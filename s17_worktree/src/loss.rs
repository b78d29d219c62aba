//! What would be lost with a worktree.
//!
//! Invariant: every commit of the worktree, also of a detached HEAD, must be reachable from elsewhere, and every file that
//! git does not ignore must be committed, whatever the settings of the repository hide.

use std::path::Path;

use anyhow::{Result, bail};

use crate::git::git;

/// The maximum number of files or commits that a refusal shows.
const SHOWN: usize = 20;
const INSTEAD: &str = "commit it and merge the branch, keep the worktree, or pass discard_changes";

/// Refuses when this directory has files that are in no commit.
pub(crate) async fn check_files(name: &str, directory: &Path) -> Result<()> {
    let status = ["status", "--porcelain", "--untracked-files=all", "--ignore-submodules=none"];
    let changed = git(directory, &status).await?;
    refuse(name, "uncommitted files", &changed)
}

/// Refuses when commits that these lead to are on no branch but this one, no tag and no remote.
pub(crate) async fn check_commits(
    name: &str,
    repository: &Path,
    from: &[String],
    branch: &str,
) -> Result<()> {
    let except = format!("--exclude={branch}");
    let mut args = vec!["rev-list", "--oneline"];
    args.extend(from.iter().map(String::as_str));
    args.extend(["--not", &except, "--branches", "--tags", "--remotes"]);
    if from.is_empty() {
        return Ok(());
    }
    let only_here = git(repository, &args).await?;
    refuse(name, "commits that are on no other branch", &only_here)
}

/// Refuses when there is a line of what would be lost.
fn refuse(name: &str, what: &str, lost: &str) -> Result<()> {
    if lost.is_empty() {
        return Ok(());
    }
    let count = lost.lines().count();
    let first: Vec<&str> = lost.lines().take(SHOWN).collect();
    bail!("the worktree {name} has {what} ({count}):\n{}\n{INSTEAD}", first.join("\n"))
}

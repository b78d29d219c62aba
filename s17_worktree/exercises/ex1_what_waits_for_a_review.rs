//! Exercise 1 · what waits for a review (10 minutes).
//!
//! `keep_worktree` says where the worktree is, and not what is in it. Let its answer say how many commits there are
//! that no other branch, tag or remote has, as `2 commits`, and how many files that are in no commit, as `3
//! uncommitted files`; `1 commit` and `1 uncommitted file` when it is one. Where neither is left, the answer says
//! `nothing to review`. What counts is what `remove_worktree` would refuse to lose: both tools must mean the same by
//! it. A worktree whose directory was deleted by hand can be kept as before; its commits are counted.
//!
//! Hint: `src/loss.rs` finds all of it already and throws the number away. Split what finds from what refuses.
//!
//! Hint: `check_nothing_is_lost` in `src/worktrees.rs` knows where to look from, and what to do without a directory.

use std::fs;

use serde_json::json;

use crate::scene::done;
use crate::yard::{Yard, commit, git, write};

async fn keep(yard: &Yard) -> String {
    done(yard.call("keep_worktree", json!({"name": "api"})).await)
}

#[track_caller]
fn says(kept: &str, wanted: &[&str]) {
    for words in wanted {
        assert!(kept.contains(words), "keep_worktree should say {words:?}; it said {kept:?}");
    }
}

#[tokio::test]
#[ignore = "exercise 1"]
async fn commits_and_files_are_counted() {
    let yard = Yard::new();
    let directory = yard.create("api").await;
    says(&keep(&yard).await, &["nothing to review"]);
    for name in ["one.txt", "two.txt"] {
        write(directory.join(name));
        commit(&directory, name);
    }
    says(&keep(&yard).await, &["2 commits"]);
    write(directory.join("three.txt"));
    says(&keep(&yard).await, &["2 commits", "1 uncommitted file"]);
}

/// What the settings of the repository hide is there all the same, and a new folder is as many files as lie in it.
#[tokio::test]
#[ignore = "exercise 1"]
async fn hidden_files_are_files() {
    let yard = Yard::new();
    let directory = yard.create("api").await;
    git(yard.ws.root(), &["config", "status.showUntrackedFiles", "no"]);
    fs::create_dir(directory.join("new")).unwrap();
    for name in ["new/one.txt", "new/two.txt", "three.txt"] {
        write(directory.join(name));
    }
    says(&keep(&yard).await, &["3 uncommitted files"]);
}

#[tokio::test]
#[ignore = "exercise 1"]
async fn what_another_branch_has_does_not_wait() {
    let yard = Yard::new();
    let directory = yard.create("api").await;
    for name in ["one.txt", "two.txt"] {
        write(directory.join(name));
        commit(&directory, name);
        if name == "one.txt" {
            git(yard.ws.root(), &["branch", "release", "wt/api"]);
        }
    }
    says(&keep(&yard).await, &["1 commit"]);
    git(yard.ws.root(), &["merge", "--quiet", "wt/api"]);
    says(&keep(&yard).await, &["nothing to review"]);
}

#[tokio::test]
#[ignore = "exercise 1"]
async fn a_folder_that_was_deleted_by_hand_is_no_error() {
    let yard = Yard::new();
    let directory = yard.create("api").await;
    write(directory.join("one.txt"));
    commit(&directory, "One");
    fs::remove_dir_all(&directory).unwrap();
    says(&keep(&yard).await, &["1 commit"]);
}

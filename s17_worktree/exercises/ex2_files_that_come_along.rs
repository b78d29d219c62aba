//! Exercise 2 · files that come along (15 minutes).
//!
//! A new worktree holds what is committed, and so neither `.env` nor anything else that `.gitignore` names: the
//! program does not start in it. Let `create_worktree` read `.worktreeinclude` in the workspace: each line names a
//! file by its path from there, and is copied to the same place in the worktree; empty lines and lines that begin with
//! `#` mean nothing. A named file that is not there is no error. Whoever works in the worktree must find the copy
//! where the workspace has the file, also when the workspace is a subdirectory of the repository. A line that leads
//! out of the workspace makes the call fail, and then nothing is left of it: no directory, no branch, no binding of
//! the task.
//!
//! Hint: `Workspace::resolve` knows what leads out, by `..` or by a link.
//!
//! Hint: what fails inside `Worktrees::add` is rolled back. What does `roll_back` not undo, and what follows for
//! the order of the steps?

use std::fs;

use serde_json::json;

use crate::scene::done;
use crate::yard::{Yard, commit, write};

fn with_include(lines: &str) -> Yard {
    let yard = Yard::new();
    let file = |name: &str, text: &str| fs::write(yard.ws.root().join(name), text).unwrap();
    file(".gitignore", ".env\n/config\n");
    file(".env", "PORT=1\n");
    fs::create_dir(yard.ws.root().join("config")).unwrap();
    file("config/local.toml", "a = 1\n");
    file(".worktreeinclude", lines);
    commit(yard.ws.root(), "Name what is not committed");
    yard
}

#[tokio::test]
#[ignore = "exercise 2"]
async fn named_files_are_copied_to_the_same_place() {
    let yard = with_include("# for the server\n.env\n\nconfig/local.toml\nconfig/missing.toml\n");
    let directory = yard.create("api").await;
    let copied = |name: &str| fs::read_to_string(directory.join(name)).unwrap_or_default();
    assert_eq!(copied(".env"), "PORT=1\n", ".env should have been copied");
    assert_eq!(
        copied("config/local.toml"),
        "a = 1\n",
        "config/local.toml should have been copied, and its folder made"
    );
    assert!(!directory.join("config/missing.toml").exists());
    done(yard.remove("api").await);
}

#[tokio::test]
#[ignore = "exercise 2"]
async fn in_a_subfolder_they_are_where_the_agent_works() {
    let yard = with_include("");
    let app = yard.ws.root().join("app");
    fs::create_dir(&app).unwrap();
    write(app.join("main.rs"));
    commit(yard.ws.root(), "Add the app");
    fs::write(app.join(".env"), "PORT=2\n").unwrap();
    fs::write(app.join(".worktreeinclude"), ".env\n").unwrap();
    let yard = yard.in_folder("app");
    yard.task_of("alice", "api").await;
    let ws = yard.work_dir("alice");
    let copy = fs::read_to_string(ws.root().join(".env"));
    assert_eq!(
        copy.unwrap_or_default(),
        "PORT=2\n",
        ".env should lie where alice works, in {}",
        ws.root().display()
    );
}

#[tokio::test]
#[ignore = "exercise 2"]
async fn a_line_that_leads_out_leaves_nothing_behind() {
    for line in ["../secret", "/etc/hostname", "sly/secret"] {
        let yard = with_include(&format!(".env\n{line}\n"));
        let outside = tempfile::tempdir().unwrap();
        write(outside.path().join("secret"));
        std::os::unix::fs::symlink(outside.path(), yard.ws.root().join("sly")).unwrap();
        let task = yard.task("Write the API", &[]);
        let made = yard.create_for("api", &task).await;
        assert!(
            made.is_error,
            "the line {line:?} leads out of the workspace and should be refused; the answer was {:?}",
            made.text
        );
        assert!(
            !yard.directory("api").exists() && !yard.has_branch("wt/api"),
            "the refusal of {line:?} should leave no folder and no branch"
        );
        let task = yard.board.get(&task.id).unwrap().task;
        assert!(
            !task.extra.contains_key("worktree"),
            "the refusal of {line:?} should leave the task without a worktree: {:?}",
            task.extra
        );
        fs::write(yard.ws.root().join(".worktreeinclude"), ".env\n").unwrap();
        let made = yard.call("create_worktree", json!({"name": "api"})).await;
        done(made);
    }
}

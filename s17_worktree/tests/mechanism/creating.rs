//! What create_worktree makes, and what it refuses.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use s02_tools::Toolbox;
use s15_mailbox::LEAD;
use s17_worktree::Worktrees;
use serde_json::json;

use crate::scene::{call, done, refused};
use crate::yard::{Yard, commit, git, write};

#[tokio::test]
async fn a_worktree_is_a_directory_on_a_branch_of_its_own_from_the_last_commit() {
    let yard = Yard::new();
    write(yard.ws.root().join("uncommitted.txt"));
    let made = yard.call("create_worktree", json!({"name": "api"})).await;
    assert_eq!(
        done(made),
        "created .harness/worktrees/api on branch wt/api"
    );
    let directory = yard.directory("api");
    assert!(directory.join("src/lib.rs").exists());
    assert!(!directory.join("uncommitted.txt").exists());
    assert_eq!(git(&directory, &["branch", "--show-current"]), "wt/api");
    let status = git(yard.ws.root(), &["status", "--porcelain"]);
    assert_eq!(
        status, "?? uncommitted.txt",
        "the outer checkout commits nothing of it"
    );
    assert_eq!(yard.events(), [("created".into(), "api".into())]);
}

#[tokio::test]
async fn names_that_are_paths_options_or_several_lines_are_refused() {
    let yard = Yard::new();
    let long = "a".repeat(41);
    for name in [
        "", "../x", "a/b", "a\nb", "-f", "A", "a b", "ä", "a.lock", &long,
    ] {
        let refusal = yard.call("create_worktree", json!({"name": name})).await;
        let refusal = refused(refusal);
        assert!(refusal.contains("is no name for a worktree"), "{refusal}");
    }
    assert!(!yard.ws.state("worktrees").exists());
}

#[tokio::test]
async fn outside_a_repository_and_before_the_first_commit_there_is_a_clear_sentence() {
    let init = |dir: &Path| drop(git(dir, &["init", "--quiet"]));
    for (yard, why) in [
        (
            Yard::begun(|_| ()),
            "is in no git repository; run `git init`",
        ),
        (Yard::begun(init), "has no commit yet"),
        (
            Yard::new().in_folder(".git"),
            "inside the files of git itself",
        ),
    ] {
        let refusal = refused(yard.call("create_worktree", json!({"name": "api"})).await);
        assert!(refusal.contains(why), "{refusal}");
    }
}

#[tokio::test]
async fn a_name_or_a_branch_that_is_taken_is_refused_and_stays() {
    let yard = Yard::new();
    yard.create("api").await;
    git(yard.ws.root(), &["branch", "wt/ui"]);
    for (name, why) in [
        ("api", "a worktree api already"),
        ("ui", "a branch wt/ui already"),
    ] {
        let refusal = refused(yard.call("create_worktree", json!({"name": name})).await);
        assert!(refusal.contains(why), "{refusal}");
        assert!(yard.has_branch(&format!("wt/{name}")));
    }
}

#[tokio::test]
async fn a_task_that_is_bound_done_worked_on_or_unknown_gets_no_worktree() {
    let yard = Yard::new();
    let [bound, over, busy] = ["bound", "over", "busy"].map(|subject| yard.task(subject, &[]));
    done(yard.create_for("first", &bound).await);
    yard.board.claim(&over.id, LEAD).unwrap();
    yard.board.complete(&over.id, LEAD).unwrap();
    yard.board.claim(&busy.id, "alice").unwrap();
    let mut unknown = bound.clone();
    unknown.id = "0099-zzzzzzzz".into();
    for (task, why) in [
        (bound, "has the worktree first already"),
        (over, "is completed already"),
        (busy, "alice works on task"),
        (unknown, "there is no task"),
    ] {
        let refusal = refused(yard.create_for("second", &task).await);
        assert!(refusal.contains(why), "{refusal}");
    }
    assert!(!yard.directory("second").exists() && !yard.has_branch("wt/second"));
}

/// Two handles know nothing of each other, as those of two processes.
#[tokio::test]
async fn who_loses_the_race_for_a_name_takes_nothing_away_from_the_winner() {
    let yard = Yard::new();
    let other = Worktrees::open(&yard.ws, &yard.board, &yard.mail);
    let other = Toolbox::new().with_all(other.tools());
    let input = json!({"name": "api"});
    let (one, two) = tokio::join!(
        yard.call("create_worktree", input.clone()),
        call(&other, "create_worktree", input)
    );
    assert_ne!(one.is_error, two.is_error, "{} {}", one.text, two.text);
    assert!(yard.directory("api").join("src/lib.rs").exists() && yard.has_branch("wt/api"));
}

#[tokio::test]
async fn what_cannot_be_made_whole_is_taken_back() {
    let yard = Yard::new();
    // A filter that the checkout needs and that fails.
    fs::write(yard.ws.root().join(".gitattributes"), "*.bin filter=lost\n").unwrap();
    write(yard.ws.root().join("a.bin"));
    commit(yard.ws.root(), "A file that goes through a filter");
    git(yard.ws.root(), &["config", "filter.lost.smudge", "false"]);
    git(yard.ws.root(), &["config", "filter.lost.required", "true"]);
    let task = yard.task("Write the API", &[]);
    let refusal = refused(yard.create_for("api", &task).await);
    assert!(refusal.contains("smudge filter lost failed"), "{refusal}");
    assert!(!yard.directory("api").exists() && !yard.has_branch("wt/api"));
    let task = yard.board.get(&task.id).unwrap().task;
    assert!(!task.extra.contains_key("worktree"));
}

#[tokio::test]
async fn hooks_and_settings_of_the_repository_change_nothing() {
    let yard = Yard::new();
    let hook = yard.ws.root().join(".git/hooks/post-checkout");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\necho noise\ntouch ran\nexit 1\n").unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    for (name, value) in [
        ("color.ui", "always"),
        ("status.showUntrackedFiles", "no"),
        ("status.branch", "true"),
        ("log.showSignature", "true"),
        ("core.fsmonitor", "false"),
        ("advice.detachedHead", "true"),
    ] {
        git(yard.ws.root(), &["config", name, value]);
    }
    let directory = yard.create("api").await;
    assert!(!directory.join("ran").exists());
    write(directory.join("new.txt"));
    let refusal = refused(yard.remove("api").await);
    assert!(
        refusal.contains("\n?? new.txt\n"),
        "hidden files are files: {refusal}"
    );
    fs::remove_file(directory.join("new.txt")).unwrap();
    done(yard.remove("api").await);
}

#[tokio::test]
async fn a_workspace_that_is_a_worktree_itself_has_worktrees() {
    let yard = Yard::new();
    yard.create("first").await;
    let inner = yard.in_folder(".harness/worktrees/first");
    inner.create("second").await;
    assert!(inner.has_branch("wt/second"));
}

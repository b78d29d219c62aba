//! What remove_worktree refuses to lose.

use std::fs;

use s12_tasks::Status;
use serde_json::json;

use crate::scene::{done, refused};
use crate::yard::{Yard, commit, git, write};

#[tokio::test]
async fn a_bound_task_stays_pending_and_a_worktree_without_work_goes_with_its_branch_and_its_binding()
 {
    let yard = Yard::new();
    let task = yard.task("Write the API", &[]);
    let made = done(yard.create_for("api", &task).await);
    assert!(made.ends_with(&format!("for task {}", task.id)), "{made}");
    let bound = yard.board.get(&task.id).unwrap().task;
    assert_eq!((bound.status, &bound.owner), (Status::Pending, &None));
    assert_eq!(bound.extra["worktree"], "api");
    assert_eq!(
        done(yard.remove("api").await),
        "removed the worktree api and its branch wt/api"
    );
    assert!(!yard.directory("api").exists() && !yard.has_branch("wt/api"));
    let task = yard.board.get(&task.id).unwrap().task;
    assert!(!task.extra.contains_key("worktree"));
    assert_eq!(yard.events()[1], ("removed".into(), "api".into()));
}

#[tokio::test]
async fn files_that_are_in_no_commit_are_not_lost() {
    let yard = Yard::new();
    let directory = yard.create("api").await;
    fs::write(directory.join("src/lib.rs"), "// changed\n").unwrap();
    write(directory.join("new.txt"));
    let refusal = refused(yard.remove("api").await);
    assert!(refusal.contains("uncommitted files (2)"), "{refusal}");
    assert!(refusal.contains(" M src/lib.rs\n?? new.txt"), "{refusal}");
    assert!(refusal.contains("discard_changes"), "{refusal}");
    assert!(directory.join("new.txt").exists());
    done(yard.discard("api").await);
    assert!(!directory.exists() && !yard.has_branch("wt/api"));
}

#[tokio::test]
async fn commits_that_are_on_no_other_branch_are_not_lost() {
    let yard = Yard::new();
    let directory = yard.create("api").await;
    write(directory.join("new.txt"));
    commit(&directory, "Add the API");
    let refusal = refused(yard.remove("api").await);
    assert!(
        refusal.contains("commits that are on no other branch (1)"),
        "{refusal}"
    );
    assert!(refusal.contains("Add the API"), "{refusal}");
    assert!(yard.has_branch("wt/api"));
    done(yard.discard("api").await);
    assert!(!yard.has_branch("wt/api"));
}

#[tokio::test]
async fn commits_of_a_detached_head_are_not_lost() {
    let yard = Yard::new();
    let directory = yard.create("api").await;
    git(&directory, &["switch", "--quiet", "--detach"]);
    write(directory.join("new.txt"));
    commit(&directory, "On no branch at all");
    let refusal = refused(yard.remove("api").await);
    assert!(refusal.contains("On no branch at all"), "{refusal}");
    // The same when only git remembers the folder.
    fs::remove_dir_all(&directory).unwrap();
    let refusal = refused(yard.remove("api").await);
    assert!(refusal.contains("On no branch at all"), "{refusal}");
}

#[tokio::test]
async fn what_is_merged_tagged_or_pushed_may_go() {
    for saved in ["merged", "tagged", "pushed", "on another branch"] {
        let yard = Yard::new();
        let (root, directory) = (yard.ws.root(), yard.create("api").await);
        write(directory.join("new.txt"));
        commit(&directory, "Add the API");
        match saved {
            "merged" => git(root, &["merge", "--quiet", "wt/api"]),
            "tagged" => git(root, &["tag", "v1", "wt/api"]),
            "pushed" => {
                git(root, &["init", "--quiet", "--bare", ".git/elsewhere"]);
                git(root, &["remote", "add", "origin", ".git/elsewhere"]);
                git(root, &["push", "--quiet", "origin", "wt/api"])
            }
            _ => git(root, &["branch", "copy", "wt/api"]),
        };
        assert!(!yard.remove("api").await.is_error, "{saved}");
        assert!(!yard.has_branch("wt/api"), "{saved}");
    }
}

#[tokio::test]
async fn a_folder_that_was_deleted_by_hand_can_be_removed_and_made_again() {
    let yard = Yard::new();
    let directory = yard.create("api").await;
    fs::remove_dir_all(&directory).unwrap();
    let refusal = refused(yard.call("create_worktree", json!({"name": "api"})).await);
    assert!(refusal.contains("remove it first"), "{refusal}");
    done(yard.remove("api").await);
    yard.create("api").await;

    // Removed by git itself: its branch is left.
    git(
        yard.ws.root(),
        &["worktree", "remove", ".harness/worktrees/api"],
    );
    done(yard.remove("api").await);
    assert!(!yard.has_branch("wt/api"));
}

#[tokio::test]
async fn a_worktree_in_which_a_teammate_works_stays() {
    let yard = Yard::new();
    let task = yard.task_of("alice", "api").await;
    let refusal = refused(yard.remove("api").await);
    assert!(refusal.contains("alice works in api"), "{refusal}");
    yard.board.complete(&task.id, "alice").unwrap();
    done(yard.remove("api").await);
}

#[tokio::test]
async fn an_unknown_worktree_is_named_with_those_there_are() {
    let yard = Yard::new();
    for name in ["nothing", "../..", "main"] {
        let refusal = refused(yard.discard(name).await);
        assert!(refusal.contains("there are none"), "{refusal}");
    }
    yard.create("api").await;
    let refusal = refused(yard.call("keep_worktree", json!({"name": "ui"})).await);
    assert!(refusal.contains("there are api"), "{refusal}");
}

#[tokio::test]
async fn a_worktree_that_is_kept_stays_and_is_on_record() {
    let yard = Yard::new();
    let directory = yard.create("api").await;
    let kept = done(yard.call("keep_worktree", json!({"name": "api"})).await);
    assert!(kept.contains("on branch wt/api"), "{kept}");
    assert!(directory.exists());
    assert_eq!(yard.events()[1], ("kept".into(), "api".into()));
}

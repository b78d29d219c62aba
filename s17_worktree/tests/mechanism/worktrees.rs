//! What create_worktree makes and refuses, and what remove_worktree refuses to lose.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use s02_tools::Toolbox;
use s12_tasks::Status;
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
    assert_eq!(done(made), "created .harness/worktrees/api on branch wt/api");
    let directory = yard.directory("api");
    assert!(directory.join("src/lib.rs").exists());
    assert!(!directory.join("uncommitted.txt").exists());
    assert_eq!(git(&directory, &["branch", "--show-current"]), "wt/api");
    let status = git(yard.ws.root(), &["status", "--porcelain"]);
    assert_eq!(status, "?? uncommitted.txt", "the outer checkout commits nothing of it");
    assert_eq!(yard.events(), ["created api"]);
}

#[tokio::test]
async fn names_that_are_paths_options_or_several_lines_are_refused() {
    let yard = Yard::new();
    let long = "a".repeat(41);
    for name in ["", "../x", "a/b", "a\nb", "-f", "A", "a b", "ä", "a.lock", &long] {
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
        (Yard::begun(|_| ()), "is in no git repository; run `git init`"),
        (Yard::begun(init), "has no commit yet"),
        (Yard::new().in_folder(".git"), "inside the files of git itself"),
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
    for (name, why) in [("api", "a worktree api already"), ("ui", "a branch wt/ui already")] {
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
    assert!(refusal.contains("\n?? new.txt\n"), "hidden files are files: {refusal}");
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
    assert_eq!(done(yard.remove("api").await), "removed the worktree api and its branch wt/api");
    assert!(!yard.directory("api").exists() && !yard.has_branch("wt/api"));
    let task = yard.board.get(&task.id).unwrap().task;
    assert!(!task.extra.contains_key("worktree"));
    assert_eq!(yard.events()[1], "removed api");
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
    assert!(refusal.contains("commits that are on no other branch (1)"), "{refusal}");
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
    git(yard.ws.root(), &["worktree", "remove", ".harness/worktrees/api"]);
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
    assert_eq!(yard.events()[1], "kept api");
}

//! Where an agent works, and what it cannot reach from there.

use std::fs;

use s12_tasks::{Status, Task};
use serde_json::json;

use crate::scene::{done, refused};
use crate::yard::{Yard, commit, write};

#[tokio::test]
async fn the_directory_follows_the_task_and_goes_back_with_it() {
    let yard = Yard::new();
    let main = yard.ws.root();
    let works_in = |agent: &str| yard.work_dir(agent).root().to_owned();
    assert_eq!(works_in("alice"), main);
    let api = yard.task_of("alice", "api").await;
    assert_eq!(works_in("alice"), yard.directory("api").canonicalize().unwrap());
    assert_eq!(works_in("bob"), main);
    yard.board.complete(&api.id, "alice").unwrap();
    assert_eq!(works_in("alice"), main);
    let ui = yard.task_of("alice", "ui").await;
    assert!(works_in("alice").ends_with("worktrees/ui"));
    yard.mail.join("alice").unwrap();
    yard.mail.leave("alice");
    assert_eq!(works_in("alice"), main);
    let left = yard.board.get(&ui.id).unwrap().task;
    assert_eq!((left.status, left.owner), (Status::Pending, None));
}

#[tokio::test]
async fn of_a_workspace_in_a_subfolder_it_is_that_subfolder() {
    for is_committed in [true, false] {
        let yard = Yard::new();
        fs::create_dir(yard.ws.root().join("app")).unwrap();
        write(yard.ws.root().join("app/main.rs"));
        if is_committed {
            commit(yard.ws.root(), "Add the app");
        }
        let yard = yard.in_folder("app");
        yard.task_of("alice", "api").await;
        let ws = yard.work_dir("alice");
        assert!(ws.root().ends_with("app/.harness/worktrees/api/app"));
        assert_eq!(ws.root().join("main.rs").exists(), is_committed);
        assert_eq!(ws.state("tasks"), yard.ws.state("tasks"), "one state");
    }
}

#[tokio::test]
async fn file_tools_do_not_reach_the_main_directory_from_there() {
    let yard = Yard::new();
    yard.task_of("alice", "api").await;
    let ws = yard.work_dir("alice");
    let main = yard.ws.root().join("src/lib.rs");
    for path in ["../../../src/lib.rs", main.to_str().unwrap()] {
        let write = json!({"path": path, "content": "mine"});
        let refusal = refused(yard.call_as("alice", &ws, "write_file", write).await);
        assert!(refusal.contains("outside the workspace"), "{refusal}");
    }
    let write = json!({"path": "src/lib.rs", "content": "mine"});
    done(yard.call_as("alice", &ws, "write_file", write).await);
    assert_eq!(fs::read_to_string(main).unwrap(), "// lib\n");
    let pwd = json!({"command": "pwd"});
    let here = done(yard.call_as("alice", &ws, "bash", pwd).await);
    assert!(here.ends_with("worktrees/api"), "{here}");
}

#[tokio::test]
async fn a_call_from_before_the_claim_does_not_run_in_the_old_directory() {
    let yard = Yard::new();
    let before = yard.work_dir("alice");
    let task = yard.task_of("alice", "api").await;
    let write = json!({"path": "new.txt", "content": "mine"});
    let early = yard.call_as("alice", &before, "write_file", write.clone());
    let refusal = refused(early.await);
    let where_to = "to .harness/worktrees/api; call again";
    assert!(refusal.contains(where_to), "{refusal}");
    let after = yard.work_dir("alice");
    done(yard.call_as("alice", &after, "write_file", write).await);
    yard.board.complete(&task.id, "alice").unwrap();
    let read = json!({"path": "new.txt"});
    // It does not stay switched after the task.
    refused(yard.call_as("alice", &after, "read_file", read).await);
}

#[tokio::test]
async fn a_task_file_cannot_lead_an_agent_out_of_the_worktrees() {
    for name in ["../..", "/", "sly", "gone"] {
        let yard = Yard::new();
        let task = yard.task("Write the API", &[]);
        fs::create_dir_all(yard.ws.state("worktrees")).unwrap();
        if name == "sly" {
            let elsewhere = tempfile::tempdir().unwrap().keep();
            write(elsewhere.join(".git"));
            std::os::unix::fs::symlink(elsewhere, yard.directory("sly")).unwrap();
        }
        let point = |task: &mut Task| {
            task.extra.insert("worktree".into(), name.into());
            Ok(())
        };
        let task = yard.board.update(&task.id, point).unwrap();
        assert!(!yard.worktrees.is_ready(&task));
        yard.board.claim(&task.id, "alice").unwrap();
        let error = yard.worktrees.work_dir("alice", &yard.ws).unwrap_err();
        assert!(error.to_string().contains("worktree"), "{error:#}");
    }
}

#[tokio::test]
async fn the_task_that_the_lead_names_is_assigned_and_no_other() {
    let yard = Yard::new();
    let [one, two, three] = ["one", "two", "three"].map(|subject| yard.task(subject, &[]).id);
    let mail = |from: &str, text: &str| {
        format!("<mail from=\"{from}\" type=\"message\">\n{text}\n</mail>")
    };
    for (agent, text, held) in [
        ("alice", "Write one-liners, please.".into(), vec![]),
        ("alice", mail("bob", &format!("{one} is hard")), vec![]),
        ("alice", format!("Do task {two}, and after that task {one}."), vec![&two]),
        // Never a second one.
        ("alice", mail("lead", &format!("Also {three}")), vec![&two]),
        ("bob", mail("lead", &format!("Not {two}: {three}")), vec![&three]),
    ] {
        yard.worktrees.assign(agent, [&text]).unwrap();
        let now = yard.board.held_by(agent).unwrap();
        let now: Vec<&String> = now.iter().map(|task| &task.id).collect();
        assert_eq!(now, held, "{agent} was told {text:?}");
    }
}

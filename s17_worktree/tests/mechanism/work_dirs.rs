//! Where an agent works, and what it cannot reach from there.

use std::fs;

use s01_loop::{Repl, ToolCall};
use s02_tools::{Toolbox, Workspace, bash, read_file, write_file};
use s03_permission::Policy;
use s04_hooks::{Hooks, permission};
use s12_tasks::Status;
use serde_json::{Value, json};

use crate::yard::{Yard, commit, write};

fn lane(yard: &Yard, agent: &str) -> Workspace {
    yard.worktrees.lane(agent, &yard.ws).unwrap()
}

/// Makes one call as alice would in this workspace, under the policy and the gate.
async fn call_in(yard: &Yard, ws: &Workspace, name: &str, input: Value) -> Result<String, String> {
    let policy = Policy::open(&yard.ws, Repl::once("test", "")).within(ws);
    let hooks = Hooks::default()
        .on_pre_tool(permission(&policy))
        .on_pre_tool(yard.worktrees.gate())
        .for_agent("alice", policy);
    let tools = Toolbox::new()
        .with(bash(ws))
        .with(read_file(ws))
        .with(write_file(ws));
    let call = ToolCall::new("toolu_1", name, input);
    let step = hooks.pre_tool(&tools, call).await;
    let (_, output) = tools.run([step]).next().await.unwrap();
    match output.is_error {
        false => Ok(output.text),
        true => Err(output.text),
    }
}

#[tokio::test]
async fn the_directory_follows_the_task_and_goes_back_with_it() {
    let yard = Yard::new();
    let [api, ui] = ["api", "ui"].map(|name| yard.task(name));
    Yard::done(yard.create_for("api", &api).await);
    Yard::done(yard.create_for("ui", &ui).await);
    assert_eq!(lane(&yard, "alice").root(), yard.ws.root());
    yard.board.claim(&api.id, "alice").unwrap();
    assert_eq!(
        lane(&yard, "alice").root(),
        yard.directory("api").canonicalize().unwrap()
    );
    assert_eq!(lane(&yard, "bob").root(), yard.ws.root());
    yard.board.complete(&api.id, "alice").unwrap();
    assert_eq!(lane(&yard, "alice").root(), yard.ws.root());
    yard.board.claim(&ui.id, "alice").unwrap();
    assert!(lane(&yard, "alice").root().ends_with("worktrees/ui"));
    yard.mail.join("alice").unwrap();
    yard.mail.leave("alice");
    assert_eq!(lane(&yard, "alice").root(), yard.ws.root());
    let left = yard.board.get(&ui.id).unwrap().task;
    assert_eq!((left.status, left.owner), (Status::Pending, None));
}

#[tokio::test]
async fn a_lane_of_a_workspace_in_a_subfolder_is_that_subfolder() {
    for is_committed in [true, false] {
        let yard = Yard::new();
        fs::create_dir(yard.ws.root().join("app")).unwrap();
        write(yard.ws.root().join("app/main.rs"));
        if is_committed {
            commit(yard.ws.root(), "Add the app");
        }
        let yard = yard.in_folder("app");
        let task = yard.task("Write the API");
        Yard::done(yard.create_for("api", &task).await);
        yard.board.claim(&task.id, "alice").unwrap();
        let lane = lane(&yard, "alice");
        assert!(lane.root().ends_with("app/.harness/worktrees/api/app"));
        assert_eq!(lane.root().join("main.rs").exists(), is_committed);
        assert_eq!(lane.state("tasks"), yard.ws.state("tasks"), "one state");
    }
}

#[tokio::test]
async fn file_tools_in_a_lane_do_not_reach_the_main_directory() {
    let yard = Yard::new();
    let task = yard.task("Write the API");
    Yard::done(yard.create_for("api", &task).await);
    yard.board.claim(&task.id, "alice").unwrap();
    let lane = lane(&yard, "alice");
    let main = yard.ws.root().join("src/lib.rs");
    for path in ["../../../src/lib.rs", main.to_str().unwrap()] {
        let write = json!({"path": path, "content": "mine"});
        let refusal = call_in(&yard, &lane, "write_file", write)
            .await
            .unwrap_err();
        assert!(refusal.contains("outside the workspace"), "{refusal}");
    }
    let write = json!({"path": "src/lib.rs", "content": "mine"});
    call_in(&yard, &lane, "write_file", write).await.unwrap();
    assert_eq!(fs::read_to_string(main).unwrap(), "// lib\n");
    let here = call_in(&yard, &lane, "bash", json!({"command": "pwd"})).await;
    assert!(here.unwrap().ends_with("worktrees/api"));
}

#[tokio::test]
async fn a_call_from_before_the_claim_does_not_run_in_the_old_directory() {
    let yard = Yard::new();
    let task = yard.task("Write the API");
    Yard::done(yard.create_for("api", &task).await);
    let before = lane(&yard, "alice");
    yard.board.claim(&task.id, "alice").unwrap();
    let write = json!({"path": "new.txt", "content": "mine"});
    let refusal = call_in(&yard, &before, "write_file", write.clone()).await;
    let refusal = refusal.unwrap_err();
    assert!(
        refusal.contains("to .harness/worktrees/api; call again"),
        "{refusal}"
    );
    let after = lane(&yard, "alice");
    call_in(&yard, &after, "write_file", write).await.unwrap();
    yard.board.complete(&task.id, "alice").unwrap();
    let refusal = call_in(&yard, &after, "read_file", json!({"path": "new.txt"})).await;
    assert!(refusal.is_err(), "stays switched after the task");
}

#[tokio::test]
async fn a_task_file_cannot_lead_a_lane_out_of_the_worktrees() {
    for name in ["../..", "/", "sly", "gone"] {
        let yard = Yard::new();
        let task = yard.task("Write the API");
        fs::create_dir_all(yard.ws.state("worktrees")).unwrap();
        if name == "sly" {
            let elsewhere = tempfile::tempdir().unwrap().keep();
            write(elsewhere.join(".git"));
            std::os::unix::fs::symlink(elsewhere, yard.directory("sly")).unwrap();
        }
        let point = |task: &mut s12_tasks::Task| {
            task.extra.insert("worktree".into(), name.into());
            Ok(())
        };
        yard.board.update(&task.id, point).unwrap();
        assert!(
            !yard
                .worktrees
                .is_ready(&yard.board.get(&task.id).unwrap().task)
        );
        yard.board.claim(&task.id, "alice").unwrap();
        let error = yard.worktrees.lane("alice", &yard.ws).unwrap_err();
        assert!(error.to_string().contains("worktree"), "{error:#}");
    }
}

#[tokio::test]
async fn the_task_that_the_lead_names_is_assigned_and_no_other() {
    let yard = Yard::new();
    let [one, two, three] = ["one", "two", "three"].map(|subject| yard.task(subject).id);
    let held = |agent: &str| {
        let held = yard.board.held_by(agent).unwrap();
        held.into_iter().map(|task| task.id).collect::<Vec<_>>()
    };
    let assign = |agent: &str, text: String| yard.worktrees.assign(agent, [&text]).unwrap();
    assign("alice", "Write one-liners, please.".into());
    assign(
        "alice",
        format!("<mail from=\"bob\" type=\"message\">\n{one} is hard\n</mail>"),
    );
    assert!(held("alice").is_empty());
    assign(
        "alice",
        format!("Do task {two}, and after that task {one}."),
    );
    assert_eq!(held("alice"), [two.as_str()]);
    assign(
        "alice",
        format!("<mail from=\"lead\" type=\"message\">\nAlso {three}\n</mail>"),
    );
    assert_eq!(held("alice"), [two.as_str()], "never a second one");
    assign(
        "bob",
        format!("<mail from=\"lead\" type=\"message\">\nNot {two}: {three}\n</mail>"),
    );
    assert_eq!(held("bob"), [three]);
}

//! The lesson as a class sees it: tasks on a board, teammates that take them, and a lead that sums up.

mod session;

use mock_servers::model::{MockModel, Options, Refusal, Reply, Request, calls, says};
use s02_tools::Workspace;
use s12_tasks::{Board, Status, Task};
use serde_json::json;
use testkit::{Class, Ran, leaves_no_trace, team};

const TASKS: &str =
    "Create 3 tasks on the board, then spawn alice and bob. Watch them auto-claim and work.";
const WORKTREES: &str = "Create two tasks, then create worktrees for each (bind with task_id). Spawn alice and bob. Watch them auto-claim and work in isolated directories.";
const REPORT: &str = "Create three tasks where the second depends on the first. Spawn alice and bob to work on them. Report when all are done.";
const OTHER: &str = "Add two tasks, make a worktree for each, bound to its task, and spawn alice and bob to pick them up by themselves.";

fn class() -> Class {
    Class::new(env!("CARGO_BIN_EXE_s18_teams"))
        .file("README.md", "# Demo\n\nA small project.\n")
        .git()
}

/// The tasks, oldest first: so many, all completed by alice or bob.
#[track_caller]
fn all_are_done(class: &Class, ran: &Ran, count: usize) -> Vec<Task> {
    ran.succeeds();
    let board = Board::open(&Workspace::at(class.dir()).unwrap());
    let (listed, _) = board.list().unwrap();
    let tasks: Vec<Task> = listed.into_iter().map(|listed| listed.task).collect();
    assert_eq!(tasks.len(), count, "{}", ran.transcript());
    for task in &tasks {
        assert_eq!(task.status, Status::Completed, "{}", ran.transcript());
        assert!(matches!(task.owner.as_deref(), Some("alice" | "bob")), "{task:?}");
    }
    tasks
}

#[test]
fn started_and_left_it_leaves_no_trace() {
    leaves_no_trace(env!("CARGO_BIN_EXE_s18_teams"));
}

/// At the end of the input the session waits for tasks that idle teammates have not seen yet.
#[test]
fn tasks_that_come_when_everybody_is_idle_are_done_and_the_tool_pool_is_known() {
    let model = MockModel::strict_rehearsal();
    let class = class().model(&model);
    let ran = class.types(&[
        "Spawn alice and bob as developers. Let them take tasks from the board.",
        "Create 3 tasks on the board.",
    ]);
    all_are_done(&class, &ran, 3);
    team::assert_both_pools(env!("CARGO_MANIFEST_DIR"), &model);
}

/// A teammate that reads a big file for each task that it completes.
fn reads_a_lot(request: &Request) -> Reply {
    let last = format!("{:?}", request.messages.last());
    let Some((_, task)) = last.split_once("You have claimed task ") else {
        return says("I am ready.");
    };
    let id = task.split(':').next();
    calls("read_file", json!({"path": "big.txt"}))
        .and_calls("complete_task", json!({"task_id": id}))
}

#[test]
fn a_task_after_the_other_in_a_small_window_is_done_and_no_request_is_lost() {
    let options = Options {
        context_tokens: 12_000,
        strict: false,
        ..Options::strict()
    };
    let create = |reply: Reply, number| {
        reply.and_calls("create_task", json!({"subject": format!("part {number}")}))
    };
    let brain = move |request: &Request| match (team::teammate(request), request.calls().len()) {
        (None, _) if request.system.starts_with("You summarize") => says("Tasks were done."),
        (None, 0) => (0..6).fold(Reply::default(), create),
        (None, 1) => team::spawn("alice", "Take tasks from the board."),
        (None, _) => says("Noted."),
        (Some(_), _) => reads_a_lot(request),
    };
    let model = MockModel::start(options, brain).unwrap();
    let class = class()
        .file("big.txt", "All work and no play. ".repeat(900))
        .model(&model)
        .env("MODEL_CONTEXT_TOKENS", "12000");
    let ran = class.types(&["go"]);
    all_are_done(&class, &ran, 6);
    let too_long = |refusal: &Refusal| refusal.message.contains("too long");
    assert!(!model.refusals().is_empty() && model.refusals().iter().all(too_long));
}

/// The prompts, one while the team of the other is still there, and other words for them, with the model a newcomer meets:
/// each task is done once, and in its worktree if it has one.
#[test]
fn the_rehearsal_does_the_prompts_in_other_words_as_well() {
    for (prompts, count) in
        [(&[WORKTREES][..], 2), (&[TASKS, WORKTREES], 5), (&[REPORT], 3), (&[OTHER], 2)]
    {
        let model = MockModel::strict_rehearsal();
        let class = class().model(&model);
        let ran = class.types(prompts);
        let mut with_worktree = 0;
        for task in all_are_done(&class, &ran, count) {
            let worktree = task.extra.get("worktree").and_then(|name| name.as_str());
            with_worktree += usize::from(worktree.is_some());
            let place =
                worktree.map_or(String::new(), |name| format!(".harness/worktrees/{name}/"));
            assert!(class.dir().join(place + "notes").is_dir(), "{}", ran.transcript());
        }
        assert_eq!(with_worktree, if count == 3 { 0 } else { 2 }, "{}", ran.transcript());
        if prompts[0].contains("Report") {
            ran.shows("blockedBy=[\"write notes/tools.md\"]").shows("All is done:");
        }
    }
}

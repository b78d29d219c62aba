//! The lesson as a class sees it: tasks on a board, teammates that take them, and a lead that sums up.

use std::path::PathBuf;
use std::sync::Arc;

use mock_servers::model::{MockModel, Options, Reply, Request, calls, says};
use serde_json::{Value, json};
use testkit::{Class, Ran, leaves_no_trace, team};

const TASKS: &str =
    "Create 3 tasks on the board, then spawn alice and bob. Watch them auto-claim and work.";
const WORKTREES: &str = "Create two tasks, then create worktrees for each (bind with task_id). Spawn alice and bob. Watch them auto-claim and work in isolated directories.";

fn class() -> Class {
    Class::new(env!("CARGO_BIN_EXE_s18_teams"))
        .file("README.md", "# Demo\n\nA small project.\n")
        .git()
}

/// The tasks, oldest first: their ids sort in the order in which they were made.
fn board(class: &Class) -> Vec<Value> {
    let files = std::fs::read_dir(class.dir().join(".harness/tasks")).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let is_task = |path: &PathBuf| path.extension().is_some_and(|kind| kind == "json");
    let mut paths: Vec<PathBuf> = paths.filter(is_task).collect();
    paths.sort();
    let task = |path| serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    paths.into_iter().map(task).collect()
}

#[track_caller]
fn all_are_done(class: &Class, ran: &Ran, count: usize) {
    let tasks = board(class);
    assert_eq!(tasks.len(), count, "{}", ran.transcript());
    for task in &tasks {
        assert_eq!(task["status"], "completed", "{task}\n{}", ran.transcript());
        let owner = task["owner"].as_str().unwrap();
        assert!(["alice", "bob"].contains(&owner), "{task}");
    }
}

/// How many tasks were completed, whoever did it; one that two have completed counts twice.
fn completions(model: &MockModel) -> usize {
    let mut last: Vec<Arc<Request>> = Vec::new();
    for request in model.requests() {
        last.retain(|other| team::teammate(other) != team::teammate(&request));
        last.push(request);
    }
    let results = last.iter().flat_map(|request| request.results());
    let done = results.filter(|(_, text)| text.contains(" is completed: "));
    done.count()
}

#[test]
fn started_and_left_it_leaves_no_trace() {
    leaves_no_trace(env!("CARGO_BIN_EXE_s18_teams"));
}

#[test]
fn the_tool_pool() {
    let model = MockModel::strict_rehearsal();
    class().model(&model).types(&[TASKS]).succeeds();
    team::assert_both_pools(env!("CARGO_MANIFEST_DIR"), &model);
}

/// At the end of the input the session waits for tasks that idle teammates have not seen yet.
#[test]
fn tasks_that_come_when_everybody_is_idle_are_done_before_the_session_ends() {
    let lines = [
        "Spawn alice and bob as developers. Let them take tasks from the board.",
        "Create 3 tasks on the board.",
    ];
    let model = MockModel::strict_rehearsal();
    let class = class().model(&model);
    let ran = class.types(&lines);
    ran.succeeds();
    all_are_done(&class, &ran, 3);
}

/// A teammate that reads a big file for each task before it completes it.
fn reads_a_lot(request: &Request) -> Reply {
    let last = format!("{:?}", request.messages.last());
    let texts = request.user_texts();
    let claimed = texts.iter().rfind(|text| text.contains("<claimed_task>"));
    if last.contains("<claimed_task>") {
        calls("read_file", json!({"path": "big.txt"}))
    } else if last.contains("no play") {
        let (_, id) = claimed.unwrap().split_once("task ").unwrap();
        let id = id.split(':').next();
        calls("complete_task", json!({"task_id": id}))
    } else {
        says("I am ready.")
    }
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
    ran.succeeds();
    all_are_done(&class, &ran, 6);
    let refusals = model.refusals();
    assert!(!refusals.is_empty(), "the window was small enough");
    for refusal in refusals {
        assert!(refusal.message.contains("too long"), "{refusal:?}");
    }
}

/// As a class does it: the second prompt while the team of the first is still there.
#[test]
fn a_team_that_stays_does_not_take_the_next_tasks_before_they_have_their_worktrees() {
    let model = MockModel::strict_rehearsal();
    let class = class().model(&model);
    let ran = class.types(&[TASKS, WORKTREES]);
    ran.succeeds();
    all_are_done(&class, &ran, 5);
    for task in &board(&class)[3..] {
        let worktree = task["worktree"].as_str();
        let worktree = worktree.unwrap_or_else(|| panic!("{task}\n{}", ran.transcript()));
        let notes = format!(".harness/worktrees/{worktree}/notes");
        assert!(class.dir().join(notes).is_dir(), "{}", ran.transcript());
    }
}

/// The prompts and other words for them, with the model a newcomer meets: each task is done once, and in its worktree if
/// it has one.
#[test]
fn the_rehearsal_does_the_prompts_in_other_words_as_well() {
    for (prompt, count) in [
        (TASKS, 3),
        (WORKTREES, 2),
        (
            "Create three tasks, then spawn alice and bob and watch them claim and work.",
            3,
        ),
        (
            "Create three tasks where the second depends on the first. Spawn alice and bob to work on them. Report when all are done.",
            3,
        ),
        (
            "Add 4 tasks to the board and spawn alice and bob. Watch how they claim them.",
            4,
        ),
        (
            "Put three tasks on the board and spawn alice and bob, who claim and do them by themselves.",
            3,
        ),
        (
            "Add two tasks, make a worktree for each, bound to its task, and spawn alice and bob to pick them up by themselves.",
            2,
        ),
    ] {
        let model = MockModel::strict_rehearsal();
        let class = class().model(&model);
        let ran = class.types(&[prompt]);
        ran.succeeds();
        all_are_done(&class, &ran, count);
        assert_eq!(completions(&model), count, "{}", ran.transcript());
        let in_worktrees = class.dir().join(".harness/worktrees/events.jsonl").exists();
        let here = class.dir().join("notes").exists();
        assert_ne!(here, in_worktrees, "{}", ran.transcript());
        if prompt.contains("Report") {
            ran.shows("blockedBy=[\"write notes/tools.md\"]")
                .shows("All is done:");
        }
    }
}

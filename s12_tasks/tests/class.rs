//! The lesson as a class sees it: tasks on a board that outlives the session.

use std::fs;

use mock_servers::model::{MockModel, calls, says};
use serde_json::{Value, json};
use testkit::{Class, Ran, assert_pool};

const CREATE: &str = "Create tasks: setup database schema, create API endpoints (depends on schema), \
                      write tests (depends on endpoints), write docs (depends on schema)";
const LIST: &str = "List all tasks and their statuses";
const CLAIM: &str = "Claim the first unblocked task and complete it";
const AGAIN: &str = "List tasks again — which ones are now unblocked?";

fn class() -> Class {
    Class::new(env!("CARGO_BIN_EXE_s12_tasks"))
}

/// Types these lines to the rehearsal model.
fn rehearse(lines: &[&str]) -> (Class, Ran) {
    let model = MockModel::strict_rehearsal();
    let class = class().model(&model);
    let ran = class.types(lines);
    ran.succeeds();
    (class, ran)
}

/// The tasks on the board: subject, status, and the subjects that block it.
fn board(class: &Class) -> Vec<(String, String, Vec<String>)> {
    let mut tasks: Vec<Value> = fs::read_dir(class.dir().join(".harness/tasks"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "json"))
        .map(|path| serde_json::from_slice(&fs::read(path).unwrap()).unwrap())
        .collect();
    tasks.sort_by_key(|task| task["id"].to_string());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let subject_of =
        |id: &Value| text(&tasks.iter().find(|task| task["id"] == *id).unwrap()["subject"]);
    let row = |task: &Value| {
        let blockers = task["blockedBy"].as_array().unwrap().iter();
        (
            text(&task["subject"]),
            text(&task["status"]),
            blockers.map(subject_of).collect(),
        )
    };
    tasks.iter().map(row).collect()
}

fn row(subject: &str, status: &str, blockers: &[&str]) -> (String, String, Vec<String>) {
    let blockers = blockers.iter().map(|blocker| blocker.to_string());
    (subject.to_owned(), status.to_owned(), blockers.collect())
}

#[test]
fn started_and_left_it_leaves_no_trace() {
    testkit::leaves_no_trace(env!("CARGO_BIN_EXE_s12_tasks"));
}

#[test]
fn tasks_that_depend_on_each_other_are_created_in_one_reply() {
    let (class, ran) = rehearse(&[CREATE]);
    assert_eq!(
        board(&class),
        [
            row("setup database schema", "pending", &[]),
            row(
                "create API endpoints",
                "pending",
                &["setup database schema"]
            ),
            row("write tests", "pending", &["create API endpoints"]),
            row("write docs", "pending", &["setup database schema"]),
        ]
    );
    ran.shows("[summary] 4 calls: create_task 4");
}

#[test]
fn what_a_completed_task_unblocked_is_told() {
    let (_, ran) = rehearse(&[CREATE, CLAIM, AGAIN]);
    let answer = ran.stdout.rsplit("Unblocked now: ").next().unwrap();
    let line = answer.lines().next().unwrap();
    assert!(
        line.contains("create API endpoints (0002-") && line.contains("write docs (0004-"),
        "{line}"
    );
    assert!(!line.contains("write tests"), "{line}");
}

#[test]
fn tasks_in_other_words() {
    for words in [
        "Please add three tasks: design the page; build the page, which depends on the design; test the page after the build",
        "Put these on the task board: design the page, build the page (blocked by design), test the page (needs build)",
        "I need tasks for: design the page, build the page and test the page. The build depends on the design. The test depends on the build.",
        "Break the work down into tasks: design the page, build the page (depends on 1), test the page (depends on 2)",
    ] {
        let (class, ran) = rehearse(&[words]);
        assert_eq!(
            board(&class),
            [
                row("design the page", "pending", &[]),
                row("build the page", "pending", &["design the page"]),
                row("test the page", "pending", &["build the page"]),
            ],
            "{words}\n{}",
            ran.transcript()
        );
    }
}

#[test]
fn the_board_in_other_words() {
    for words in [
        LIST,
        "what tasks are there?",
        "show me the board",
        "show the task list",
    ] {
        let (_, ran) = rehearse(&[CREATE, words]);
        ran.shows("> list_tasks");
        let (_, told) = ran.stdout.split_once("> list_tasks").unwrap();
        for subject in [
            "setup database schema",
            "create API endpoints",
            "write docs",
        ] {
            assert!(told.matches(subject).count() > 1, "{}", ran.transcript());
        }
    }
    for words in ["Which tasks can I start now?", "what is unblocked?"] {
        let (_, ran) = rehearse(&[CREATE, words]);
        ran.shows("Unblocked now: setup database schema (0001-");
    }
}

#[test]
fn claiming_and_completing_in_other_words() {
    for words in [
        CLAIM,
        "take the next task and finish it",
        "Pick an available task, then mark it as done",
        "claim the schema task and complete it",
        "Start on the first task. Then complete it.",
    ] {
        let (class, ran) = rehearse(&[CREATE, words]);
        assert_eq!(
            board(&class)[0].1,
            "completed",
            "{words}\n{}",
            ran.transcript()
        );
    }
    let (class, _) = rehearse(&[
        CREATE,
        "claim the schema task",
        "complete it",
        "claim the docs task",
        "mark the docs task as done",
    ]);
    let done: Vec<bool> = board(&class)
        .iter()
        .map(|task| task.1 == "completed")
        .collect();
    assert_eq!(done, [true, false, false, true]);
}

#[test]
fn a_blocked_task_is_refused_and_the_refusal_told() {
    let (class, ran) = rehearse(&[CREATE, "claim the write tests task"]);
    ran.shows("is blocked by 0002-");
    assert!(board(&class).iter().all(|task| task.1 == "pending"));
}

#[test]
fn a_second_session_finds_the_board_and_takes_over_what_the_first_left() {
    let model = MockModel::strict_rehearsal();
    let class = class().model(&model);
    class.types(&[CREATE, "claim the schema task"]).succeeds();
    let ran = class.types(&["claim the schema task and complete it"]);
    ran.succeeds().shows("Unblocked now: ");
    assert_eq!(board(&class)[0].1, "completed", "{}", ran.transcript());
}

#[test]
fn an_unknown_task_and_a_wrong_argument_are_answers_for_the_model() {
    let model = MockModel::scripted([
        calls("get_task", json!({"task_id": "../settings"}))
            .and_calls("claim_task", json!({"id": 7}))
            .and_calls("create_task", json!({"subject": "a", "blockedBy": ["b"]})),
        says("All refused."),
    ]);
    class().model(&model).types(&["go"]).succeeds();
    let results = model.last_request().results();
    for (result, reason) in
        results
            .iter()
            .zip(["there is no task", "task_id", "neither an id nor a subject"])
    {
        assert!(result.0 && result.1.contains(reason), "{}", result.1);
    }
}

#[test]
fn the_tool_pool() {
    let model = MockModel::scripted([says("Hi.")]);
    class().model(&model).types(&["Hello"]).succeeds();
    let names = model.last_request().tool_names();
    assert_pool(env!("CARGO_MANIFEST_DIR"), [("lead", names)]);
}

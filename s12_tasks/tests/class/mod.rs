//! The lesson as a class sees it: tasks on a board that outlives the session.

mod session;

use mock_servers::model::{MockModel, calls, says};
use s02_tools::Workspace;
use s12_tasks::{Board, Listed, Task};
use serde_json::json;
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

/// The tasks on the board, one a line: status, subject, and the subjects of what blocks it.
fn board(class: &Class) -> Vec<String> {
    let board = Board::open(&Workspace::at(class.dir()).unwrap());
    let (listed, _) = board.list().unwrap();
    let subject = |id: &String| {
        let task = listed.iter().find(|listed| listed.task.id == *id);
        task.unwrap().task.subject.clone()
    };
    let line = |listed: &Listed| {
        let Task {
            status,
            subject: of,
            blocked_by,
            ..
        } = &listed.task;
        let blockers: Vec<String> = blocked_by.iter().map(subject).collect();
        format!("{status:?} {of}: {}", blockers.join(", "))
    };
    listed.iter().map(line).collect()
}

#[test]
fn started_and_left_it_leaves_no_trace() {
    testkit::leaves_no_trace(env!("CARGO_BIN_EXE_s12_tasks"));
}

/// The class's prompts, one after the other.
#[test]
fn tasks_are_created_in_one_reply_claimed_completed_and_what_that_unblocks_is_told() {
    let (class, ran) = rehearse(&[CREATE, LIST, CLAIM, AGAIN]);
    ran.shows("[summary] 4 calls: create_task 4");
    assert_eq!(
        board(&class),
        [
            "Completed setup database schema: ",
            "Pending create API endpoints: setup database schema",
            "Pending write tests: create API endpoints",
            "Pending write docs: setup database schema",
        ]
    );
    let answer = ran.stdout.rsplit("Unblocked now: ").next().unwrap();
    let line = answer.lines().next().unwrap();
    for unblocked in ["create API endpoints (0002-", "write docs (0004-"] {
        assert!(line.contains(unblocked), "{line}");
    }
    assert!(!line.contains("write tests"), "{line}");
}

#[test]
fn tasks_in_other_words() {
    for words in [
        "Please add three tasks: design the page; build the page, which depends on the design; test the page after the build",
        "I need tasks for: design the page, build the page and test the page. The build depends on the design. The test depends on the build.",
        "Break the work down into tasks: design the page, build the page (depends on 1), test the page (depends on 2)",
    ] {
        let (class, ran) = rehearse(&[words]);
        let expected = [
            "Pending design the page: ",
            "Pending build the page: design the page",
            "Pending test the page: build the page",
        ];
        assert_eq!(board(&class), expected, "{}", ran.transcript());
    }
    for (words, shown) in [
        (&["show me the board"][..], "[ ] 0004-"),
        (&["what is unblocked?"], "Unblocked now: setup database schema (0001-"),
        (&["claim the write tests task"], "is blocked by 0002-"),
        (&["take the next task and finish it"], " is completed: setup database schema"),
        (
            &["claim the docs task", "claim the schema task", "complete it"],
            " is completed: setup database schema",
        ),
    ] {
        let (_, ran) = rehearse(&[&[CREATE], words].concat());
        ran.shows(shown);
    }
}

#[test]
fn a_second_session_finds_the_board_and_takes_over_what_the_first_left() {
    let model = MockModel::strict_rehearsal();
    let class = class().model(&model);
    class.types(&[CREATE, "claim the schema task"]).succeeds();
    let ran = class.types(&["claim the schema task and complete it"]);
    ran.succeeds().shows("Unblocked now: ");
    assert!(board(&class)[0].starts_with("Completed"));
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
        results.iter().zip(["there is no task", "task_id", "neither an id nor a subject"])
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

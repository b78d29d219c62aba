//! Exercise 1 · a task by its subject (10 minutes).
//!
//! `blockedBy` takes an id or a subject; `claim_task`, `complete_task` and `get_task` take ids alone, and a model that calls
//! the task what the user calls it is sent back to the list. Let them take subjects, by the rules of `blockedBy`: upper
//! case and white space do not matter, a task that is open goes before one that is done, and where two open tasks bear the
//! subject the answer names the ids of both and nothing changes. What is neither an id nor a subject is refused as it is
//! now. What the tools answer names tasks by their ids.
//!
//! Hint: all three operations come by one private function.
//!
//! Hint: the function that knows the rules says `create_task` in its refusals, and speaks of `blockedBy`. Its new readers
//! call neither: split what finds a task from what says that there is none.

use s02_tools::Toolbox;
use s12_tasks::Status;
use serde_json::json;

use crate::desk::Desk;

/// Calls a tool of the board, as the lead's model does.
async fn call(desk: &Desk, tool: &str, task_id: &str) -> (bool, String) {
    let tools = Toolbox::new().with_all(desk.board.tools("lead"));
    let call = s01_loop::ToolCall::new("toolu_1", tool, json!({ "task_id": task_id }));
    let output = tools.get(tool).unwrap().call(call).await;
    (output.is_error, output.text)
}

#[tokio::test]
#[ignore = "exercise 1"]
async fn a_task_is_claimed_shown_and_completed_by_its_subject() {
    let desk = Desk::new();
    let task = desk.task("Set up the schema", &[]);
    for (tool, answer) in [
        ("get_task", format!("[ ] {} Set up the schema", task.id)),
        ("claim_task", format!("{} is yours: Set up the schema", task.id)),
        ("complete_task", format!("{} is completed: Set up the schema", task.id)),
    ] {
        assert_eq!(
            call(&desk, tool, " set up  the SCHEMA ").await,
            (false, answer),
            "{tool} was to take the subject for the task"
        );
    }
    assert_eq!(desk.board.get(&task.id).unwrap().task.status, Status::Completed);
}

#[tokio::test]
#[ignore = "exercise 1"]
async fn of_two_tasks_with_one_subject_the_open_one_is_meant() {
    let desk = Desk::new();
    let first = desk.task("build", &[]);
    let second = desk.task("build", &[]);
    let (is_error, both) = call(&desk, "claim_task", "build").await;
    assert!(
        is_error && both.contains(&first.id) && both.contains(&second.id),
        "two open tasks are called `build`: the answer was to be an error that names {} and {}, and was {both:?}",
        first.id,
        second.id
    );
    assert!(
        !both.contains("create_task") && !both.contains("blockedBy"),
        "the model called claim_task; the answer speaks of another call: {both:?}"
    );
    desk.done(&first);
    let (is_error, claimed) = call(&desk, "claim_task", "build").await;
    assert!(
        !is_error && claimed.starts_with(&second.id),
        "the first `build` is done, so the second one, {}, was meant; the answer was {claimed:?}",
        second.id
    );
}

#[tokio::test]
#[ignore = "exercise 1"]
async fn a_refusal_says_which_task_it_is_about() {
    let desk = Desk::new();
    let schema = desk.task("schema", &[]);
    let docs = desk.task("docs", &["schema"]);
    let expected = format!("{} is blocked by {}; complete that first", docs.id, schema.id);
    assert_eq!(
        call(&desk, "claim_task", "docs").await,
        (true, expected),
        "`docs` is a task, and it is blocked; the answer was to say so, and to name it by its id"
    );
    let (is_error, nobody) = call(&desk, "claim_task", "tests").await;
    assert!(
        is_error && nobody.contains("there is no task \"tests\""),
        "`tests` is neither an id nor a subject, and was to be refused as before; the answer was {nobody:?}"
    );
}

//! Exercise 2 · what is urgent (15 minutes).
//!
//! Give tasks a priority: a whole number in a free field `priority`, so that no other program has to know about it; a task
//! without one, or with something else in that field, has priority 0. Let `Board::claim_first` take, of the tasks that can
//! be claimed, the one with the highest priority, and of several with the same one the oldest. A task is as urgent as
//! what waits for it: a blocker has the highest priority among its own and those of all tasks that wait for it, directly
//! or through others. Tasks that are completed wait for nothing.
//!
//! Hint: `Task::extra` holds the fields that this program does not know.
//!
//! Hint: which of several equal values do `max_by_key` and `min_by_key` return?
//!
//! Hint: no task can be blocked by one that was created later, so a list in the order of creation, walked backwards, meets
//! every task before what blocks it.

use serde_json::{Value, json};

use s12_tasks::Task;

use crate::desk::Desk;

fn set_priority(desk: &Desk, task: &Task, priority: Value) {
    let set = |task: &mut Task| {
        task.extra.insert("priority".to_owned(), priority);
        Ok(())
    };
    desk.board.update(&task.id, set).unwrap();
}

/// The subjects in the order in which an agent gets them that always takes the first it can have, and completes it.
fn order(desk: &Desk) -> Vec<String> {
    let mut order = Vec::new();
    while let Some(task) = desk.board.claim_first("lead", |_| true).unwrap() {
        desk.board.complete(&task.id, "lead").unwrap();
        order.push(task.subject);
    }
    order
}

#[test]
#[ignore = "exercise 2"]
fn the_most_urgent_task_comes_first_and_the_oldest_among_equals() {
    let desk = Desk::new();
    let priorities = [
        ("plain", Value::Null),
        ("high", json!(5)),
        ("also high", json!(5)),
        ("highest", json!(7)),
        ("low", json!(-3)),
        ("odd", json!("very")),
        ("zero", json!(0)),
    ];
    for (subject, priority) in priorities {
        let task = desk.task(subject, &[]);
        if !priority.is_null() {
            set_priority(&desk, &task, priority);
        }
    }
    assert_eq!(
        order(&desk),
        ["highest", "high", "also high", "plain", "odd", "zero", "low"],
        "the priorities are 7, 5, 5, none, \"very\", 0 and -3"
    );
}

#[test]
#[ignore = "exercise 2"]
fn what_blocks_an_urgent_task_is_urgent() {
    let desk = Desk::new();
    desk.task("polish", &[]);
    desk.task("schema", &[]);
    desk.task("endpoints", &["schema"]);
    let urgent = desk.task("release", &["endpoints"]);
    let middle = desk.task("docs", &[]);
    set_priority(&desk, &urgent, json!(9));
    set_priority(&desk, &middle, json!(5));
    assert_eq!(
        order(&desk),
        ["schema", "endpoints", "release", "docs", "polish"],
        "`release` has priority 9 and waits for `endpoints`, which waits for `schema`: both have to come before `docs`, \
         with 5, or the release waits for the docs"
    );
}

#[test]
#[ignore = "exercise 2"]
fn what_is_done_hurries_nobody() {
    let desk = Desk::new();
    let schema = desk.task("schema", &[]);
    let release = desk.task("release", &["schema"]);
    set_priority(&desk, &release, json!(9));
    desk.done(&schema);
    desk.done(&release);
    desk.task("polish", &[]);
    // Made again: nothing waits for it any more.
    let again = |task: &mut Task| {
        task.status = s12_tasks::Status::Pending;
        (task.owner, task.session) = (None, None);
        Ok(())
    };
    desk.board.update(&schema.id, again).unwrap();
    let docs = desk.task("docs", &[]);
    set_priority(&desk, &docs, json!(1));
    assert_eq!(
        order(&desk),
        ["docs", "schema", "polish"],
        "`release`, with 9, is completed and waits for nothing, so `schema` has priority 0 and `docs` has 1"
    );
}

#[test]
#[ignore = "exercise 2"]
fn a_task_that_is_not_liked_still_lends_its_priority() {
    let desk = Desk::new();
    desk.task("polish", &[]);
    desk.task("schema", &[]);
    let release = desk.task("release", &["schema"]);
    set_priority(&desk, &release, json!(9));
    let likes = |task: &Task| task.subject != "release";
    let first = desk.board.claim_first("bob", likes).unwrap();
    assert_eq!(
        first.map(|task| task.subject).as_deref(),
        Some("schema"),
        "bob does not want `release`, but somebody does, and it waits for `schema`"
    );
}

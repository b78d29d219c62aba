//! Exercise 3 · blockers added later (15 minutes).
//!
//! When a task is made, it can only name what is there already, so there are no cycles. `Board::update` knows no such
//! rule: it writes what `change` leaves behind, and two tasks that wait for each other wait for ever. Let `update` refuse a
//! change after which a task would wait for itself, directly or through others, or for an id that is not on the board. The
//! refusal says which ids form the cycle, or which id is unknown, and nothing is written. Two ways to the same blocker are
//! no cycle. A change that leaves the blockers as they are is never refused, whatever the files say: a blocker may have
//! been taken away.
//!
//! Hint: whoever checks must see the board as it will be, under the lock under which it is written.
//!
//! Hint: there is a cycle when a walk along the blockers, from the new ones on, arrives at the task itself. A walk that
//! remembers where it was comes to an end.

use anyhow::Result;
use s12_tasks::Task;

use crate::desk::Desk;

/// Lets a task wait for these, too.
fn block(desk: &Desk, task: &Task, by: &[&Task]) -> Result<Task> {
    let ids: Vec<String> = by.iter().map(|task| task.id.clone()).collect();
    desk.board.update(&task.id, |task| {
        task.blocked_by.extend(ids);
        Ok(())
    })
}

/// Asserts that a change was refused with a sentence that names all these, and that nothing was written.
#[track_caller]
fn is_refused(desk: &Desk, task: &Task, result: Result<Task>, names: &[&str]) {
    let Err(error) = result else {
        panic!(
            "the change of {:?} was to be refused; it was made, and the board is now\n{}",
            task.subject,
            desk.board.shown().unwrap()
        );
    };
    let sentence = format!("{error:#}");
    for name in names {
        assert!(sentence.contains(name), "the refusal was to name {name}: {sentence:?}");
    }
    let now = desk.board.get(&task.id).unwrap().task;
    assert_eq!(now, *task, "the change was refused, and written all the same");
}

#[test]
#[ignore = "exercise 3"]
fn no_task_waits_for_itself() {
    let desk = Desk::new();
    let task = desk.task("build", &[]);
    let refused = block(&desk, &task, &[&task]);
    is_refused(&desk, &task, refused, &[&task.id]);
}

#[test]
#[ignore = "exercise 3"]
fn no_task_waits_for_itself_through_others() {
    let desk = Desk::new();
    let schema = desk.task("schema", &[]);
    let endpoints = desk.task("endpoints", &["schema"]);
    let tests = desk.task("tests", &["endpoints"]);
    desk.task("docs", &["schema", "tests"]);
    let refused = block(&desk, &schema, &[&tests]);
    is_refused(&desk, &schema, refused, &[&schema.id, &endpoints.id, &tests.id]);
}

#[test]
#[ignore = "exercise 3"]
fn a_blocker_that_is_not_there_is_refused() {
    let desk = Desk::new();
    let task = desk.task("build", &[]);
    let elsewhere = Task {
        id: "0099-nowhere".to_owned(),
        ..task.clone()
    };
    let refused = block(&desk, &task, &[&elsewhere]);
    is_refused(&desk, &task, refused, &["0099-nowhere"]);
}

#[test]
#[ignore = "exercise 3"]
fn two_ways_to_one_blocker_are_no_cycle() {
    let desk = Desk::new();
    let schema = desk.task("schema", &[]);
    let left = desk.task("left", &["schema"]);
    let right = desk.task("right", &["schema"]);
    let roof = desk.task("roof", &["left"]);
    let refused = block(&desk, &schema, &[&roof]);
    is_refused(&desk, &schema, refused, &[&left.id]);
    let roof = block(&desk, &roof, &[&right, &schema]);
    assert!(
        roof.is_ok(),
        "`roof` waits for `left` and `right`, and all of them for `schema`; nothing waits for `roof`: {roof:?}"
    );
}

#[test]
#[ignore = "exercise 3"]
fn a_change_of_something_else_is_not_examined() {
    let desk = Desk::new();
    let schema = desk.task("schema", &[]);
    let docs = desk.task("docs", &["schema"]);
    let refused = block(&desk, &schema, &[&docs]);
    is_refused(&desk, &schema, refused, &[&docs.id]);
    // Somebody tidies up by hand: the blocker's file is gone, and blocks nothing any more.
    let file = desk.file(&schema);
    std::fs::remove_file(file).unwrap();
    let changed = desk.board.update(&docs.id, |task| {
        task.description = "with pictures".to_owned();
        Ok(())
    });
    assert!(
        changed.is_ok(),
        "the description of `docs` was changed and none of its blockers, of which one is gone: {changed:?}"
    );
}

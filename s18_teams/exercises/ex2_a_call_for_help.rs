//! Exercise 2 · a call for help (15 minutes).
//!
//! After every ten rounds a teammate is told to go on with its task, and nobody learns that it has been at it for an
//! hour. When it is told so for the third time about the same task, let it write to the lead as well: one message,
//! which names the task by its id and asks for help. It goes on working, and does not write about that task again.
//! With another task it begins to count anew, however it came to that one.
//!
//! Hint: a [`WorkLoop`](s18_teams::WorkLoop) lives as long as its teammate, so it may remember something. How many times is
//! not enough: how many times what?

use s12_tasks::Task;

use crate::desk::{Desk, Mate, only};

/// Works until it is told to go on, and returns what it was told.
async fn goes_on(alice: &mut Mate) -> String {
    for _ in 0..20 {
        let notes = alice.works().await.expect("it stays");
        if !notes.is_empty() {
            return only(Some(notes));
        }
    }
    panic!("alice was not told to go on within 20 rounds");
}

/// A desk, two tasks, and alice, who has claimed the first one.
async fn at_work() -> (Desk, Task, Task, Mate) {
    let desk = Desk::new();
    let (schema, api) = (desk.task("schema", &[]), desk.task("api", &[]));
    let mut alice = desk.spawn("alice").await;
    only(alice.idles().await);
    (desk, schema, api, alice)
}

#[tokio::test(start_paused = true)]
#[ignore = "exercise 2"]
async fn the_third_time_the_lead_is_asked_once() {
    let (desk, schema, _, mut alice) = at_work().await;
    for time in 1..=2 {
        goes_on(&mut alice).await;
        let told = desk.told();
        assert!(told.is_empty(), "too early, at time {time}: {told:?}");
    }
    let note = goes_on(&mut alice).await;
    assert!(note.contains(&schema.id), "alice still goes on: {note:?}");
    let told = desk.told();
    assert!(
        told.len() == 1 && told[0].contains(&schema.id) && told[0].contains("help"),
        "the lead should have one message that names {} and asks for help; it has {told:?}",
        schema.id
    );
    for _ in 4..=6 {
        goes_on(&mut alice).await;
    }
    let told = desk.told();
    assert!(told.is_empty(), "the lead knows already: {told:?}");
}

/// The second task is claimed by the model itself, with claim_task: no round was idle in between.
#[tokio::test(start_paused = true)]
#[ignore = "exercise 2"]
async fn another_task_is_counted_anew() {
    let (desk, schema, api, mut alice) = at_work().await;
    for _ in 1..=2 {
        goes_on(&mut alice).await;
    }
    desk.board.complete(&schema.id, "alice").unwrap();
    desk.board.claim(&api.id, "alice").unwrap();
    for time in 1..=2 {
        let note = goes_on(&mut alice).await;
        assert!(note.contains(&api.id), "{note:?}");
        let told = desk.told();
        assert!(told.is_empty(), "time {time} with the second task is too early: {told:?}");
    }
    goes_on(&mut alice).await;
    let told = desk.told();
    assert!(
        told.len() == 1 && told[0].contains(&api.id),
        "the lead should have one message, about {}; it has {told:?}",
        api.id
    );
}

/// Mail does not make the work on a task a new one.
#[tokio::test(start_paused = true)]
#[ignore = "exercise 2"]
async fn a_question_in_between_changes_nothing() {
    let (desk, schema, _, mut alice) = at_work().await;
    goes_on(&mut alice).await;
    desk.writes("alice", "How far are you?");
    assert!(only(alice.works().await).contains("How far"));
    assert_eq!(alice.works().await, Some(Vec::new()));
    desk.writes("alice", "Good.");
    // She has answered, without a call, and is woken again.
    assert!(only(alice.idles().await).contains("Good."));
    for _ in 2..=3 {
        goes_on(&mut alice).await;
    }
    let told = desk.told();
    assert!(
        told.len() == 1 && told[0].contains(&schema.id),
        "the lead should have one message, about {}; it has {told:?}",
        schema.id
    );
}

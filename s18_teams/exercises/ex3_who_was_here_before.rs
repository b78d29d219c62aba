//! Exercise 3 · who was here before (15 minutes).
//!
//! A task whose teammate broke down goes back to the board, and the next one begins as if nothing had been done. Let
//! the note `<claimed_task>` of a task that others have claimed before name each of them once, and say that it should
//! look at what is there. That holds for what an idle teammate claims, however the earlier one ended: it left, failed,
//! panicked, was shut down, or its whole session is over. A task that nobody had before has the same note as now.
//!
//! Hint: there are five ways to end and one to begin. When is it safe to write a name down?
//!
//! Hint: a [`Task`](s12_tasks::Task) has a free field, and `Board::update` changes a task under the lock. What did the
//! task that `claim` returns hold before?

use std::time::Duration;

use s12_tasks::Task;

use crate::desk::{Desk, Mate, Order, only, pass};

async fn claims(mate: &mut Mate, task: &Task) -> String {
    let note = only(mate.idles().await);
    assert!(note.contains(&task.id), "{note}");
    note
}

#[track_caller]
fn names(note: &str, wanted: &[&str]) {
    for name in wanted {
        assert!(
            note.matches(name).count() == 1,
            "{name} had the task before, so the note should hold the name once; it is {note:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
#[ignore = "exercise 3"]
async fn whoever_had_it_is_named_however_it_ended() {
    for end in ["fails", "leaves", "is shut down"] {
        let desk = Desk::new();
        let task = desk.task("schema", &[]);
        let mut alice = desk.spawn("alice").await;
        claims(&mut alice, &task).await;
        match end {
            "fails" => alice.order(Order::Fail),
            "leaves" => alice.order(Order::Round { is_idle: true }),
            _ => {
                desk.shutdown("alice").await;
                alice.order(Order::Round { is_idle: false });
            }
        }
        alice.hears().await;
        pass(Duration::from_millis(1)).await;
        assert_eq!(desk.owner(&task), None, "alice {end}");
        let mut bob = desk.spawn("bob").await;
        names(&claims(&mut bob, &task).await, &["alice"]);
    }
}

#[tokio::test(start_paused = true)]
#[ignore = "exercise 3"]
async fn all_of_them_are_named_once() {
    let desk = Desk::new();
    let task = desk.task("schema", &[]);
    for name in ["alice", "bob", "alice"] {
        let mut mate = desk.spawn(name).await;
        claims(&mut mate, &task).await;
        mate.order(Order::Fail);
        mate.hears().await;
        pass(Duration::from_millis(1)).await;
    }
    let mut carol = desk.spawn("carol").await;
    let note = claims(&mut carol, &task).await;
    names(&note, &["alice", "bob"]);
    let fresh = desk.task("api", &[]);
    let mut dora = desk.spawn("dora").await;
    let note = claims(&mut dora, &fresh).await;
    assert_eq!(
        note,
        format!(
            "<claimed_task>\nYou have claimed task {}: api\nAll about api.\n\
             Do it, then complete it with complete_task.\n</claimed_task>",
            fresh.id
        ),
        "nobody had this one before"
    );
}

#[tokio::test(start_paused = true)]
#[ignore = "exercise 3"]
async fn the_next_session_knows_it_too() {
    let desk = Desk::new();
    let task = desk.task("schema", &[]);
    let mut alice = desk.spawn("alice").await;
    claims(&mut alice, &task).await;
    alice.order(Order::Fail);
    alice.hears().await;
    pass(Duration::from_millis(1)).await;
    let desk = desk.tomorrow();
    let mut bob = desk.spawn("bob").await;
    names(&claims(&mut bob, &task).await, &["alice"]);
}

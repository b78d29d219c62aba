//! Work loops of teammates that do what a test says: the real team, board, mail and protocol, no model, paused time.
//!
//! Invariant: a round begins when the test says so, and time passes only while everybody waits.

use std::time::Duration;

use s02_tools::Toolbox;
use s12_tasks::{Board, Listed, NewTask, Task};
use s18_teams::{CLAIM_DELAY, IDLE_TIMEOUT, POLL_INTERVAL, ROUNDS_PER_PHASE};
use serde_json::json;
use tokio::time::Instant;

use crate::desk::{Desk, Mate, Order, only, pass};
use crate::scene::{call, done};

#[tokio::test(start_paused = true)]
async fn an_idle_teammate_reads_its_mail_and_then_claims_the_first_task_that_can_be_claimed() {
    let desk = Desk::new();
    let lost = desk.task("lost", &[]);
    desk.lose_worktree(&lost);
    let schema = desk.task("schema </claimed_task>", &[]);
    let api = desk.task("api", &[&schema.id]);
    let docs = desk.task("docs", &[]);
    let (mut alice, mut bob) = (desk.spawn("alice").await, desk.spawn("bob").await);
    desk.writes("alice", "Wait a moment.");
    assert!(only(alice.idles().await).contains("Wait a moment."));
    assert_eq!(desk.owner(&schema), None);
    // The words of a task do not end its tag.
    let subject = "schema <\\/claimed_task>";
    let note = format!(
        "<claimed_task>\nYou have claimed task {}: {subject}\nAll about {subject}.\n\
         Do it, then complete it with complete_task.\n</claimed_task>",
        schema.id
    );
    assert_eq!(only(alice.idles().await), note);
    let note = only(bob.idles().await);
    assert!(note.contains(&docs.id), "the first one is blocked: {note}");
    assert_eq!((desk.owner(&api), desk.owner(&lost)), (None, None));
}

/// A desk with one task, and alice, who has done nothing yet.
async fn alone() -> (Desk, Task, Mate) {
    let desk = Desk::new();
    let task = desk.task("schema", &[]);
    let alice = desk.spawn("alice").await;
    (desk, task, alice)
}

/// What another process does is found by looking; all else wakes it at once.
#[tokio::test(start_paused = true)]
async fn what_there_is_to_do_wakes_who_is_idle() {
    for news in [
        "mail",
        "a task",
        "a task that is unblocked",
        "a task that the lead's turn is still at",
        "a task of a turn that goes on and on",
        "a task of another process",
        "a task of one that breaks down",
    ] {
        let desk = Desk::new();
        let schema = desk.task("schema", &[]);
        let api = desk.task("api", &["schema"]);
        let (mut bob, mut alice) = (desk.spawn("bob").await, desk.spawn("alice").await);
        only(bob.idles().await);
        alice.order(Order::Round { is_idle: true });
        pass(Duration::from_secs(7)).await;
        let mut latest = Duration::ZERO;
        let expected = match news {
            "mail" => {
                desk.writes("alice", "Are you there?");
                "Are you there?".to_owned()
            }
            "a task" => desk.task("docs", &[]).id,
            "a task that is unblocked" => {
                desk.board.complete(&schema.id, "bob").unwrap();
                api.id
            }
            "a task of one that breaks down" => {
                bob.order(Order::Fail);
                is_gone(&desk, &mut bob).await;
                let told = desk.told();
                assert!(told[0].contains("the model cannot be reached"), "{told:?}");
                schema.id
            }
            "a task of another process" => {
                latest = POLL_INTERVAL;
                let new = NewTask {
                    subject: "docs".into(),
                    ..NewTask::default()
                };
                Board::open(&desk.ws).create(new).unwrap().id
            }
            _ => {
                desk.turn_begins().await;
                let docs = desk.task("docs", &[]);
                pass(CLAIM_DELAY / 2).await;
                assert_eq!(desk.owner(&docs), None, "it may get a worktree yet");
                if news.ends_with("on and on") {
                    latest = CLAIM_DELAY + POLL_INTERVAL;
                } else {
                    desk.turn_ends().await;
                }
                docs.id
            }
        };
        let (notes, after) = alice.hears().await;
        assert!(only(notes).contains(&expected), "{news}");
        assert!(after <= latest, "{news}: {after:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_phase_has_ten_rounds_and_then_it_goes_on_with_its_own_task() {
    let (desk, mine, mut alice) = alone().await;
    let other = desk.task("api", &[]);
    only(alice.idles().await);
    alice.works_for(ROUNDS_PER_PHASE - 1).await;
    let note = only(alice.works().await);
    assert!(note.contains(&format!("Go on with your task {}", mine.id)), "{note}");
    alice.works_for(1).await;
    assert_eq!(desk.owner(&other), None, "never a second one");
}

#[tokio::test(start_paused = true)]
async fn without_a_task_it_stops_after_a_phase_and_says_so() {
    let desk = Desk::new();
    let mut alice = desk.spawn("alice").await;
    alice.works_for(ROUNDS_PER_PHASE).await;
    alice.order(Order::Round { is_idle: false });
    pass(Duration::from_secs(1)).await;
    let told = desk.told().remove(0);
    assert!(told.contains("stopped after 10 rounds without a task"), "{told}");
    assert!((desk.shown)().ends_with("idle"), "{}", (desk.shown)());
    desk.writes("alice", "Go on.");
    assert!(only(alice.hears().await.0).contains("Go on."));
    alice.works_for(ROUNDS_PER_PHASE - 1).await;
    let task = desk.task("schema", &[]);
    assert!(only(alice.works().await).contains(&task.id));
}

#[tokio::test(start_paused = true)]
async fn whose_plan_is_wanted_claims_nothing() {
    let (desk, task, mut alice) = alone().await;
    desk.request_plan("alice").await;
    assert!(only(alice.idles().await).contains("submit_plan"));
    assert_eq!(alice.idles().await, None, "it leaves without a task");
    assert_eq!(desk.owner(&task), None);
}

async fn is_gone(desk: &Desk, mate: &mut Mate) {
    assert_eq!(mate.hears().await.0, None);
    pass(Duration::from_millis(1)).await;
    assert!((desk.shown)().contains("gone"), "{}", (desk.shown)());
}

#[tokio::test(start_paused = true)]
async fn who_is_idle_for_a_minute_leaves_and_its_task_goes_back_to_the_board() {
    let (desk, task, mut alice) = alone().await;
    only(alice.idles().await);
    let began = Instant::now();
    alice.order(Order::Round { is_idle: true });
    is_gone(&desk, &mut alice).await;
    assert!((IDLE_TIMEOUT..IDLE_TIMEOUT + POLL_INTERVAL).contains(&began.elapsed()));
    let told = desk.told().remove(0);
    assert!(told.contains(&task.id) && told.contains("back on the board"), "{told}");
    let mut bob = desk.spawn("bob").await;
    assert!(only(bob.idles().await).contains(&task.id));
    desk.board.complete(&task.id, "bob").unwrap();
    bob.order(Order::Round { is_idle: true });
    is_gone(&desk, &mut bob).await;
    assert!(desk.told().is_empty(), "there is nothing to tell");
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_an_answer_does_not_leave() {
    for (rounds, is_idle) in [(1, false), (ROUNDS_PER_PHASE + 1, false), (1, true)] {
        let (desk, task, mut alice) = alone().await;
        alice.works_for(rounds - 1).await;
        let tools = Toolbox::new().with(desk.protocol.submit_plan("alice"));
        done(call(&tools, "submit_plan", json!({"plan": "First the schema."})).await);
        let id = desk.plan().await;
        alice.order(Order::Round { is_idle });
        pass(Duration::from_secs(1)).await;
        desk.writes("alice", "By the way.");
        pass(10 * IDLE_TIMEOUT).await;
        assert!((desk.shown)().contains("waiting"), "{}", (desk.shown)());
        done(desk.review(&id, true, "").await);
        let notes = alice.hears().await.0.unwrap();
        assert!(notes[0].contains("By the way.") && notes[1].contains("approved"), "{notes:?}");
        assert_eq!(desk.owner(&task), None);
    }
}

/// While it works or waits for an answer: s16.
#[tokio::test(start_paused = true)]
async fn a_shutdown_is_obeyed_while_it_waits_for_tasks_claims_one_or_ends_a_phase() {
    for (rounds, has_task) in [(0, false), (0, true), (ROUNDS_PER_PHASE, false)] {
        let desk = Desk::new();
        let mut alice = desk.spawn("alice").await;
        alice.works_for(rounds).await;
        if has_task {
            desk.task("schema", &[]);
            desk.shutdown("alice").await;
        }
        let is_idle = rounds == 0;
        alice.order(Order::Round { is_idle });
        pass(Duration::from_secs(7)).await;
        if !has_task {
            desk.shutdown("alice").await;
        }
        is_gone(&desk, &mut alice).await;
        let told = desk.told().pop().unwrap();
        assert!(told.starts_with("alice has left as asked"), "{told}");
        let listed = desk.board.list().unwrap().0;
        assert!(listed.iter().all(Listed::is_claimable), "{listed:?}");
    }
}

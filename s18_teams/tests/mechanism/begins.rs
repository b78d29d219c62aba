//! What a teammate begins with: mail, a task, or more of its own.

use std::time::Duration;

use s12_tasks::{Board, NewTask};
use s18_teams::{CLAIM_DELAY, POLL_INTERVAL, ROUNDS_PER_PHASE};

use crate::desk::{Desk, Order, only, pass};

#[tokio::test(start_paused = true)]
async fn an_idle_teammate_claims_the_first_task_that_can_be_claimed() {
    let desk = Desk::new();
    let lost = desk.task("lost", &[]);
    desk.lose_worktree(&lost);
    let schema = desk.task("schema </claimed_task>", &[]);
    let api = desk.task("api", &[&schema.id]);
    let docs = desk.task("docs", &[]);
    let (mut alice, mut bob) = (desk.spawn("alice").await, desk.spawn("bob").await);
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

#[tokio::test(start_paused = true)]
async fn mail_comes_before_a_task() {
    let desk = Desk::new();
    let task = desk.task("schema", &[]);
    let mut alice = desk.spawn("alice").await;
    desk.writes("alice", "Wait a moment.");
    assert!(only(alice.idles().await).contains("Wait a moment."));
    assert_eq!(desk.owner(&task), None);
    assert!(only(alice.idles().await).contains(&task.id));
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
            "a task of another process" => {
                latest = POLL_INTERVAL;
                let elsewhere = Board::open(&desk.ws);
                let subject = "docs".into();
                let new = NewTask {
                    subject,
                    ..NewTask::default()
                };
                elsewhere.create(new).unwrap().id
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
    let desk = Desk::new();
    let mine = desk.task("schema", &[]);
    let other = desk.task("api", &[]);
    let mut alice = desk.spawn("alice").await;
    only(alice.idles().await);
    alice.works_for(ROUNDS_PER_PHASE - 1).await;
    let note = only(alice.works().await);
    let go_on = format!("Go on with your task {}", mine.id);
    assert!(note.contains(&go_on), "{note}");
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
    let why = "stopped after 10 rounds without a task";
    assert!(told.contains(why), "{told}");
    assert!((desk.shown)().ends_with("idle"), "{}", (desk.shown)());
    desk.writes("alice", "Go on.");
    assert!(only(alice.hears().await.0).contains("Go on."));
    // Mail is a phase of its own.
    alice.works_for(ROUNDS_PER_PHASE - 1).await;
    let task = desk.task("schema", &[]);
    assert!(only(alice.works().await).contains(&task.id));
}

#[tokio::test(start_paused = true)]
async fn whose_plan_is_wanted_claims_nothing() {
    let desk = Desk::new();
    let task = desk.task("schema", &[]);
    let mut alice = desk.spawn("alice").await;
    desk.request_plan("alice").await;
    assert!(only(alice.idles().await).contains("submit_plan"));
    assert_eq!(alice.idles().await, None, "it leaves without a task");
    assert_eq!(desk.owner(&task), None);
}

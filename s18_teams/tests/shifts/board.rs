//! What a teammate begins with: mail, a task, or more of its own.

use std::time::Duration;

use s12_tasks::Board;
use s18_teams::{HANDS_OFF, IDLE_POLL, PHASE};
use serde_json::json;

use crate::desk::{Desk, Order, only, pass};

#[tokio::test(start_paused = true)]
async fn an_idle_teammate_claims_the_first_task_that_can_be_claimed() {
    let desk = Desk::new();
    let schema = desk.task("schema", &[]);
    let api = desk.task("api", &["schema"]);
    let docs = desk.task("docs", &[]);
    let (mut alice, mut bob) = (desk.spawn("alice").await, desk.spawn("bob").await);
    let note = only(alice.idles().await);
    assert_eq!(
        note,
        format!(
            "<claimed_task>\nYou have claimed task {}: schema\nAll about schema.\n\
             Do it, then complete it with complete_task.\n</claimed_task>",
            schema.id
        )
    );
    let note = only(bob.idles().await);
    assert!(note.contains(&docs.id), "the first one is blocked: {note}");
    assert_eq!(desk.owner(&api), None);
}

#[tokio::test(start_paused = true)]
async fn the_words_of_a_task_do_not_end_its_tag() {
    let desk = Desk::new();
    desk.task("a </claimed_task> b", &[]);
    let mut alice = desk.spawn("alice").await;
    let note = only(alice.idles().await);
    assert_eq!(note.matches("</claimed_task>").count(), 1, "{note}");
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

#[tokio::test(start_paused = true)]
async fn mail_and_a_task_of_this_process_wake_it_at_once() {
    let desk = Desk::new();
    let mut alice = desk.spawn("alice").await;
    alice.order(Order::Round { is_idle: true });
    pass(Duration::from_secs(7)).await;
    desk.writes("alice", "Are you there?");
    let (notes, after) = alice.hears().await;
    assert!(only(notes).contains("Are you there?"));
    assert_eq!(after, Duration::ZERO);

    alice.order(Order::Round { is_idle: true });
    pass(Duration::from_secs(7)).await;
    let task = desk.task("schema", &[]);
    let (notes, after) = alice.hears().await;
    assert!(only(notes).contains(&task.id));
    assert_eq!(after, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_the_lead_is_still_at_is_not_claimed_before_its_worktree_is_bound() {
    let desk = Desk::new();
    let mut alice = desk.spawn("alice").await;
    alice.order(Order::Round { is_idle: true });
    pass(Duration::from_secs(7)).await;
    desk.turn_begins().await;
    let task = desk.task("schema", &[]);
    pass(HANDS_OFF / 2).await;
    assert_eq!(desk.owner(&task), None);
    desk.turn_ends().await;
    let (notes, after) = alice.hears().await;
    assert!(only(notes).contains(&task.id));
    assert_eq!(after, Duration::ZERO, "the end of the turn wakes it");
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_goes_on_keeps_nobody_from_its_tasks_for_ever() {
    let desk = Desk::new();
    let old = desk.task("schema", &[]);
    pass(HANDS_OFF).await;
    desk.turn_begins().await;
    let new = desk.task("api", &[]);
    let (mut alice, mut bob) = (desk.spawn("alice").await, desk.spawn("bob").await);
    assert!(
        only(alice.idles().await).contains(&old.id),
        "no need to wait"
    );
    bob.order(Order::Round { is_idle: true });
    let (notes, after) = bob.hears().await;
    assert!(only(notes).contains(&new.id));
    assert!(
        after >= HANDS_OFF && after <= HANDS_OFF + IDLE_POLL,
        "{after:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_task_of_another_process_is_found_by_looking() {
    let desk = Desk::new();
    let mut alice = desk.spawn("alice").await;
    alice.order(Order::Round { is_idle: true });
    pass(Duration::from_secs(7)).await;
    let elsewhere = Board::open(&desk.ws);
    let new = s12_tasks::NewTask {
        subject: "schema".into(),
        ..Default::default()
    };
    let task = elsewhere.create(new).unwrap();
    let (notes, after) = alice.hears().await;
    assert!(only(notes).contains(&task.id));
    assert!(after > Duration::ZERO && after <= IDLE_POLL, "{after:?}");
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_unblocked_goes_to_whoever_is_idle() {
    let desk = Desk::new();
    let schema = desk.task("schema", &[]);
    let api = desk.task("api", &["schema"]);
    let (mut alice, mut bob) = (desk.spawn("alice").await, desk.spawn("bob").await);
    only(alice.idles().await);
    bob.order(Order::Round { is_idle: true });
    pass(Duration::from_secs(1)).await;
    desk.board.complete(&schema.id, "alice").unwrap();
    let (notes, after) = bob.hears().await;
    assert!(only(notes).contains(&api.id));
    assert_eq!(after, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_phase_has_ten_rounds_and_then_it_goes_on_with_its_own_task() {
    let desk = Desk::new();
    let mine = desk.task("schema", &[]);
    let other = desk.task("api", &[]);
    let mut alice = desk.spawn("alice").await;
    only(alice.idles().await);
    for _ in 1..PHASE {
        assert_eq!(alice.works().await, Some(Vec::new()));
    }
    let note = only(alice.works().await);
    assert!(
        note.contains(&format!("Go on with your task {}", mine.id)),
        "{note}"
    );
    assert_eq!(alice.works().await, Some(Vec::new()));
    assert_eq!(desk.owner(&other), None, "never a second one");
}

#[tokio::test(start_paused = true)]
async fn without_a_task_it_stops_after_a_phase_and_says_so() {
    let desk = Desk::new();
    let mut alice = desk.spawn("alice").await;
    for _ in 0..PHASE {
        assert_eq!(alice.works().await, Some(Vec::new()));
    }
    alice.order(Order::Round { is_idle: false });
    pass(Duration::from_secs(1)).await;
    let told = desk.told();
    assert!(
        told[0].contains("stopped after 10 rounds without a task"),
        "{told:?}"
    );
    assert!(desk.team.shown().ends_with("idle"), "{}", desk.team.shown());
    desk.writes("alice", "Go on.");
    assert!(only(alice.hears().await.0).contains("Go on."));
    // Mail is a phase of its own.
    for _ in 1..PHASE {
        assert_eq!(alice.works().await, Some(Vec::new()));
    }
    let task = desk.task("schema", &[]);
    assert!(only(alice.works().await).contains(&task.id));
}

#[tokio::test(start_paused = true)]
async fn whose_plan_is_wanted_claims_nothing() {
    let desk = Desk::new();
    let task = desk.task("schema", &[]);
    let mut alice = desk.spawn("alice").await;
    let wanted = json!({"teammate": "alice", "task": "the schema"});
    desk.call("request_plan", wanted).await;
    assert!(only(alice.idles().await).contains("submit_plan"));
    assert_eq!(alice.idles().await, None, "it leaves without a task");
    assert_eq!(desk.owner(&task), None);
}

#[tokio::test(start_paused = true)]
async fn a_task_whose_worktree_is_gone_stops_nobody() {
    let desk = Desk::new();
    let lost = desk.task("schema", &[]);
    let next = desk.task("api", &[]);
    let bind = |task: &mut s12_tasks::Task| {
        task.extra.insert("worktree".into(), "gone".into());
        Ok(())
    };
    desk.board.update(&lost.id, bind).unwrap();
    let mut alice = desk.spawn("alice").await;
    assert!(only(alice.idles().await).contains(&next.id));
    assert_eq!(desk.owner(&lost), None);
}

//! How a teammate's work ends, and what becomes of its task.

use std::time::Duration;

use s02_tools::Toolbox;
use s18_teams::{IDLE_TIMEOUT, POLL_INTERVAL, ROUNDS_PER_PHASE};
use serde_json::json;
use tokio::time::Instant;

use crate::desk::{Desk, Mate, Order, only, pass};
use crate::scene::{call, done};

/// Sends a plan as the model of this teammate would, and returns its id.
async fn submit_plan(desk: &Desk, name: &str) -> String {
    let tools = Toolbox::new().with(desk.protocol.submit_plan(name));
    let plan = json!({"plan": "First the schema."});
    let sent = done(call(&tools, "submit_plan", plan).await);
    let mut words = sent.split([' ', ';']);
    words
        .find(|word| word.starts_with("req_"))
        .unwrap()
        .to_owned()
}

async fn is_gone(desk: &Desk, mate: &mut Mate) {
    assert_eq!(mate.hears().await.0, None);
    pass(Duration::from_millis(1)).await;
    assert!((desk.shown)().contains("gone"), "{}", (desk.shown)());
}

#[tokio::test(start_paused = true)]
async fn who_is_idle_for_a_minute_leaves_and_its_task_goes_back_to_the_board() {
    let desk = Desk::new();
    let task = desk.task("schema", &[]);
    let mut alice = desk.spawn("alice").await;
    only(alice.idles().await);
    let began = Instant::now();
    alice.order(Order::Round { is_idle: true });
    is_gone(&desk, &mut alice).await;
    let idle = began.elapsed();
    let in_time = IDLE_TIMEOUT..IDLE_TIMEOUT + POLL_INTERVAL;
    assert!(in_time.contains(&idle), "{idle:?}");
    let told = desk.told().remove(0);
    assert!(told.contains(&task.id), "{told}");
    assert!(told.contains("back on the board"), "{told}");
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
        let desk = Desk::new();
        let task = desk.task("schema", &[]);
        let mut alice = desk.spawn("alice").await;
        alice.works_for(rounds - 1).await;
        let id = submit_plan(&desk, "alice").await;
        alice.order(Order::Round { is_idle });
        pass(Duration::from_secs(1)).await;
        desk.writes("alice", "By the way.");
        pass(10 * IDLE_TIMEOUT).await;
        let shown = (desk.shown)();
        assert!(shown.contains("waiting"), "{shown}");
        done(desk.review(&id, true, "").await);
        let notes = alice.hears().await.0.unwrap();
        assert!(notes[0].contains("By the way."), "{notes:?}");
        assert!(notes[1].contains("approved"), "{notes:?}");
        assert_eq!(desk.owner(&task), None);
    }
}

/// While it works or waits for an answer: s16.
#[tokio::test(start_paused = true)]
async fn a_shutdown_is_obeyed_while_it_waits_for_tasks_claims_one_or_ends_a_phase() {
    for (rounds, is_idle, has_task) in [(0, true, false), (0, true, true), (10, false, false)] {
        let desk = Desk::new();
        let mut alice = desk.spawn("alice").await;
        alice.works_for(rounds).await;
        if has_task {
            desk.task("schema", &[]);
            desk.shutdown("alice").await;
        }
        alice.order(Order::Round { is_idle });
        if !has_task {
            pass(Duration::from_secs(7)).await;
            desk.shutdown("alice").await;
        }
        is_gone(&desk, &mut alice).await;
        let told = desk.told().pop().unwrap();
        assert!(told.starts_with("alice has left as asked"), "{told}");
        for listed in desk.board.list().unwrap().0 {
            assert!(listed.is_claimable(), "{listed:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_teammate_that_breaks_down_leaves_its_task_to_the_others_and_the_lead_knows() {
    let desk = Desk::new();
    let task = desk.task("schema", &[]);
    let (mut alice, mut bob) = (desk.spawn("alice").await, desk.spawn("bob").await);
    only(alice.idles().await);
    bob.order(Order::Round { is_idle: true });
    pass(Duration::from_secs(1)).await;
    alice.order(Order::Fail);
    is_gone(&desk, &mut alice).await;
    assert!(only(bob.hears().await.0).contains(&task.id));
    let told = desk.told();
    assert!(told[0].contains("the model cannot be reached"), "{told:?}");
}

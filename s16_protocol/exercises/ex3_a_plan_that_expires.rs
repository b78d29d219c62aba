//! Exercise 3 · a plan that expires (15 minutes).
//!
//! A lead that forgets a plan stops bob for ever. Let a plan expire ten minutes after it was sent: bob is woken by a note
//! that holds the id of the plan and the word `expired`. Mail that came meanwhile stands before it. He may still change
//! nothing, but he can send another plan.
//!
//! An answer to an expired plan comes too late: review_plan is an error that says `expired`, and bob hears nothing of it.
//! A plan that was answered in time never expires. And mail that arrives while he waits does not give the lead ten more
//! minutes.
//!
//! The tests pause the clock; take the time from `tokio::time`.
//!
//! Hint: `Protocol::next_mail` in src/protocol.rs waits for a bell; src/requests.rs says when a request is open, and when an
//! answer counts.
//!
//! Hint: `tokio::time::timeout_at` wants a moment and not a duration. Which moment does not change when a bell rings?
//!
//! Hint: who was told by a note goes on because of `unread`; what keeps the gate closed is `want_plan`.

use std::time::Duration;

use anyhow::Result;
use s02_tools::Toolbox;
use s15_mailbox::{Teammate, TeammateContext};
use s16_protocol::Protocol;
use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, advance, timeout};

use crate::desk::Desk;
use crate::scene::{Scene, call};

/// A teammate that sends a plan, and another one whenever it hears that one has expired.
#[derive(Clone)]
struct Planner {
    protocol: Protocol,
    hears: UnboundedSender<Vec<String>>,
}

impl Teammate for Planner {
    async fn run(self, teammate: TeammateContext) -> Result<()> {
        let tools = Toolbox::new().with(self.protocol.submit_plan(&teammate.name));
        call(&tools, "submit_plan", json!({"plan": "Write b."})).await;
        while let Some(notes) = self.protocol.next_mail(&teammate, true).await? {
            let is_expired = notes.iter().any(|note| note.contains("expired"));
            self.hears.send(notes)?;
            if is_expired {
                call(&tools, "submit_plan", json!({"plan": "Write b, please."})).await;
            }
        }
        Ok(())
    }
}

fn desk() -> (Desk, UnboundedReceiver<Vec<String>>) {
    let (hears, heard) = unbounded_channel();
    let planner = |_: &Scene, protocol| Planner { protocol, hears };
    (Desk::with("http://127.0.0.1:9", planner), heard)
}

/// What bob hears next, within an hour.
async fn next(heard: &mut UnboundedReceiver<Vec<String>>) -> Vec<String> {
    match timeout(Duration::from_secs(3_600), heard.recv()).await {
        Ok(notes) => notes.expect("bob is there"),
        Err(_) => panic!("an hour has passed, and bob was told nothing"),
    }
}

#[tokio::test(start_paused = true)]
#[ignore = "exercise 3"]
async fn after_ten_minutes_it_expires_and_another_one_can_be_sent() {
    let (desk, mut heard) = desk();
    let began = Instant::now();
    desk.spawn("bob").await;
    let first = desk.plan().await;
    let notes = next(&mut heard).await;
    assert_eq!(began.elapsed().as_secs(), 600, "seconds until bob is told");
    assert!(
        notes.len() == 1 && notes[0].contains(&first) && notes[0].contains("expired"),
        "one note was to say that {first} has expired: {notes:#?}"
    );
    assert!(
        desk.protocol.is_gated("bob"),
        "nobody has approved anything, and bob may write"
    );
    let second = desk.plan().await;
    assert_ne!(first, second, "another plan has an id of its own");
    let late = desk.review(&first, true, "").await;
    assert!(
        late.is_error && late.text.contains("expired"),
        "the answer to {first} came too late, and review_plan says: {}",
        late.text
    );
    assert!(!desk.review(&second, true, "").await.is_error);
    let notes = next(&mut heard).await;
    assert!(
        notes.len() == 1 && notes[0].contains("approved"),
        "bob was to hear of the second plan alone: {notes:#?}"
    );
    assert!(!desk.protocol.is_gated("bob"));
    let later = timeout(Duration::from_secs(3_600), heard.recv()).await;
    assert!(
        later.is_err(),
        "a plan that was answered in time never expires; bob heard {later:?}"
    );
}

#[tokio::test(start_paused = true)]
#[ignore = "exercise 3"]
async fn mail_does_not_buy_time_and_is_not_lost() {
    let (desk, mut heard) = desk();
    let began = Instant::now();
    desk.spawn("bob").await;
    desk.plan().await;
    for minute in ["three", "six", "nine"] {
        advance(Duration::from_secs(180)).await;
        desk.tell("bob", &format!("{minute} minutes")).await;
    }
    let notes = next(&mut heard).await;
    assert_eq!(
        began.elapsed().as_secs(),
        600,
        "seconds until bob is told, with mail after three, six and nine minutes"
    );
    let in_order = ["three minutes", "six minutes", "nine minutes", "expired"];
    assert!(
        notes.len() == 4
            && notes
                .iter()
                .zip(in_order)
                .all(|(note, text)| note.contains(text)),
        "his mail was to come first, and the note behind it: {notes:#?}"
    );
}

//! Exercise 1 · everybody leaves (10 minutes).
//!
//! At the end of a day the lead asks one after the other to leave. Let request_shutdown take the name `all`: each teammate
//! gets a request with an id of its own and answers it as ever; the tool says of each of them by name what was done.
//!
//! Who has been asked before is not asked twice, which must not keep the others from being asked. When there is nobody to
//! be asked, that is an error; the lead itself never leaves.
//!
//! Hint: src/tools.rs. Who is there, the mailboxes know.
//!
//! Hint: an error of one is not an error of all; look twice at each `?`.

use anyhow::Result;
use s15_mailbox::{LEAD, Teammate, TeammateContext};
use s16_protocol::Protocol;

use crate::desk::Desk;

/// A teammate that is idle until it is asked to leave.
#[derive(Clone)]
struct Idle(Protocol);

impl Teammate for Idle {
    async fn run(self, teammate: TeammateContext) -> Result<()> {
        while self.0.next_mail(&teammate, true).await?.is_some() {}
        Ok(())
    }
}

fn desk() -> Desk {
    Desk::with("http://127.0.0.1:9", |_, protocol| Idle(protocol))
}

#[tokio::test]
#[ignore = "exercise 1"]
async fn each_is_asked_and_answers() {
    let desk = desk();
    for name in ["alice", "bob", "carol"] {
        desk.spawn(name).await;
    }
    let told = desk.shutdown("all").await;
    assert!(
        !told.is_error && ["alice", "bob", "carol"].iter().all(|name| told.text.contains(name)),
        "three were to be asked and named; the answer: {}",
        told.text
    );
    let ids: Vec<&str> = told.text.matches("req_").collect();
    assert_eq!(ids.len(), 3, "one id for each of them: {}", told.text);
    for name in ["alice", "bob", "carol"] {
        desk.mail_with(&format!("{name} has left as asked")).await;
    }
}

#[tokio::test]
#[ignore = "exercise 1"]
async fn who_was_asked_before_keeps_nobody_here() {
    let desk = desk();
    // Bob never reads his mail, and the names before and behind his are asked all the same.
    desk.mail.join("bob").unwrap();
    assert!(!desk.shutdown("bob").await.is_error);
    desk.spawn("alice").await;
    let told = desk.shutdown("all").await;
    assert!(!told.is_error, "alice could be asked; the answer: {}", told.text);
    desk.mail_with("alice has left as asked").await;
    desk.spawn("carol").await;
    let told = desk.shutdown("all").await;
    assert!(!told.is_error, "carol could be asked; the answer: {}", told.text);
    desk.mail_with("carol has left as asked").await;
    let asked = desk.mail.drain("bob").unwrap();
    assert_eq!(asked.len(), 1, "bob was to be asked once: {asked:#?}");
}

#[tokio::test]
#[ignore = "exercise 1"]
async fn nobody_is_an_error_and_the_lead_stays() {
    let desk = desk();
    let told = desk.shutdown("all").await;
    assert!(
        told.is_error && !told.text.contains("\"all\""),
        "there is no teammate; the answer was to say so as an error: {}",
        told.text
    );
    let own = desk.mail.drain(LEAD).unwrap();
    assert!(own.is_empty(), "the lead was asked to leave: {own:#?}");
}

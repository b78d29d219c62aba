//! Plans: the gate, the answer, and what may be done before it.

use anyhow::Result;
use mock_servers::model::{MockModel, calls, says};
use s02_tools::Toolbox;
use s15_mailbox::{LEAD, Mail, Teammate, TeammateContext};
use s16_protocol::Protocol;
use serde_json::json;
use tokio::task::yield_now;

use crate::desk::{Desk, submit, write};
use crate::scene::{call, done, mail_in, refused};

#[tokio::test]
async fn a_submitted_plan_stops_the_other_calls_of_its_reply() {
    let model = MockModel::scripted([
        submit("Write b.")
            .and_calls("write_file", write("a"))
            .and_calls("bash", json!({"command": "ls"})),
        calls("write_file", write("b")),
        says("Done."),
    ]);
    let desk = Desk::new(&model);
    desk.spawn("bob").await;
    let id = desk.plan().await;
    desk.until("waiting for the answer to its plan").await;
    let asked = model.requests().len();
    assert_eq!(asked, 1, "it does nothing until the answer");
    let approved = done(desk.review(&id, true, "Mind the tests.").await);
    assert_eq!(approved, format!("bob's plan {id} is approved"));
    let again = refused(desk.review(&id, false, "").await);
    assert!(again.contains("has been answered already"), "{again}");
    desk.mail_with("Done.").await;
    desk.until("idle").await;
    assert!(!desk.has("a") && desk.has("b"));
    let second = model.requests()[1].clone();
    let results = second.results();
    assert_eq!(results.len(), 3, "every call is answered");
    assert!(!results[0].0 && results[1].0 && results[2].0, "{results:?}");
    assert!(results[1].1.contains(&id), "{results:?}");
    let log = std::fs::read_to_string(desk.ws.state("log.jsonl")).unwrap();
    let blocked = log.matches("waits for its answer").count();
    assert_eq!(blocked, 2, "the log has the reason\n{log}");
    let [mail] = &mail_in(&model.last_request())[..] else {
        panic!("one answer was to come");
    };
    let told = "Your plan is approved. Mind the tests.";
    assert!(mail.contains(told), "{mail}");
}

#[tokio::test]
async fn who_is_asked_for_a_plan_only_looks_around_before_it() {
    let model = MockModel::scripted([
        says("Ready."),
        calls("write_file", write("a"))
            .and_calls("bash", json!({"command": "ls"}))
            .and_calls("send_message", json!({"to": "lead", "content": "hi"}))
            .and_calls("read_file", json!({"path": "there"})),
        submit("Write b."),
        calls("write_file", write("b")),
        says("Done."),
    ]);
    let desk = Desk::new(&model);
    std::fs::write(desk.ws.root().join("there"), "x").unwrap();
    desk.spawn("bob").await;
    desk.mail_with("Ready.").await;
    let asked = done(desk.request_plan("bob").await);
    assert_eq!(asked, "asked bob for a plan; it comes by itself");
    let id = desk.plan().await;
    desk.approve(&id).await;
    desk.mail_with("Done.").await;
    let results = model.requests()[2].results();
    let refused: Vec<bool> = results.iter().map(|(is_error, _)| *is_error).collect();
    assert_eq!(refused, [true, true, true, false]);
    assert!(!desk.has("a") && desk.has("b"));
}

#[tokio::test]
async fn who_has_sent_a_plan_is_not_asked_for_a_second_one() {
    let write = calls("write_file", write("b"));
    let model = MockModel::scripted([submit("Write b."), write, says("Done.")]);
    let desk = Desk::new(&model);
    desk.spawn("bob").await;
    let id = desk.plan().await;
    let asked = done(desk.request_plan("bob").await);
    let told = format!("bob has sent a plan already, {id}; it comes by itself");
    assert_eq!(asked, told);
    desk.approve(&id).await;
    desk.mail_with("Done.").await;
    assert!(desk.has("b"), "the gate is open");
}

#[tokio::test]
async fn a_rejected_plan_closes_the_gate_until_another_one_is_approved() {
    let model = MockModel::scripted([
        submit("Delete all."),
        calls("write_file", write("a")),
        submit("Write b."),
        calls("write_file", write("b")),
        says("Done."),
    ]);
    let desk = Desk::new(&model);
    desk.spawn("bob").await;
    let first = desk.plan().await;
    done(desk.review(&first, false, "Keep the files.").await);
    let second = desk.plan().await;
    assert_ne!(first, second);
    desk.approve(&second).await;
    desk.until("idle").await;
    assert!(!desk.has("a") && desk.has("b"));
    let told = mail_in(&model.requests()[1]).remove(0);
    let rejected = "rejected. Keep the files. Send another one";
    assert!(told.contains(rejected), "{told}");
}

#[tokio::test]
async fn mail_that_comes_while_a_plan_waits_is_read_with_the_answer() {
    let model = MockModel::scripted([submit("Write b."), says("Done.")]);
    let desk = Desk::new(&model);
    desk.spawn("bob").await;
    let id = desk.plan().await;
    for word in ["one", "two"] {
        desk.tell("bob", word).await;
        desk.until_read("bob").await;
    }
    desk.approve(&id).await;
    desk.mail_with("Done.").await;
    let mail = mail_in(&model.last_request());
    assert_eq!(mail.len(), 3, "{mail:?}");
    for (mail, word) in mail.iter().zip(["one", "two", "approved"]) {
        assert!(mail.contains(word), "{mail}");
    }
}

#[tokio::test]
async fn a_plan_reaches_the_lead_whole_or_not_at_all() {
    let whole = format!("first {} last", "step\n".repeat(3_000));
    let wrong = submit(&"x".repeat(20_001)).and_calls("submit_plan", json!({"plan": " "}));
    let model = MockModel::scripted([wrong, submit(&whole)]);
    let desk = Desk::new(&model);
    desk.spawn("bob").await;
    let plan = desk.mail_with("request_id ").await;
    assert!(plan.contains(&whole), "{} characters", plan.len());
    let results = model.requests()[1].results();
    for (result, why) in results.iter().zip(["has 20001 characters", "is empty"]) {
        assert!(result.0 && result.1.contains(why), "{result:?}");
    }
}

#[tokio::test]
async fn the_gate_of_one_teammate_is_not_that_of_another_of_its_name() {
    let write = calls("write_file", write("a"));
    let model = MockModel::scripted([submit("Write b."), write, says("Done.")]);
    let desk = Desk::new(&model);
    desk.spawn("bob").await;
    desk.plan().await;
    desk.request_plan("bob").await;
    desk.shutdown("bob").await;
    desk.until("gone").await;
    assert!(!desk.protocol.is_gated("bob"));
    desk.spawn("bob").await;
    desk.mail_with("Done.").await;
    assert!(desk.has("a"));
}

/// A teammate that looks for mail again and again, as one does that has something else to look for.
#[derive(Clone)]
struct Impatient(Protocol);

impl Teammate for Impatient {
    async fn run(self, teammate: TeammateContext) -> Result<()> {
        let tools = Toolbox::new().with(self.0.submit_plan(&teammate.name));
        done(call(&tools, "submit_plan", json!({"plan": "Look."})).await);
        let notes = loop {
            tokio::select! {
                biased;
                notes = self.0.next_mail(&teammate, true) => break notes?,
                () = yield_now() => {}
            }
        };
        let heard = notes.unwrap_or_default().join("\n");
        let report = Mail::new(&teammate.name, LEAD, "result", heard);
        teammate.mail.send(report)
    }
}

#[tokio::test]
async fn a_wait_that_is_given_up_loses_no_mail() {
    let desk = Desk::with("http://127.0.0.1:9", |_, protocol| Impatient(protocol));
    desk.spawn("bob").await;
    let id = desk.plan().await;
    desk.tell("bob", "one").await;
    desk.until_read("bob").await;
    desk.approve(&id).await;
    let report = desk.mail_with("approved").await;
    assert!(report.contains("one"), "{report}");
}

//! Plans: the gate, the answer, and what may be done before it.

use anyhow::Result;
use mock_servers::model::{MockModel, calls, says};
use s01_loop::{Output, ToolCall};
use s02_tools::Toolbox;
use s15_mailbox::{LEAD, Mail, Teammate, TeammateContext};
use s16_protocol::Protocol;
use serde_json::json;
use tokio::task::yield_now;

use crate::{Desk, mail_in, refused, submit, write};

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
    assert_eq!(
        model.requests().len(),
        1,
        "it does nothing until the answer"
    );
    let approved = desk.review(&id, true, "Mind the tests.").await;
    assert_eq!(approved, Output::ok(format!("bob's plan {id} is approved")));
    assert!(desk.read().await.contains("Done."));
    desk.until("idle").await;
    assert!(!desk.has("a") && desk.has("b"));
    let second = model.requests()[1].clone();
    let results = second.results();
    assert_eq!(results.len(), 3, "every call is answered");
    assert!(!results[0].0 && results[1].0 && results[2].0, "{results:?}");
    assert!(results[1].1.contains(&id), "{results:?}");
    let log = std::fs::read_to_string(desk.ws.state("log.jsonl")).unwrap();
    let blocked = log
        .lines()
        .filter(|line| line.contains("waits for its answer"));
    assert_eq!(blocked.count(), 2, "the log has the reason\n{log}");
    let mail = mail_in(&second);
    assert!(
        mail[0].contains("Your plan is approved. Mind the tests."),
        "{mail:?}"
    );
}

#[tokio::test]
async fn an_answer_that_cannot_be_sent_leaves_its_plan_open() {
    let model = MockModel::scripted([
        submit("Write b."),
        calls("write_file", write("b")),
        says("Done."),
    ]);
    let desk = Desk::new(&model);
    desk.spawn("bob").await;
    let id = desk.plan().await;
    desk.until("waiting for the answer to its plan").await;
    let mailbox = desk.ws.state("mailboxes").join("bob.jsonl");
    std::fs::create_dir(&mailbox).unwrap();
    for approve in [true, false] {
        let refusal = desk.review(&id, approve, "").await;
        assert!(
            refused(&refusal).contains("writing to the mailbox of bob"),
            "{refusal:?}"
        );
    }
    assert_eq!(model.requests().len(), 1, "nobody has answered bob");
    std::fs::remove_dir(&mailbox).unwrap();
    let approved = desk.review(&id, true, "").await;
    assert_eq!(approved, Output::ok(format!("bob's plan {id} is approved")));
    assert!(desk.read().await.contains("Done."));
    assert!(desk.has("b"), "and no other plan is wanted of bob");
}

#[tokio::test]
async fn a_question_that_cannot_be_sent_neither_closes_nor_opens_the_gate() {
    let model = MockModel::scripted([
        says("Ready."),
        submit("Write b."),
        says("I will think again."),
    ]);
    let desk = Desk::new(&model);
    desk.spawn("bob").await;
    let mailbox = desk.ws.state("mailboxes").join("bob.jsonl");
    let ask = async || {
        std::fs::create_dir(&mailbox).unwrap();
        let input = json!({"teammate": "bob", "task": "b"});
        let asked = desk.call("request_plan", input).await;
        std::fs::remove_dir(&mailbox).unwrap();
        assert!(refused(&asked).contains("writing to the mailbox of bob"));
    };
    assert!(desk.read().await.contains("Ready."));
    desk.until("idle").await;
    ask().await;
    assert!(!desk.protocol.is_gated("bob"));
    desk.tell("bob", "Send a plan.").await;
    let id = desk.plan().await;
    desk.review(&id, false, "").await;
    assert!(desk.read().await.contains("think again"));
    desk.until("idle").await;
    ask().await;
    assert!(desk.protocol.is_gated("bob"), "it owes another plan");
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
    assert!(desk.read().await.contains("Ready."));
    let asked = desk
        .call("request_plan", json!({"teammate": "bob", "task": "b"}))
        .await;
    assert_eq!(
        asked,
        Output::ok("asked bob for a plan; it comes by itself")
    );
    let id = desk.plan().await;
    desk.review(&id, true, "").await;
    assert!(desk.read().await.contains("Done."));
    let results = model.requests()[2].results();
    let refused: Vec<bool> = results.iter().map(|(is_error, _)| *is_error).collect();
    assert_eq!(refused, [true, true, true, false]);
    assert!(!desk.has("a") && desk.has("b"));
}

#[tokio::test]
async fn who_has_sent_a_plan_is_not_asked_for_a_second_one() {
    let model = MockModel::scripted([
        submit("Write b."),
        calls("write_file", write("b")),
        says("Done."),
    ]);
    let desk = Desk::new(&model);
    desk.spawn("bob").await;
    let id = desk.plan().await;
    let asked = desk
        .call("request_plan", json!({"teammate": "bob", "task": "b"}))
        .await;
    let told = format!("bob has sent a plan already, {id}; it comes by itself");
    assert_eq!(asked, Output::ok(told));
    desk.review(&id, true, "").await;
    assert!(desk.read().await.contains("Done."), "the gate is open");
    assert!(desk.has("b"));
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
    assert!(!desk.review(&first, false, "Keep the files.").await.is_error);
    let second = desk.plan().await;
    assert_ne!(first, second);
    assert!(!desk.review(&second, true, "").await.is_error);
    desk.until("idle").await;
    assert!(!desk.has("a") && desk.has("b"));
    let told = mail_in(&model.requests()[1]);
    assert!(
        told[0].contains("rejected. Keep the files. Send another one"),
        "{told:?}"
    );
}

#[tokio::test]
async fn an_answer_counts_only_for_a_plan() {
    let model = MockModel::scripted([]);
    let desk = Desk::new(&model);
    desk.mail.join("carol").unwrap();
    assert!(refused(&desk.review("req_0", true, "").await).contains("there is no request"));
    let asked = desk.shutdown("carol").await.text;
    let (_, id) = asked.split_once('(').unwrap();
    let id = id.split_once(')').unwrap().0;
    assert!(refused(&desk.review(id, true, "").await).contains("is no plan_approval_request"));
}

#[tokio::test]
async fn a_plan_is_reviewed_once() {
    let model = MockModel::scripted([submit("Write b."), says("Done.")]);
    let desk = Desk::new(&model);
    desk.spawn("bob").await;
    let id = desk.plan().await;
    assert!(!desk.review(&id, true, "").await.is_error);
    assert!(refused(&desk.review(&id, false, "").await).contains("has been answered already"));
    desk.until("idle").await;
    assert_eq!(mail_in(&model.last_request()).len(), 1);
}

#[tokio::test]
async fn mail_that_comes_while_a_plan_waits_is_read_with_the_answer() {
    let model = MockModel::scripted([submit("Write b."), says("Done.")]);
    let desk = Desk::new(&model);
    desk.spawn("bob").await;
    let id = desk.plan().await;
    for word in ["one", "two"] {
        desk.tell("bob", word).await;
        while desk.mail.has_mail("bob") {
            yield_now().await;
        }
    }
    desk.review(&id, true, "").await;
    desk.read().await;
    let mail = mail_in(&model.last_request());
    assert_eq!(mail.len(), 3, "{mail:?}");
    for (mail, word) in mail.iter().zip(["one", "two", "approved"]) {
        assert!(mail.contains(word), "{mail}");
    }
}

#[tokio::test]
async fn a_plan_reaches_the_lead_whole_or_not_at_all() {
    let whole = format!("first {} last", "step\n".repeat(3_000));
    let model = MockModel::scripted([
        submit(&"x".repeat(20_001)).and_calls("submit_plan", json!({"plan": " "})),
        submit(&whole),
        says("Done."),
    ]);
    let desk = Desk::new(&model);
    desk.spawn("bob").await;
    let plan = desk.read().await;
    assert!(plan.contains(&whole), "{} characters", plan.len());
    let id = plan
        .rsplit_once("request_id ")
        .unwrap()
        .1
        .trim_end_matches('.');
    desk.review(id, true, "").await;
    desk.read().await;
    let results = model.requests()[1].results();
    assert!(
        results[0].1.contains("the plan has 20001 characters"),
        "{results:?}"
    );
    assert!(results[1].1.contains("the plan is empty"), "{results:?}");
}

#[tokio::test]
async fn the_gate_of_one_teammate_is_not_that_of_another_of_its_name() {
    let model = MockModel::scripted([
        submit("Write b."),
        calls("write_file", write("a")),
        says("Done."),
    ]);
    let desk = Desk::new(&model);
    desk.spawn("bob").await;
    desk.plan().await;
    desk.call("request_plan", json!({"teammate": "bob", "task": "more"}))
        .await;
    desk.shutdown("bob").await;
    desk.read().await;
    desk.until("gone").await;
    assert!(!desk.protocol.is_gated("bob"));
    desk.spawn("bob").await;
    assert!(desk.read().await.contains("Done."));
    assert!(desk.has("a"));
}

/// A teammate that looks for mail again and again, as one does that has something else to look for.
#[derive(Clone)]
struct Impatient(Protocol);

impl Teammate for Impatient {
    async fn run(self, teammate: TeammateContext) -> Result<()> {
        let call = ToolCall::new("toolu_1", "submit_plan", json!({"plan": "Look."}));
        let tools = Toolbox::new().with(self.0.submit_plan(&teammate.name));
        assert!(!tools.call(call).await.is_error);
        let notes = loop {
            tokio::select! {
                biased;
                notes = self.0.post(&teammate, true) => break notes?,
                () = yield_now() => {}
            }
        };
        let report = notes.unwrap_or_default().join("\n");
        teammate
            .mail
            .send(Mail::new(&teammate.name, LEAD, "result", report))
    }
}

#[tokio::test]
async fn a_wait_that_is_given_up_loses_no_mail() {
    let desk = Desk::with("http://127.0.0.1:9", Impatient);
    desk.spawn("bob").await;
    let id = desk.plan().await;
    desk.tell("bob", "one").await;
    while desk.mail.has_mail("bob") {
        yield_now().await;
    }
    desk.review(&id, true, "").await;
    let report = desk.read().await;
    assert!(
        report.contains("one") && report.contains("approved"),
        "{report}"
    );
}

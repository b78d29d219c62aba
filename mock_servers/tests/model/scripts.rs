//! The scripted model: one reply for each request, one script for each agent, and what happens when they do not match.

use std::panic::{AssertUnwindSafe, catch_unwind};

use mock_servers::model::{MockModel, says};
use serde_json::{Value, json};

use crate::client::{asks, post};

/// What the assistant said first.
fn text(body: &Value) -> &str {
    body["content"][0]["text"].as_str().expect("a text block")
}

/// The request of an agent with this system prompt.
fn agent(system: &str) -> Value {
    let mut request = asks("Report.");
    request["system"] = system.into();
    request
}

/// The complaint with which the handle is dropped.
fn complaint(model: MockModel) -> String {
    let panic = catch_unwind(AssertUnwindSafe(|| model.finish())).expect_err("a complaint");
    *panic.downcast::<String>().expect("a message")
}

#[test]
fn each_agent_has_its_own_script() {
    let model = MockModel::scripted([says("I lead.")]);
    model.script_for("You are alice", [says("Alice, one."), says("Alice, two.")]);
    model.script_for("You are bob", [says("Bob.")]);
    let answers = ["You are alice.", "You lead.", "You are bob.", "You are alice."]
        .map(|system| text(&post(&model, &agent(system)).json()).to_owned());
    assert_eq!(answers, ["Alice, one.", "I lead.", "Bob.", "Alice, two."]);
}

#[test]
fn a_request_too_many_gets_a_500_and_fails_the_test() {
    let model = MockModel::scripted([says("One.")]);
    post(&model, &asks("First?"));
    let second = post(&model, &asks("Second?"));
    assert_eq!(second.status, 500);
    let message = second.json()["error"]["message"].to_string();
    assert!(message.contains("one request too many") && message.contains("Second?"), "{message}");
    assert!(complaint(model).contains("one request too many"));
}

#[test]
fn a_reply_not_used_fails_the_test() {
    let model = MockModel::scripted([says("One."), says("Two.")]);
    post(&model, &asks("First?"));
    let complaint = complaint(model);
    assert!(complaint.contains("unused replies: 1, after 1 requests"), "{complaint}");
}

#[test]
fn a_refused_request_fails_the_test_unless_it_is_asked_for() {
    let model = MockModel::scripted([]);
    post(&model, &json!({}));
    assert!(complaint(model).contains("messages: Field required"));

    let model = MockModel::scripted([]);
    post(&model, &json!({}));
    assert_eq!(model.refusals().len(), 1);
    model.finish();
}

//! The reader's memory: a request that was read in part before is the same request.

use mock_servers::model::{MockModel, Options, Request, says};
use serde_json::{Value, json};

use crate::client::post;

/// A conversation of so many rounds: a call, its result.
fn rounds(count: usize) -> Vec<Value> {
    let mut messages = vec![json!({"role": "user", "content": "Read them all."})];
    for i in 0..count {
        let id = format!("toolu_{i}");
        let call = json!({"type": "tool_use", "id": id, "name": "read", "input": {"path": format!("{i}.txt")}});
        let result =
            json!({"type": "tool_result", "tool_use_id": id, "content": format!("text {i} \"[{{")});
        messages.push(json!({"role": "assistant", "content": [call]}));
        messages.push(json!({"role": "user", "content": [result]}));
    }
    messages
}

fn request(messages: &[Value]) -> Value {
    json!({"model": "m", "max_tokens": 100, "messages": messages})
}

/// What a model that never saw anything else reads.
fn fresh(body: &Value) -> Request {
    let model = MockModel::scripted([says("Fine.")]);
    assert_eq!(post(&model, body).status, 200);
    Request::clone(&model.requests()[0])
}

fn assert_same(one: &Request, other: &Request) {
    let blocks = |request: &Request| {
        let messages = request.messages.iter();
        messages.map(|message| (message.role, message.blocks.clone())).collect::<Vec<_>>()
    };
    assert_eq!(blocks(one), blocks(other));
}

#[test]
fn a_conversation_that_grows_shrinks_and_changes_is_read_right() {
    let long = rounds(6);
    let mut changed = long.clone();
    changed[4]["content"][0]["content"] = json!("[cleared]");
    let mut compacted = rounds(1);
    compacted[0]["content"] = json!("Summary: all was read. Read one more.");
    let states = [&rounds(1), &rounds(3), &long, &changed, &compacted, &long, &rounds(2)];
    let model = MockModel::scripted(states.map(|_| says("Fine.")));
    for state in states {
        post(&model, &request(state));
    }
    let seen = model.requests();
    assert_eq!(seen.len(), states.len());
    for (seen, state) in seen.iter().zip(states) {
        assert_same(seen, &fresh(&request(state)));
    }
}

#[test]
fn what_was_read_before_is_shared() {
    let model = MockModel::scripted([says("One."), says("Two.")]);
    post(&model, &request(&rounds(3)));
    post(&model, &request(&rounds(4)));
    let seen = model.requests();
    assert!(std::sync::Arc::ptr_eq(&seen[0].messages[5], &seen[1].messages[5]));
}

#[test]
fn rules_that_span_messages_hold_for_known_messages_too() {
    let model = MockModel::scripted([says("One.")]);
    post(&model, &request(&rounds(3)));
    let mut broken = rounds(3);
    broken.remove(2);
    assert_eq!(post(&model, &request(&broken)).status, 400);
    let mut cut = rounds(3);
    cut.truncate(6);
    assert_eq!(post(&model, &request(&cut)).status, 400);
    model.refusals();
}

#[test]
fn only_the_last_requests_are_kept() {
    let options = Options {
        keep: 2,
        ..Options::strict()
    };
    let model = MockModel::scripted_with(options, [says("One."), says("Two."), says("Three.")]);
    for count in 1..=3 {
        post(&model, &request(&rounds(count)));
    }
    let kept = model.wait_for_requests(3);
    assert_eq!(kept.iter().map(|request| request.messages.len()).collect::<Vec<_>>(), [5, 7]);
}

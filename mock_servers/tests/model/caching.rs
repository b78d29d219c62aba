//! Prompt caching over the wire: what a harness that sets breakpoints is told.

use std::time::Duration;

use mock_servers::model::{Fault, MockModel, says};
use serde_json::{Value, json};

use crate::client::post;

/// A tool of 1,006 tokens, a system prompt of 1,000 with a breakpoint, and this conversation.
fn request(messages: Value) -> Value {
    json!({
        "model": "claude-sonnet-5-5",
        "max_tokens": 100,
        "tools": [{"name": "read", "description": "d".repeat(4000), "input_schema": {"type": "object"}}],
        "system": [cached(&"s".repeat(4000))],
        "messages": messages,
    })
}

/// The tokens of both.
const PREFIX: u64 = (1 + 1000 + 5) + 1000;

fn cached(text: &str) -> Value {
    json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}})
}

fn user(content: impl Into<Value>) -> Value {
    json!({"role": "user", "content": content.into()})
}

/// What was read, written, and neither.
fn usage(model: &MockModel, request: &Value) -> [u64; 3] {
    let usage = post(model, request).json()["usage"].take();
    let fields = ["cache_read_input_tokens", "cache_creation_input_tokens", "input_tokens"];
    fields.map(|field| usage[field].as_u64().expect(field))
}

fn model(replies: usize) -> MockModel {
    MockModel::scripted((0..replies).map(|_| says("Fine.")))
}

#[test]
fn the_second_request_reads_what_the_first_wrote_for_five_minutes() {
    let model = model(3);
    let short = request(json!([user("1234")]));
    // A request that fails writes nothing.
    model.fault(Fault::Overloaded, 1);
    assert_eq!(post(&model, &short).status, 529);
    assert_eq!(usage(&model, &short), [0, PREFIX, 1]);
    model.advance(Duration::from_secs(4 * 60));
    let assistant = json!({"role": "assistant", "content": "Fine."});
    let long = request(json!([user("1234"), assistant, user("1234")]));
    assert_eq!(usage(&model, &long), [PREFIX, 0, 1 + 2 + 1]);
    model.advance(Duration::from_secs(5 * 60 + 1));
    assert_eq!(usage(&model, &short), [0, PREFIX, 1]);
}

/// That is what they are for: a changed system prompt would write everything anew.
#[test]
fn instructions_in_mid_conversation_leave_the_cache_before_them_whole() {
    let model = model(2);
    let before = request(json!([user("1234")]));
    assert_eq!(usage(&model, &before), [0, PREFIX, 1]);
    let instructions = json!({"role": "system", "content": [cached("12345678")]});
    let after = request(json!([user("1234"), instructions]));
    assert_eq!(usage(&model, &after), [PREFIX, 1 + 2, 0]);
}

#[test]
fn a_breakpoint_on_the_whole_request_stands_on_its_last_block() {
    let model = model(1);
    let mut request = request(json!([user("1234")]));
    request["system"] = json!("s".repeat(4000));
    request["cache_control"] = json!({"type": "ephemeral"});
    assert_eq!(usage(&model, &request), [0, PREFIX + 1, 0]);
}

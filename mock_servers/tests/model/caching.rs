//! Prompt caching over the wire: what a harness that sets breakpoints is told.

use std::time::Duration;

use mock_servers::model::{MockModel, says};
use serde_json::{Value, json};

use crate::client::post;

/// Tools of 1,000 tokens, a system prompt of 1,000 tokens with a breakpoint, and this conversation.
fn request(tools: &[&str], messages: Value) -> Value {
    let tools = tools.iter().map(|name| {
        json!({"name": name, "description": "d".repeat(4000), "input_schema": {"type": "object"}})
    });
    json!({
        "model": "claude-sonnet-5-5",
        "max_tokens": 100,
        "tools": tools.collect::<Vec<_>>(),
        "system": [{"type": "text", "text": "s".repeat(4000), "cache_control": {"type": "ephemeral"}}],
        "messages": messages,
    })
}

/// What was read, written, and neither.
fn usage(model: &MockModel, request: &Value) -> [u64; 3] {
    let usage = post(model, request).json()["usage"].take();
    [
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
        "input_tokens",
    ]
    .map(|field| usage[field].as_u64().expect(field))
}

fn model(replies: usize) -> MockModel {
    MockModel::scripted((0..replies).map(|_| says("Fine.")))
}

/// One tool: name, description and schema.
const TOOL: u64 = 1 + 1000 + 5;
const SYSTEM: u64 = 1000;

#[test]
fn the_second_request_reads_what_the_first_wrote() {
    let model = model(2);
    let short = request(&["read"], json!([{"role": "user", "content": "1234"}]));
    assert_eq!(usage(&model, &short), [0, TOOL + SYSTEM, 1]);
    let long = request(
        &["read"],
        json!([
            {"role": "user", "content": "1234"},
            {"role": "assistant", "content": "Fine."},
            {"role": "user", "content": "1234"},
        ]),
    );
    assert_eq!(usage(&model, &long), [TOOL + SYSTEM, 0, 1 + 2 + 1]);
}

/// That is what they are for: a changed system prompt would write everything anew.
#[test]
fn instructions_in_mid_conversation_leave_the_cache_before_them_whole() {
    let model = model(2);
    let mut messages = vec![json!({"role": "user", "content": "1234"})];
    let before = request(&["read"], json!(messages));
    assert_eq!(usage(&model, &before), [0, TOOL + SYSTEM, 1]);
    let control = json!({"type": "ephemeral"});
    let block = json!({"type": "text", "text": "12345678", "cache_control": control});
    messages.push(json!({"role": "system", "content": [block]}));
    let after = request(&["read"], json!(messages));
    assert_eq!(usage(&model, &after), [TOOL + SYSTEM, 1 + 2, 0]);
}

#[test]
fn a_breakpoint_that_moves_with_the_conversation_reads_all_that_was_there() {
    let model = model(2);
    let cached = |text: &str| json!([{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]);
    let first = request(
        &["read"],
        json!([{"role": "user", "content": cached("1234")}]),
    );
    assert_eq!(usage(&model, &first), [0, TOOL + SYSTEM + 1, 0]);
    // The same words, once as a block and once as a string, are the same prefix.
    let second = request(
        &["read"],
        json!([
            {"role": "user", "content": "1234"},
            {"role": "assistant", "content": "Fine."},
            {"role": "user", "content": cached("5678")},
        ]),
    );
    assert_eq!(usage(&model, &second), [TOOL + SYSTEM + 1, 2 + 1, 0]);
}

#[test]
fn a_new_tool_misses() {
    let model = model(2);
    let talk = json!([{"role": "user", "content": "1234"}]);
    usage(&model, &request(&["read"], talk.clone()));
    let after_connect = usage(&model, &request(&["read", "search"], talk));
    assert_eq!(after_connect, [0, 2 * TOOL + 1 + SYSTEM, 1]);
}

#[test]
fn five_minutes_without_a_hit_end_an_entry() {
    let model = model(3);
    let request = request(&["read"], json!([{"role": "user", "content": "1234"}]));
    usage(&model, &request);
    model.advance(Duration::from_secs(4 * 60));
    assert_eq!(usage(&model, &request)[0], TOOL + SYSTEM);
    model.advance(Duration::from_secs(5 * 60 + 1));
    assert_eq!(usage(&model, &request), [0, TOOL + SYSTEM, 1]);
}

#[test]
fn a_breakpoint_on_the_whole_request_stands_on_its_last_block() {
    let model = model(1);
    let mut request = request(&["read"], json!([{"role": "user", "content": "1234"}]));
    request["system"] = json!("s".repeat(4000));
    request["cache_control"] = json!({"type": "ephemeral"});
    assert_eq!(usage(&model, &request), [0, TOOL + SYSTEM + 1, 0]);
}

#[test]
fn a_refused_or_failed_request_writes_nothing() {
    let model = model(1);
    model.fault(mock_servers::model::Fault::Overloaded, 1);
    let request = request(&["read"], json!([{"role": "user", "content": "1234"}]));
    assert_eq!(post(&model, &request).status, 529);
    assert_eq!(usage(&model, &request)[0], 0);
}

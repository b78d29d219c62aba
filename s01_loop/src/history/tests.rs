//! The shapes a conversation may have, and what must not bend them.
//!
//! A loop meets each of these sooner or later: an interrupted turn, a notice at the wrong moment, a compacted past.
//! Invariant: what a test compares is the whole conversation, in a form short enough to read.

use serde_json::{Value, json};

use super::*;

fn call(id: &str) -> ToolCall {
    ToolCall::new(id, "bash", json!({"command": "ls"}))
}

fn asks(ids: &[&str]) -> Message {
    Message::new(Role::Assistant, ids.iter().map(|id| Block::ToolUse(call(id))).collect())
}

/// Role and content of each message, short enough to compare by eye.
fn shape(history: &History) -> Vec<String> {
    let block = |block: &Block| match block {
        Block::Text { text, .. } => text.clone(),
        Block::ToolUse(call) => format!("call {}", call.id),
        Block::ToolResult {
            tool_use_id,
            content,
            ..
        } => format!("{tool_use_id}: {content}"),
        Block::Other(value) => value.to_string(),
    };
    history
        .iter()
        .map(|message| message.blocks().iter().map(block).collect::<Vec<_>>().join(" | "))
        .collect()
}

#[test]
fn answers_are_kept_in_the_order_of_the_calls_and_a_note_comes_behind_them() {
    let mut history = History::default();
    history.user("go");
    history.push(asks(&["a", "b", "c"]));
    for id in ["c", "a"] {
        history.answer(&call(id), Output::ok(id.to_uppercase()));
        history.remind([format!("mail {id}")]);
    }
    assert_eq!(shape(&history)[2], "a: A | c: C");
    history.answer(&call("b"), Output::ok("B"));
    assert_eq!(
        shape(&history),
        ["go", "call a | call b | call c", "a: A | b: B | c: C | mail c | mail a"]
    );
}

#[test]
fn an_interrupted_call_is_answered_before_the_next_request() {
    let mut history = History::default();
    history.user("go");
    history.push(asks(&["a", "b"]));
    history.answer(&call("a"), Output::ok("A"));
    history.user("something else");
    assert_eq!(
        shape(&history)[2],
        format!("a: A | b: {INTERRUPTED_CALL} | {INTERRUPTED_TURN} | something else")
    );
}

#[test]
fn a_request_that_got_no_reply_is_followed_by_the_next_in_one_message() {
    let mut history = History::default();
    history.user("first");
    history.user("second");
    assert_eq!(shape(&history), [format!("first | {INTERRUPTED_TURN} | second")]);
}

#[test]
fn a_cut_that_tears_a_call_from_its_result_is_mended() {
    let results = |ids: &[&str]| {
        Message::new(
            Role::User,
            ids.iter().map(|id| call(id).answer(Output::ok(id.to_uppercase()))).collect(),
        )
    };
    let mut history = History::default();
    history.replace(vec![
        results(&["lost"]),
        Message::assistant("before the first request"),
        Message::user("go"),
        asks(&["a", "b"]),
        results(&["b", "b", "stray"]),
        Message::assistant("so"),
        asks(&["c"]),
        Message::user("next"),
        asks(&["d"]),
    ]);
    assert_eq!(
        shape(&history)[..4],
        [
            "go".to_owned(),
            "call a | call b".into(),
            format!("a: {INTERRUPTED_CALL} | b: B"),
            "so | call c".into()
        ]
    );
    assert_eq!(shape(&history)[4], format!("c: {INTERRUPTED_CALL} | next"));
    assert_eq!(history.open_calls().count(), 1);
}

#[test]
fn compaction_in_the_middle_of_a_turn_keeps_the_turn_open_and_its_notes() {
    let mut history = History::default();
    history.user("first");
    history.push(Message::assistant("fine"));
    history.user("go");
    history.push(asks(&["a"]));
    history.remind(["mail"]);
    history.replace(vec![Message::user("a summary; now: go"), asks(&["a"])]);
    history.answer(&call("a"), Output::ok("A"));
    assert_eq!(shape(&history)[2], "a: A | mail");
    assert_eq!(history.turn().len(), 3);
    history.user("next");
    assert_eq!(shape(&history)[2], format!("a: A | mail | {INTERRUPTED_TURN} | next"));
    assert_eq!(history.turn().len(), 1);
}

#[test]
fn the_turn_is_found_again_behind_a_stop_hook_and_beside_results() {
    let mut history = History::default();
    history.user("first");
    history.push(asks(&["a"]));
    history.answer(&call("a"), Output::ok("A"));
    history.user("second");
    history.push(Message::assistant("done"));
    history.remind(["<stop-hook>not yet</stop-hook>"]);
    let (before, request) = (shape(&history), history.request().to_owned());
    history.replace(history.to_vec());
    assert_eq!(request, "second");
    assert_eq!(shape(&history), before);
    assert_eq!(history.turn().len(), 3, "the turn begins at its request");

    history.replace(vec![Message::user("resumed"), Message::assistant("hello")]);
    assert_eq!(history.turn().len(), 2);
}

#[test]
fn a_message_that_fits_is_taken_as_it_is() {
    let mut history = History::default();
    history.user("go");
    history.push(asks(&["a", "b"]));
    for id in ["a", "b"] {
        history.answer(&call(id), Output::ok("x".repeat(400)));
    }
    let old: Vec<*const str> = history.iter().map(|message| &raw const *message.wire()).collect();
    history.replace(history.to_vec());
    let new: Vec<*const str> = history.iter().map(|message| &raw const *message.wire()).collect();
    assert!(std::iter::zip(&old, &new).all(|(old, new)| std::ptr::eq(*old, *new)));
    let less = history.tokens_with(&history[..1]);
    assert!(less + 200 < history.tokens(), "{less}");
}

#[test]
fn an_empty_reply_an_empty_note_and_a_stray_answer_add_nothing() {
    let mut history = History::default();
    history.answer(&call("a"), Output::ok("A"));
    history.user("go");
    history.push(Message::new(Role::Assistant, Vec::new()));
    history.remind([" "]);
    history.answer(&call("a"), Output::ok("A"));
    assert_eq!(shape(&history), ["go"]);
    let stored: Vec<Value> =
        history.iter().map(|message| serde_json::from_str(message.wire()).unwrap()).collect();
    assert_eq!(stored, [json!({"role": "user", "content": [{"type": "text", "text": "go"}]})]);
}

#[test]
fn the_size_is_what_the_api_counted_and_a_quarter_of_the_bytes_since() {
    let mut history = History::default();
    history.user("go");
    let small = bytes(&history);
    assert_eq!(history.tokens(), small / 4);
    history.counted = (1_000, small);
    history.push(Message::assistant("x".repeat(400)));
    let came = (bytes(&history) - small) / 4;
    assert_eq!(history.tokens(), 1_000 + came);
    assert_eq!(history.tokens_with(&[]), 1_000 - small / 4);
}

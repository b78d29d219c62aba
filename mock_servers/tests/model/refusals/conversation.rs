//! The rules that span a request: order, pairs, breakpoints, length.

use mock_servers::model::{MockModel, Options, says};
use serde_json::{Value, json};

use super::{
    assert_invalid, assert_refused, assistant, cached, call, result, talk, text, user, with,
};
use crate::client::post;

#[test]
fn the_user_begins_and_the_assistant_ends_without_white_space() {
    assert_invalid(&[
        (
            talk(json!([assistant(json!("a"))])),
            "messages: first message must use the \"user\" role",
        ),
        (
            talk(json!([
                user(json!("a")),
                assistant(json!("The answer is "))
            ])),
            "messages: final assistant content cannot end with trailing whitespace",
        ),
    ]);
}

#[test]
fn a_call_has_its_result_first_in_the_next_message() {
    let missing = |place: &str, ids: &str| {
        format!(
            "{place}: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}. Each `tool_use` \
             block must have a corresponding `tool_result` block in the next message."
        )
    };
    let late = missing("messages.1", "toolu_1")
        + " Its result is at messages.2.content.1, after other content: results come first in their message.";
    assert_invalid(&[
        (
            talk(json!([
                user(json!("a")),
                assistant(json!([call("toolu_1")]))
            ])),
            &missing("messages.1", "toolu_1"),
        ),
        (
            talk(json!([
                user(json!("a")),
                assistant(json!([call("toolu_1")])),
                user(json!("b"))
            ])),
            &missing("messages.1", "toolu_1"),
        ),
        (
            talk(json!([
                user(json!("a")),
                assistant(json!([call("toolu_1"), call("toolu_2"), call("toolu_3")])),
                user(json!([result("toolu_2")])),
            ])),
            &missing("messages.1", "toolu_1, toolu_3"),
        ),
        (
            talk(json!([
                user(json!("a")),
                assistant(json!([call("toolu_1")])),
                user(json!([text("a reminder"), result("toolu_1")])),
            ])),
            &late,
        ),
        // Two messages of the user in a row are one, so a reminder of its own comes first all the same.
        (
            talk(json!([
                user(json!("a")),
                assistant(json!([call("toolu_1")])),
                user(json!("a reminder")),
                user(json!([result("toolu_1")])),
            ])),
            &late,
        ),
    ]);
}

#[test]
fn a_result_answers_a_call_of_the_message_before_once() {
    let orphan = "unexpected `tool_use_id` found in `tool_result` blocks: toolu_9. Each `tool_result` block must have a \
                  corresponding `tool_use` block in the previous message.";
    assert_invalid(&[
        (
            talk(json!([user(json!([text("a"), result("toolu_9")]))])),
            &format!("messages.0.content.1: {orphan}"),
        ),
        (
            talk(json!([
                user(json!("a")),
                assistant(json!([call("toolu_1")])),
                user(json!([result("toolu_1"), result("toolu_9")])),
            ])),
            &format!("messages.2.content.1: {orphan}"),
        ),
        (
            talk(json!([
                user(json!("a")),
                assistant(json!([call("toolu_1")])),
                user(json!([result("toolu_1"), result("toolu_1")])),
            ])),
            "messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with \
             id: toolu_1",
        ),
    ]);
}

#[test]
fn at_most_four_breakpoints_are_set() {
    let too_many = "A maximum of 4 blocks with cache_control may be provided. Found 5.";
    let blocks = |count: usize| (0..count).map(|_| cached("a")).collect::<Vec<_>>();
    let spread = json!({
        "model": "claude-sonnet-5-5",
        "max_tokens": 1000,
        "cache_control": {"type": "ephemeral"},
        "tools": [{"name": "ls", "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral"}}],
        "system": [cached("Be brief.")],
        "messages": [user(json!(blocks(2)))],
    });
    let wrong = |control: Value| {
        with(
            "system",
            json!([{"type": "text", "text": "Be brief.", "cache_control": control}]),
        )
    };
    assert_invalid(&[
        (with("system", json!(blocks(5))), too_many),
        (spread, too_many),
        (
            wrong(json!({"type": "forever"})),
            "system.0.cache_control.type: Input should be 'ephemeral'",
        ),
        (
            wrong(json!({"type": "ephemeral", "ttl": "2h"})),
            "system.0.cache_control.ttl: Input should be '5m' or '1h'",
        ),
    ]);
    let model = MockModel::scripted([says("Fine.")]);
    assert_eq!(post(&model, &with("system", json!(blocks(4)))).status, 200);
}

#[test]
fn a_prompt_longer_than_the_window_is_refused() {
    let model = MockModel::scripted_with(
        Options {
            context_tokens: 10,
            ..Options::strict()
        },
        [says("Fine.")],
    );
    let asks = |bytes: usize| talk(json!([user(json!("a".repeat(bytes)))]));
    let message = "prompt is too long: 11 tokens > 10 maximum";
    assert_refused(
        &post(&model, &asks(41)),
        400,
        "invalid_request_error",
        message,
    );
    assert_eq!(post(&model, &asks(40)).status, 200);
    model.refusals();
}

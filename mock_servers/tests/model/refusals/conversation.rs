//! The rules that span a request: order, pairs, breakpoints, length.

use mock_servers::model::{MockModel, Options, says};
use serde_json::{Value, json};

use super::{
    assert_invalid, assert_refused, assert_table, assistant, cached, call, result, talk, text,
    user, with,
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

/// The rows are what the API answered, with the positions of the messages as they were sent. `u` is a message of the
/// user, `a` one of the assistant, `s` instructions, `d` those that say nothing, `c` a call, `r` its result, `w` what
/// the API's own server found.
#[test]
fn instructions_follow_the_user_and_precede_the_assistant() {
    let rows = r#"
s -> messages.0: use the top-level 'system' parameter for the initial system prompt; the directive-only form (content: [] with output_config) is accepted at any position
s s u -> messages.0: use the top-level…
u a s u -> messages.2: role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool result; the directive-only form (content: [] with output_config) is accepted at any position
u a s s u -> messages.2: role 'system' must follow…
u u a s u -> messages.3: role 'system' must follow…
u c s r -> messages.2: role 'system' must follow…
u s u -> messages.1: role 'system' must precede an 'assistant' message or end the array; the directive-only form (content: [] with output_config) is accepted at any position
u s s u -> messages.2: role 'system' must precede…
u s d u -> messages.1: role 'system' must precede…
u s s a u s
u c r s
u w s a
d u s d a d u d
"#;
    let words = |row: &str| {
        let message = |word| match word {
            "u" => user(json!("Hi")),
            "a" => assistant(json!("Hello")),
            "s" => json!({"role": "system", "content": "Be brief."}),
            "d" => json!({"role": "system", "content": [], "output_config": {"effort": "low"}}),
            "c" => assistant(json!([call("toolu_1")])),
            "r" => user(json!([result("toolu_1")])),
            _ => assistant(json!([{"type": "web_search_tool_result", "content": []}])),
        };
        let messages = row.split(' ').map(message).collect::<Vec<_>>();
        json!({"messages": messages})
    };
    for row in rows.lines().filter(|row| !row.is_empty()) {
        let (row, message) = row.split_once(" -> ").unwrap_or((row, ""));
        let arrow = if message.is_empty() { "" } else { " -> " };
        assert_table(&format!(
            "[mid-conversation-output-config-2026-07-01] {}{arrow}{message}",
            words(row)
        ));
    }
}

#[test]
fn instructions_are_text() {
    let rows = r#"
{"role": "system"} -> content: Field required
{"role": "system", "content": null} -> content: Input should be a valid string or array
{"role": "system", "content": ""} -> system content must contain at least one block
{"role": "system", "content": []} -> system content must contain at least one block
{"role": "system", "content": [{"type": "text", "text": ""}]} -> content.0: text content blocks must be non-empty
{"role": "system", "content": [{"type": "image"}]} -> content.0.type: Input should be 'text'
{"role": "system", "content": "a", "name": "b"} -> name: Extra inputs are not permitted
"#;
    let rows = rows.lines().filter_map(|row| row.split_once(" -> "));
    let rows = rows.map(|(message, rule)| {
        let place = if rule.starts_with("system") {
            "messages.1: "
        } else {
            "messages.1."
        };
        format!(
            r#"{{"messages": [{{"role": "user", "content": "a"}}, {message}]}} -> {place}{rule}"#
        ) + "\n"
    });
    assert_table(&rows.collect::<String>());
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

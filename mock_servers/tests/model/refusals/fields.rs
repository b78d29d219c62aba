//! The rules of single fields, messages and blocks.

use serde_json::{Value, json};

use super::{assert_invalid, assistant, call, result, talk, text, user, with, without};

#[test]
fn fields_are_there_and_have_their_type() {
    assert_invalid(&[
        (without("max_tokens"), "max_tokens: Field required"),
        (without("messages"), "messages: Field required"),
        (without("model"), "model: Field required"),
        (
            with("model", json!(4)),
            "model: Input should be a valid string",
        ),
        (
            with("model", json!("")),
            "model: String should have at least 1 character",
        ),
        (
            with("max_tokens", json!("1000")),
            "max_tokens: Input should be a valid integer",
        ),
        (
            with("max_tokens", json!(-5)),
            "max_tokens: Input should be greater than or equal to 0",
        ),
        (
            with("stream", json!("yes")),
            "stream: Input should be a valid boolean",
        ),
        (with("temperature", json!(1.5)), "temperature: range: 0..1"),
        (
            with("stop_sequences", json!(["a", 1])),
            "stop_sequences.1: Input should be a valid string",
        ),
        (
            with("metadata", json!({"user_id": 7})),
            "metadata.user_id: Input should be a valid string",
        ),
        (
            with("reminder", json!(true)),
            "reminder: Extra inputs are not permitted",
        ),
        (
            with("messages", json!({})),
            "messages: Input should be a valid array",
        ),
        (
            with("system", json!(1)),
            "system: Input should be a valid string or array",
        ),
        (
            with("system", json!([text("")])),
            "system.0: text content blocks must be non-empty",
        ),
        (
            with("max_tokens", json!(128_001)),
            "max_tokens: 128001 > 128000, which is the maximum allowed number of output tokens for claude-sonnet-5-5",
        ),
    ]);
}

#[test]
fn a_message_has_a_role_and_content() {
    assert_invalid(&[
        (
            talk(json!([])),
            "messages: at least one message is required",
        ),
        (
            talk(json!(["hello"])),
            "messages.0: Input should be an object",
        ),
        (
            talk(json!([{"role": "user"}])),
            "messages.0.content: Field required",
        ),
        (
            talk(json!([{"content": "hello"}])),
            "messages.0.role: Field required",
        ),
        (
            talk(json!([{"role": "robot", "content": "hello"}])),
            "messages.0.role: Input should be 'user', 'assistant' or 'system'",
        ),
        (
            talk(json!([{"role": "user", "content": "hello", "time": "12:00"}])),
            "messages.0.time: Extra inputs are not permitted",
        ),
    ]);
}

#[test]
fn content_is_text_or_blocks_of_known_types() {
    assert_invalid(&[
        (
            talk(json!([user(json!(7))])),
            "messages.0.content: Input should be a valid string or array",
        ),
        (
            talk(json!([user(json!([7]))])),
            "messages.0.content.0: Input should be an object",
        ),
        (
            talk(json!([user(json!([{"text": "a"}]))])),
            "messages.0.content.0.type: Field required",
        ),
        (
            talk(json!([user(json!([{"type": "text"}]))])),
            "messages.0.content.0.text.text: Field required",
        ),
        (
            talk(json!([user(json!([{"type": "txt", "text": "a"}]))])),
            "messages.0.content.0: Input tag 'txt' found using 'type' does not match any of the expected tags: \
             'bash_code_execution_tool_result', 'code_execution_tool_result', 'container_upload', 'document', 'image', \
             'redacted_thinking', 'search_result', 'server_tool_use', 'text', \
             'text_editor_code_execution_tool_result', 'thinking', 'tool_result', 'tool_search_tool_result', \
             'tool_use', 'web_fetch_tool_result', 'web_search_tool_result'",
        ),
        (
            talk(json!([
                user(json!("a")),
                assistant(json!([call("toolu_1")])),
                user(
                    json!([{"type": "tool_result", "tool_use_id": "toolu_1", "content": [call("toolu_2")]}])
                ),
            ])),
            "messages.2.content.0.tool_result.content.0: Input tag 'tool_use' found using 'type' does not match any of \
             the expected tags: 'browser_state', 'document', 'image', 'search_result', 'text', 'tool_reference'",
        ),
        (
            talk(json!([user(
                json!([{"type": "text", "text": "a", "extra": 1}])
            )])),
            "messages.0.content.0.text.extra: Extra inputs are not permitted",
        ),
    ]);
}

#[test]
fn nothing_is_empty() {
    let empty =
        "all messages must have non-empty content except for the optional final assistant message";
    assert_invalid(&[
        (
            talk(json!([user(json!(""))])),
            &format!("messages.0: {empty}"),
        ),
        (
            talk(json!([user(json!([]))])),
            &format!("messages.0: {empty}"),
        ),
        (
            talk(json!([
                user(json!("a")),
                assistant(json!([])),
                user(json!("b"))
            ])),
            &format!("messages.1: {empty}"),
        ),
        (
            talk(json!([user(json!([text("a"), text("")]))])),
            "messages.0.content.1.text: text content blocks must be non-empty",
        ),
        (
            talk(json!([user(json!(" \n"))])),
            "messages.0.content: text content blocks must contain non-whitespace text",
        ),
        (
            talk(json!([
                user(json!("a")),
                assistant(json!([call("toolu_1")])),
                user(json!([{"type": "tool_result", "tool_use_id": "toolu_1", "is_error": true}])),
            ])),
            "messages.2.content.0.tool_result: content cannot be empty if `is_error` is true",
        ),
    ]);
}

#[test]
fn tool_blocks_are_well_formed() {
    let in_call = |field: &str, value: Value| {
        let mut call = call("toolu_1");
        call[field] = value;
        talk(json!([
            user(json!("a")),
            assistant(json!([call])),
            user(json!([result("toolu_1")]))
        ]))
    };
    assert_invalid(&[
        (
            in_call("input", json!("{}")),
            "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
        ),
        (
            in_call("id", json!("a b")),
            "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
        ),
        (
            in_call("name", json!("a.b")),
            "messages.1.content.0.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
        ),
        (
            talk(json!([user(json!([call("toolu_1")]))])),
            "messages.0.content.0: `tool_use` blocks can only be in `assistant` messages",
        ),
        (
            talk(json!([
                user(json!("a")),
                assistant(json!([result("toolu_1")]))
            ])),
            "messages.1.content.0: `tool_result` blocks can only be in `user` messages",
        ),
        (
            talk(json!([
                user(json!("a")),
                assistant(json!([call("toolu_1")])),
                user(json!([result("toolu_1")])),
                assistant(json!([text("again"), call("toolu_1")])),
                user(json!([result("toolu_1")])),
            ])),
            "messages.3.content.1: `tool_use` ids must be unique",
        ),
    ]);
}

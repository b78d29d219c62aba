//! Every rule of the Messages API that the mock enforces: one row each, with status, error type and message.

use mock_servers::model::{MockModel, Options, says};
use serde_json::{Value, json};

use crate::client::{Response, hello, post, post_bytes, send};

/// A request with this conversation.
fn talk(messages: Value) -> Value {
    with("messages", messages)
}

/// A valid request with one field changed.
fn with(field: &str, value: Value) -> Value {
    let mut request = hello();
    request[field] = value;
    request
}

/// A valid request with one field less.
fn without(field: &str) -> Value {
    let mut request = hello();
    request.as_object_mut().expect("an object").remove(field);
    request
}

/// A request with one tool.
fn offers(tool: Value) -> Value {
    with("tools", json!([tool]))
}

/// A request with one tool of this schema.
fn takes(schema: Value) -> Value {
    offers(json!({"name": "read", "input_schema": schema}))
}

fn user(content: Value) -> Value {
    json!({"role": "user", "content": content})
}

fn assistant(content: Value) -> Value {
    json!({"role": "assistant", "content": content})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "ls", "input": {}})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "done"})
}

fn cached(content: &str) -> Value {
    json!({"type": "text", "text": content, "cache_control": {"type": "ephemeral"}})
}

fn assert_refused(response: &Response, status: u16, kind: &str, message: &str) {
    let body = response.json();
    let found = (
        response.status,
        &body["type"],
        &body["error"]["type"],
        &body["error"]["message"],
    );
    assert_eq!(
        found,
        (status, &json!("error"), &json!(kind), &json!(message))
    );
    let id = body["request_id"].as_str().expect("a request id");
    assert!(id.starts_with("req_"), "{id}");
    assert_eq!(response.header("request-id"), Some(id));
}

/// Posts each row and expects a 400 with its message.
fn assert_invalid(rows: &[(Value, &str)]) {
    let model = MockModel::scripted([]);
    for (request, message) in rows {
        assert_refused(
            &post(&model, request),
            400,
            "invalid_request_error",
            message,
        );
    }
    assert_eq!(model.refusals().len(), rows.len());
    assert_eq!(model.requests().len(), 0);
}

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
            with("max_tokens", json!(0)),
            "max_tokens: Input should be greater than or equal to 1",
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
            with("max_tokens", json!(64_001)),
            "max_tokens: 64001 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5",
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
            "messages.0.role: Input should be 'user' or 'assistant'",
        ),
        (
            talk(json!([{"role": "system", "content": "Be brief."}])),
            "messages.0: Unexpected role \"system\". The Messages API accepts a top-level `system` parameter, not \
             \"system\" as an input message role.",
        ),
        (
            talk(json!([{"role": "user", "content": "hello", "time": "12:00"}])),
            "messages.0.time: Extra inputs are not permitted",
        ),
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
             'code_execution_tool_result', 'container_upload', 'document', 'image', 'redacted_thinking', \
             'search_result', 'server_tool_use', 'text', 'thinking', 'tool_result', 'tool_use', \
             'web_fetch_tool_result', 'web_search_tool_result'",
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

#[test]
fn tools_are_well_formed() {
    let schema = json!({"type": "object"});
    let named = |name: &str| offers(json!({"name": name, "input_schema": schema}));
    let pattern = "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'";
    let tool = json!({"name": "read", "input_schema": schema});
    let mut forced = offers(tool.clone());
    forced["tool_choice"] = json!({"type": "tool", "name": "write"});
    assert_invalid(&[
        (named("mcp.read"), pattern),
        (named(""), pattern),
        (named(&"a".repeat(129)), pattern),
        (
            offers(json!({"input_schema": schema})),
            "tools.0.custom.name: Field required",
        ),
        (
            offers(json!({"name": "read"})),
            "tools.0.custom.input_schema: Field required",
        ),
        (
            offers(json!({"name": "read", "input_schema": schema, "server": "docs"})),
            "tools.0.custom.server: Extra inputs are not permitted",
        ),
        (
            offers(json!({"name": "read", "description": 1, "input_schema": schema})),
            "tools.0.custom.description: Input should be a valid string",
        ),
        (
            with("tools", json!([tool, tool])),
            "tools: Tool names must be unique.",
        ),
        (
            with("tools", json!({})),
            "tools: Input should be a valid array",
        ),
        (
            forced,
            "tool_choice: Tool 'write' not found in provided tools",
        ),
    ]);
}

#[test]
fn an_input_schema_is_a_json_schema_of_an_object() {
    let invalid = |place: &str| {
        format!(
            "tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12 \
             (https://json-schema.org/draft/2020-12). At `{place}`."
        )
    };
    let property = |schema: Value| takes(json!({"type": "object", "properties": {"path": schema}}));
    let key = |key: &str| takes(json!({"type": "object", "properties": {key: {"type": "string"}}}));
    let keys = "tools.0.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'";
    let long = "a".repeat(65);
    assert_invalid(&[
        (
            takes(json!("object")),
            "tools.0.custom.input_schema: Input should be an object",
        ),
        (
            takes(json!({})),
            "tools.0.custom.input_schema.type: Field required",
        ),
        (
            takes(json!({"type": "string"})),
            "tools.0.custom.input_schema.type: Input should be 'object'",
        ),
        (
            takes(json!({"type": "object", "oneOf": [{}]})),
            "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level",
        ),
        (key("file name"), &format!("{keys} ('file name' does not)")),
        (key(&long), &format!("{keys} ('{long}' does not)")),
        (
            takes(json!({"type": "object", "properties": []})),
            &invalid("properties"),
        ),
        (
            takes(json!({"type": "object", "required": "path"})),
            &invalid("required"),
        ),
        (
            takes(json!({"type": "object", "required": ["a", "a"]})),
            &invalid("required"),
        ),
        (
            property(json!("string")),
            &invalid("properties.path.expected a schema"),
        ),
        (
            property(json!({"type": "text"})),
            &invalid("properties.path.type"),
        ),
        (
            property(json!({"minimum": "1"})),
            &invalid("properties.path.minimum"),
        ),
        (
            property(json!({"exclusiveMinimum": true})),
            &invalid("properties.path.exclusiveMinimum"),
        ),
        (
            property(json!({"maxLength": -1})),
            &invalid("properties.path.maxLength"),
        ),
        (
            property(json!({"enum": "a"})),
            &invalid("properties.path.enum"),
        ),
        (
            property(json!({"items": [{"type": "string"}]})),
            &invalid("properties.path.items.expected a schema"),
        ),
        (
            property(json!({"anyOf": []})),
            &invalid("properties.path.anyOf"),
        ),
        (
            property(json!({"anyOf": [{"type": 1}]})),
            &invalid("properties.path.anyOf.0.type"),
        ),
        (
            property(json!({"description": 1})),
            &invalid("properties.path.description"),
        ),
        (
            takes(json!({"type": "object", "$defs": {"Item": {"type": "nothing"}}})),
            &invalid("$defs.Item.type"),
        ),
    ]);
}

#[test]
fn at_most_four_breakpoints_are_set() {
    let too_many = "A maximum of 4 blocks with cache_control may be provided. Found 5.";
    let blocks = |count: usize| (0..count).map(|_| cached("a")).collect::<Vec<_>>();
    let spread = json!({
        "model": "claude-sonnet-4-5",
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
fn a_body_is_json() {
    let model = MockModel::scripted([]);
    let rows: [(&[u8], &str); 6] = [
        (b"", "EOF while parsing a value at line 1 column 0"),
        (
            b"[]",
            "expected one object, nested less than 128 levels deep",
        ),
        (
            b"{\"model\": \"m\",}",
            "key must be a string at line 1 column 15",
        ),
        (
            b"{\"messages\": [{\"role\": nope}]}",
            "expected ident at line 1 column 25",
        ),
        (
            b"{\"model\": \"m\"} x",
            "trailing characters at line 1 column 16",
        ),
        (
            b"{\"model\": \"\xff\"}",
            "invalid utf-8 sequence of 1 bytes from index 11",
        ),
    ];
    for (body, reason) in rows {
        let response = post_bytes(&model, "/v1/messages", body);
        let message = format!("The request body is not valid JSON: {reason}");
        assert_refused(&response, 400, "invalid_request_error", &message);
    }
    model.refusals();
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

#[test]
fn a_body_over_32_megabytes_is_refused() {
    let model = MockModel::scripted([]);
    let body = vec![b' '; 32 * 1024 * 1024 + 1];
    let response = post_bytes(&model, "/v1/messages", &body);
    assert_refused(
        &response,
        413,
        "request_too_large",
        "Request exceeds the maximum size",
    );
}

#[test]
fn headers_and_routes_are_those_of_the_api() {
    let model = MockModel::scripted_with(
        Options {
            require_key: true,
            ..Options::strict()
        },
        [],
    );
    let version = ("anthropic-version", "2023-06-01");
    let no_key = send(&model, "POST", "/v1/messages", &[version], b"{}");
    assert_refused(
        &no_key,
        401,
        "authentication_error",
        "x-api-key header is required",
    );
    let empty = send(
        &model,
        "GET",
        "/v1/models",
        &[version, ("x-api-key", " ")],
        b"",
    );
    assert_refused(
        &empty,
        401,
        "authentication_error",
        "x-api-key header is required",
    );
    let bearer = send(
        &model,
        "GET",
        "/v1/models",
        &[version, ("authorization", "Bearer abc")],
        b"",
    );
    assert_eq!(bearer.status, 200);
    let key = ("x-api-key", "abc");
    let no_version = send(&model, "POST", "/v1/messages", &[key], b"{}");
    let message = "anthropic-version: header is required";
    assert_refused(&no_version, 400, "invalid_request_error", message);
    let nowhere = send(&model, "POST", "/v1/chat", &[version, key], b"{}");
    assert_refused(&nowhere, 404, "not_found_error", "Not found");
    let unknown = send(&model, "GET", "/v1/models/gpt", &[version, key], b"");
    assert_refused(&unknown, 404, "not_found_error", "model: gpt");
    let get = send(&model, "GET", "/v1/messages", &[version, key], b"");
    assert_refused(&get, 405, "invalid_request_error", "Method Not Allowed");
}

//! Every rule of the Messages API that the mock enforces: one row each, with status, error type and message.

use mock_servers::model::MockModel;
use serde_json::{Value, json};

use crate::client::{Response, hello, post};

mod conversation;
mod fields;
mod tools;
mod transport;

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

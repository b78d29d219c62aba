//! Every rule of the Messages API that the mock enforces: one row each, with status, error type and message.

use mock_servers::model::{MockModel, Options, Request, says};
use serde_json::{Value, json};

use crate::client::{Response, hello, post, post_beta};

mod conversation;
mod fields;
mod media;
mod options;
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

/// Posts each line of a table, `[beta] {fields} -> message`: the fields that differ from those of an ordinary request,
/// and why they are refused. A message that ends with `…` is the beginning of one; without any the request is taken.
fn assert_table(table: &str) {
    let model = MockModel::start(Options::default(), |_: &Request| says("Fine."));
    let model = model.expect("a free port");
    for row in table.lines().filter(|row| !row.is_empty()) {
        let (betas, row) = match row.strip_prefix('[') {
            Some(row) => row.split_once("] ").expect("betas end with a bracket"),
            None => ("", row),
        };
        let (fields, message) = match row.split_once(" -> ") {
            Some((fields, message)) => (fields, Some(message)),
            None => (row, None),
        };
        let mut request = hello();
        let fields: Value = serde_json::from_str(fields).expect(row);
        for (name, value) in fields.as_object().expect("an object") {
            request[name] = value.clone();
        }
        let response = post_beta(&model, betas, &request);
        let found = response.json()["error"]["message"].take();
        let found = found.as_str();
        let status = if message.is_some() { 400 } else { 200 };
        assert_eq!(response.status, status, "{row}: {found:?}");
        match message.and_then(|message| message.strip_suffix('…')) {
            Some(start) => assert!(
                found.is_some_and(|found| found.starts_with(start)),
                "{row}: {found:?}"
            ),
            None => assert_eq!(found, message, "{row}"),
        }
    }
}

//! The messages of JSON-RPC 2.0.
//!
//! A line is parsed in two steps: first the id, then, by whoever sent the request, the result. Invariant: an unreadable
//! result fails the one request that it answers; the connection stays.

use anyhow::{Context, Result};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::text::one_line;

/// The most characters of a reason that a server gives.
const MAX_REASON: usize = 1_000;

/// The longest id of a request that is answered, as JSON: it waits in the outbox.
const MAX_ID: usize = 1_000;

/// JSON-RPC 2.0, section 5.1.
const METHOD_NOT_FOUND: i64 = -32601;

/// A message from the server (`basic`, section Messages).
#[derive(Debug, PartialEq)]
pub enum Message {
    /// It wants an answer, under an id of any JSON type; null when its own is too long.
    Request { id: Value, method: String },
    /// Its params are JSON as the server wrote them.
    Notification { method: String, params: String },
    /// It answers our request of this id.
    Answer { id: Value, outcome: Outcome },
}

/// A result as the server wrote it, or its reason for giving none.
pub type Outcome = Result<String, String>;

/// A line before it is known which message it is. Its fields are JSON, but their strings may be invalid Unicode and their
/// nesting too deep, so each is parsed by itself.
#[derive(Deserialize)]
struct Line<'a> {
    jsonrpc: Option<IgnoredAny>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl Message {
    /// Parses a line. `None` when it is text or an object of another kind: a log line on the wrong stream.
    ///
    /// # Errors
    /// When it is not UTF-8, or begins as a message and is invalid JSON: it may hold an answer.
    pub fn read(line: &[u8]) -> Result<Option<Self>> {
        let line = str::from_utf8(line).context("it sent a line that is no UTF-8")?;
        if !line.trim_start().starts_with('{') {
            return Ok(None);
        }
        let line: Line = serde_json::from_str(line).context("it sent invalid JSON")?;
        let method = line.method.map(or_default::<String>);
        let id = line.id.map(|id| match id.get().len() {
            ..=MAX_ID => or_default(id),
            _ => Value::Null,
        });
        let message = match (id, method, line.result, line.error) {
            (Some(id), Some(method), ..) => Self::Request { id, method },
            (None, Some(method), ..) => {
                let params = line.params.map_or("null", RawValue::get).to_owned();
                Self::Notification { method, params }
            }
            (Some(id), None, Some(result), _) => Self::Answer {
                id,
                outcome: Ok(result.get().to_owned()),
            },
            (Some(id), None, None, error) => Self::Answer {
                id,
                outcome: Err(refusal(&error.map(or_default).unwrap_or_default())),
            },
            (None, None, ..) => return Ok(None),
        };
        Ok(line.jsonrpc.map(|_| message))
    }
}

/// The value, or its default when it cannot be parsed. A request whose method is unreadable gets "method not found".
pub fn or_default<T: DeserializeOwned + Default>(raw: &RawValue) -> T {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

/// An error object (JSON-RPC 2.0, section 5.1), or whatever stands in its place, as one line.
fn refusal(error: &Value) -> String {
    match (&error["message"], &error["code"]) {
        (Value::String(message), Value::Number(code)) => {
            format!("{} (code {code})", one_line(message, MAX_REASON))
        }
        (Value::Null, _) if error.is_null() => "it gave neither a result nor an error".to_owned(),
        _ => one_line(&error.to_string(), MAX_REASON),
    }
}

/// A request, as a line.
pub fn request(id: u64, method: &str, params: &Value) -> String {
    line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
}

/// A notification, as a line.
pub fn notification(method: &str, params: &Value) -> String {
    line(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
}

/// The answer to a request of the server, as a line. We announce no capabilities, so the only method is `ping`
/// (`basic/utilities/ping`).
pub fn answer(id: &Value, method: &str) -> String {
    line(&match method {
        "ping" => json!({ "jsonrpc": "2.0", "id": id, "result": {} }),
        _ => {
            let error = json!({ "code": METHOD_NOT_FOUND, "message": "method not found" });
            json!({ "jsonrpc": "2.0", "id": id, "error": error })
        }
    })
}

/// Compact JSON has no line breaks: those in strings are escaped.
fn line(message: &Value) -> String {
    format!("{message}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line as it is read: what it is, its id, and what it says.
    fn read(line: &str) -> String {
        match Message::read(line.as_bytes()) {
            Ok(Some(Message::Request { id, method })) => format!("request {id} {method}"),
            Ok(Some(Message::Notification { method, params })) => format!("told {method} {params}"),
            Ok(Some(Message::Answer { id, outcome })) => format!("answer {id} {outcome:?}"),
            Ok(None) => "none".to_owned(),
            Err(error) => format!("{error:#}"),
        }
    }

    #[test]
    fn a_line_is_a_request_a_notification_or_an_answer() {
        for row in [
            r#""id": 0, "method": "ping" => request 0 ping"#,
            r#""id": "", "method": "ping" => request "" ping"#,
            r#""id": 1.5, "method": "a" => request 1.5 a"#,
            r#""method": "a", "params": [ ] => told a [ ]"#,
            r#""method": "a" => told a null"#,
            r#""id": 7, "result": {"a": 1} => answer 7 Ok("{\"a\": 1}")"#,
            r#""id": 1, "error": {"a": 2} => answer 1 Err("{\"a\":2}")"#,
            r#""id": 1, "error": "no" => answer 1 Err("\"no\"")"#,
            r#""id": 1, "error": null => answer 1 Err("it gave neither a result nor an error")"#,
            r#""id": 1, "error": {"code": 1, "message": "no\u001b[2J\n\nway"} => answer 1 Err("no [2J way (code 1)")"#,
            // A field that cannot be parsed is no fault of the connection.
            r#""id": 1, "result": "\ud800" => answer 1 Ok("\"\\ud800\"")"#,
            r#""id": "\ud800", "result": 1 => answer null Ok("1")"#,
            r#""method": "\ud800" => told  null"#,
            r#""id": 1, "error": "\ud800" => answer 1 Err("it gave neither a result nor an error")"#,
            r#""id": "LONG", "method": "ping" => request null ping"#,
            r#""id": 1, "result": DEEP => answer 1 Ok("DEEP")"#,
        ] {
            let row = row.replace("LONG", &"x".repeat(MAX_ID));
            let row = row.replace("DEEP", &format!("{}{}", "[".repeat(999), "]".repeat(999)));
            let (fields, message) = row.split_once(" => ").unwrap();
            assert_eq!(read(&format!(r#"{{"jsonrpc": "2.0", {fields}}}"#)), message);
        }
    }

    #[test]
    fn a_log_line_is_no_message_and_what_begins_as_a_message_must_be_one() {
        for line in [
            "",
            "[INFO] listening",
            "null",
            r#"[{"jsonrpc": "2.0", "method": "ping"}]"#,
            r#"{"level": 30, "msg": "listening", "error": "none"}"#,
            r#"{"jsonrpc": "2.0", "error": {"code": -32700, "message": "parse error"}, "id": null}"#,
        ] {
            assert_eq!(read(line), "none", "{line}");
        }
        for line in [
            r#"{"jsonrpc": "2.0", "id": 1, "resu"#,
            r#"{"jsonrpc": "2.0", "result": "\u12"}"#,
            "{}{}",
        ] {
            assert!(read(line).starts_with("it sent invalid JSON: "), "{line}");
        }
        let error = Message::read(b"\xff\xfe").unwrap_err().to_string();
        assert_eq!(error, "it sent a line that is no UTF-8");
    }
}

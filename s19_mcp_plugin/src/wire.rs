//! What goes over the wire: the messages of JSON-RPC 2.0.
//!
//! A line is read in two steps: first what it answers, then, by whoever asked, the answer. Invariant: a result that cannot
//! be read fails the one request that it answers, and not the connection.

use anyhow::{Context, Result};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::plain::one_line;

/// The most characters of a reason that a server gives.
const MAX_REASON: usize = 1_000;

/// JSON-RPC 2.0, section 5.1.
const METHOD_NOT_FOUND: i64 = -32601;

/// What a server says in a line (`basic`, section Messages).
#[derive(Debug, PartialEq)]
pub enum Message {
    /// It wants an answer, under an id of any JSON type.
    Request { id: Value, method: String },
    /// It tells something, in JSON as it wrote it.
    Notification { method: String, params: String },
    /// It answers our request of this id: with a result, or with one sentence on why not.
    Answer { id: Value, outcome: Outcome },
}

/// A result as the server wrote it, or its reason for giving none.
pub type Outcome = Result<String, String>;

/// A line before it is known what it is. Its fields are JSON, but their strings may be no text and their nesting too deep:
/// that is looked at field by field.
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
    /// Reads a line. `None` when it is text, or an object of another kind: a line of a log on the wrong stream.
    ///
    /// # Errors
    /// When it is no text, or begins as a message and cannot be read to its end: it may hold what somebody waits for.
    pub fn read(line: &[u8]) -> Result<Option<Self>> {
        let line = str::from_utf8(line).context("it sent a line that is no UTF-8")?;
        if !line.trim_start().starts_with('{') {
            return Ok(None);
        }
        let line: Line = serde_json::from_str(line).context("it sent invalid JSON")?;
        let method = line.method.map(or_nothing::<String>);
        let message = match (line.id.map(or_nothing), method, line.result, line.error) {
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
                outcome: Err(refusal(&error.map(or_nothing).unwrap_or_default())),
            },
            (None, None, ..) => return Ok(None),
        };
        Ok(line.jsonrpc.map(|_| message))
    }
}

/// What stands there; nothing when it cannot be read. A request of no method is answered that there is none.
pub fn or_nothing<T: DeserializeOwned + Default>(raw: &RawValue) -> T {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

/// The sentence of an error object (JSON-RPC 2.0, section 5.1), or whatever stands in its place, in one line.
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

/// What a server's request is answered, as a line. We announce no capabilities, so a server may ask us for nothing but a
/// sign of life (`basic/utilities/ping`).
pub fn answer(id: &Value, method: &str) -> String {
    line(&match method {
        "ping" => json!({ "jsonrpc": "2.0", "id": id, "result": {} }),
        _ => {
            let error = json!({ "code": METHOD_NOT_FOUND, "message": "method not found" });
            json!({ "jsonrpc": "2.0", "id": id, "error": error })
        }
    })
}

/// JSON as it is printed here has no line breaks, also in strings: there they are escaped.
fn line(message: &Value) -> String {
    format!("{message}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Message {
        Message::read(line.as_bytes()).unwrap().unwrap()
    }

    #[test]
    fn a_line_is_a_request_a_notification_or_an_answer() {
        for id in [json!(0), json!(""), json!("a"), json!(1.5)] {
            let line = json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }).to_string();
            let method = "ping".to_owned();
            assert_eq!(read(&line), Message::Request { id, method });
        }
        let method = "notifications/message".to_owned();
        assert_eq!(
            read(r#" {"method": "notifications/message", "params": [], "jsonrpc": "2.0"}"#),
            Message::Notification {
                method,
                params: "[]".to_owned()
            }
        );
        let (id, outcome) = (json!(7), Ok(r#"{"a": 1}"#.to_owned()));
        assert_eq!(
            read(r#"{"jsonrpc": "2.0", "id": 7, "result": {"a": 1}, "more": 0}"#),
            Message::Answer { id, outcome }
        );
    }

    #[test]
    fn an_error_is_one_sentence_whatever_its_form() {
        for (error, sentence) in [
            (
                r#"{"code": -32602, "message": "no tool x"}"#,
                "no tool x (code -32602)",
            ),
            (r#"{"message": "no"}"#, r#"{"message":"no"}"#),
            (r#""no""#, r#""no""#),
            ("null", "it gave neither a result nor an error"),
            (
                r#"{"code": 1, "message": "no\u001b[2J\n\nreason"}"#,
                "no [2J reason (code 1)",
            ),
        ] {
            let (id, outcome) = (json!(1), Err(sentence.to_owned()));
            let line = format!(r#"{{"jsonrpc": "2.0", "id": 1, "error": {error}}}"#);
            assert_eq!(read(&line), Message::Answer { id, outcome });
        }
    }

    #[test]
    fn a_line_of_a_log_is_no_message() {
        for line in [
            "",
            "[INFO] listening",
            "Usage: server",
            "null",
            r#"[{"jsonrpc": "2.0", "method": "ping"}]"#,
            r#"{"level": 30, "msg": "listening", "error": "none"}"#,
            r#"{"jsonrpc": "2.0", "error": {"code": -32700, "message": "parse error"}, "id": null}"#,
        ] {
            assert_eq!(Message::read(line.as_bytes()).unwrap(), None, "{line}");
        }
    }

    #[test]
    fn what_is_no_text_is_no_line_of_a_log() {
        let error = Message::read(b"\xff\xfe").unwrap_err();
        assert_eq!(error.to_string(), "it sent a line that is no UTF-8");
    }

    #[test]
    fn what_begins_as_a_message_must_be_one() {
        for line in [
            r#"{"jsonrpc": "2.0", "id": 1, "resu"#,
            r#"{"jsonrpc": "2.0", "id": 1, "result": "\u12"}"#,
            "{}{}",
        ] {
            let error = Message::read(line.as_bytes()).unwrap_err();
            assert!(
                format!("{error:#}").starts_with("it sent invalid JSON: "),
                "{error:#}"
            );
        }
    }

    #[test]
    fn what_cannot_be_read_in_a_message_is_no_fault_of_the_connection() {
        let deep = format!("{}{}", "[".repeat(1_000), "]".repeat(1_000));
        for odd in [r#""\ud800""#, &deep] {
            let line = |fields: String| read(&format!(r#"{{"jsonrpc": "2.0", {fields}}}"#));
            let (id, outcome) = (json!(1), Ok(odd.to_owned()));
            let result = line(format!(r#""id": 1, "result": {odd}"#));
            assert_eq!(result, Message::Answer { id, outcome });
            let (id, outcome) = (Value::Null, Ok("1".to_owned()));
            let answer = line(format!(r#""id": {odd}, "result": 1"#));
            assert_eq!(answer, Message::Answer { id, outcome });
            let method = String::new();
            let told = line(format!(r#""method": {odd}, "params": {odd}"#));
            let params = odd.to_owned();
            assert_eq!(told, Message::Notification { method, params });
            let refused = line(format!(r#""id": 1, "error": {odd}"#));
            assert!(matches!(
                refused,
                Message::Answer {
                    outcome: Err(_),
                    ..
                }
            ));
        }
    }

    #[test]
    fn a_server_that_asks_is_answered_under_its_own_id() {
        assert_eq!(
            answer(&json!("a"), "ping"),
            "{\"id\":\"a\",\"jsonrpc\":\"2.0\",\"result\":{}}\n"
        );
        assert_eq!(
            answer(&json!(0), "roots/list"),
            "{\"error\":{\"code\":-32601,\"message\":\"method not found\"},\"id\":0,\"jsonrpc\":\"2.0\"}\n"
        );
    }
}

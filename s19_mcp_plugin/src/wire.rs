//! What goes over the wire: the messages of JSON-RPC 2.0 and the parts of MCP that a client of tools needs.
//!
//! A line is read in two steps: first what it answers, then, by whoever asked, the answer. Invariants: a result that cannot
//! be read fails the one request that it answers; what a server sends beyond what is read here is ignored, and what it
//! leaves out has a default, so that older and newer servers are understood alike.

use std::fmt;

use anyhow::{Context, Result};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::plain::one_line;

/// The version of the protocol that is offered (`basic/lifecycle`, section Version Negotiation).
pub const VERSION: &str = "2025-11-25";

/// The versions that are accepted. What they add to each other is nothing that a client of tools would notice, but for
/// one: 2025-03-26 lets a server send several messages as an array. Such a line is not understood here.
pub const KNOWN_VERSIONS: [&str; 4] = [VERSION, "2025-06-18", "2025-03-26", "2024-11-05"];

/// The most characters of a reason that a server gives.
const MAX_REASON: usize = 1_000;

/// The most characters of what a server says about its progress.
const MAX_PROGRESS: usize = 200;

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
fn or_nothing<T: DeserializeOwned + Default>(raw: &RawValue) -> T {
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

/// How far a server is with a request that asked for it (`basic/utilities/progress`).
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// What the request called itself.
    pub progress_token: Value,
    progress: f64,
    total: Option<f64>,
    message: Option<String>,
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.progress)?;
        if let Some(total) = self.total {
            write!(f, " of {total}")?;
        }
        match &self.message {
            Some(message) => write!(f, ", {}", one_line(message, MAX_PROGRESS)),
            None => Ok(()),
        }
    }
}

/// What a server says of itself in the handshake (`basic/lifecycle`, section Initialization).
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hello {
    /// The version that it speaks.
    pub protocol_version: String,
    /// What it offers.
    #[serde(default, deserialize_with = "or_default")]
    pub capabilities: Capabilities,
    /// How to use it, for the model.
    #[serde(default, deserialize_with = "if_readable")]
    pub instructions: Option<String>,
}

/// The one capability that is looked at.
#[derive(Debug, Default, Deserialize)]
pub struct Capabilities {
    /// It has tools.
    pub tools: Option<IgnoredAny>,
}

/// A page of a list of tools (`server/utilities/pagination`).
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Page {
    /// The tools on it, each read by itself.
    pub tools: Vec<Box<RawValue>>,
    /// Where the next one begins.
    pub next_cursor: Option<String>,
}

/// A tool as its server describes it (`server/tools`, section Data Types).
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ToolInfo {
    /// Its name, unique at its server.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it does.
    pub description: Option<String>,
    /// A JSON Schema of its arguments. Nobody has checked that it is one.
    #[serde(default)]
    pub input_schema: Value,
    /// What it says about its own conduct.
    #[serde(default, deserialize_with = "or_default")]
    pub annotations: Annotations,
    /// How it is run.
    #[serde(default, deserialize_with = "or_default")]
    pub execution: Execution,
}

/// How a tool is run (`basic/utilities/tasks`).
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Execution {
    /// Whether a call may or must be a task, which is asked for its result later.
    pub task_support: Option<String>,
}

/// An entry of a list of tools that is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The name it has, if any.
    pub tool: String,
    /// What is wrong with it, as a sentence goes on behind its name.
    pub why: String,
}

/// What is told of an entry that cannot be read.
#[derive(Deserialize)]
struct Named {
    name: String,
}

impl ToolInfo {
    /// Reads an entry of a list of tools.
    ///
    /// # Errors
    /// When a field is missing or is not what it has to be.
    pub fn read(entry: &str) -> Result<Self, Unreadable> {
        let mut json = serde_json::Deserializer::from_str(entry);
        serde_path_to_error::deserialize(&mut json).map_err(|error| {
            let named = serde_json::from_str::<Named>(entry);
            let tool = named.map_or("a tool without a name".to_owned(), |named| named.name);
            let why = match error.path().to_string().as_str() {
                "." => format!("cannot be read: {}", error.inner()),
                path => format!("cannot be read at `{path}`: {}", error.inner()),
            };
            let why = one_line(&why, MAX_REASON);
            Unreadable { tool, why }
        })
    }
}

/// What a tool says about its own conduct (`server/tools`, section Data Types): hints from a server that may be wrong.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    /// A name for people.
    pub title: Option<String>,
    /// It changes nothing.
    pub read_only_hint: Option<bool>,
    /// It may destroy something.
    pub destructive_hint: Option<bool>,
    /// A second call with the same arguments changes nothing more.
    pub idempotent_hint: Option<bool>,
    /// It reaches beyond its server.
    pub open_world_hint: Option<bool>,
}

/// What a call of a tool gave (`server/tools`, section Tool Result).
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct CallResult {
    /// Blocks of text, images, audio and resources, as they came.
    #[serde(default, deserialize_with = "or_default")]
    pub content: Vec<Value>,
    /// The same as JSON for programs, when the tool has an output schema.
    pub structured_content: Option<Value>,
    /// The tool failed; the content says how.
    #[serde(default, deserialize_with = "or_default")]
    pub is_error: bool,
}

/// A text that is none is one that was left out.
fn if_readable<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let raw = Option::<Box<RawValue>>::deserialize(from)?;
    Ok(raw.and_then(|raw| or_nothing(&raw)))
}

/// A field that is null is one that was left out: some servers write all that they have.
fn or_default<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Option::deserialize(from).map(Option::unwrap_or_default)
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
    fn progress_is_a_short_line() {
        for (progress, shown) in [
            (r#"{"progressToken": 3, "progress": 0.5}"#, "0.5"),
            (
                r#"{"progressToken": "3", "progress": 3, "total": 10.0, "message": "read\u001b[2J\na.rs"}"#,
                "3 of 10, read [2J a.rs",
            ),
        ] {
            let progress: Progress = serde_json::from_str(progress).unwrap();
            assert_eq!(progress.to_string(), shown);
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
        let hello = r#"{"protocolVersion": "1", "instructions": "\ud800", "serverInfo": "\udfff"}"#;
        assert_eq!(
            serde_json::from_str::<Hello>(hello).unwrap().instructions,
            None
        );
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

    #[test]
    fn what_a_server_leaves_out_has_a_default() {
        let tool: ToolInfo = serde_json::from_value(json!({ "name": "x" })).unwrap();
        assert_eq!(tool.annotations, Annotations::default());
        let result: CallResult = serde_json::from_value(json!({})).unwrap();
        assert_eq!(result, CallResult::default());
        let nulls = json!({ "name": "x", "title": null, "inputSchema": null, "annotations": null });
        assert_eq!(ToolInfo::read(&nulls.to_string()), Ok(tool));
        let nulls = json!({ "content": null, "structuredContent": null, "isError": null });
        assert_eq!(
            serde_json::from_value::<CallResult>(nulls).unwrap(),
            CallResult::default()
        );
    }

    #[test]
    fn a_tool_that_cannot_be_read_is_named() {
        for (entry, tool, why) in [
            (
                "{}",
                "a tool without a name",
                "cannot be read: missing field `name`",
            ),
            (
                r#"{"name": "x", "annotations": {"readOnlyHint": "yes"}}"#,
                "x",
                "cannot be read at `annotations.readOnlyHint`: invalid type: string \"yes\", expected a boolean",
            ),
            (
                r#"{"name": "x", "description": "\ud800"}"#,
                "x",
                "cannot be read at `description`: unexpected end of hex escape",
            ),
        ] {
            let unreadable = ToolInfo::read(entry).unwrap_err();
            assert_eq!(unreadable.tool, tool);
            assert!(unreadable.why.starts_with(why), "{}", unreadable.why);
        }
        let long = json!({ "name": "x", "title": { "a\u{1b}": "x".repeat(1_000_000) } });
        let why = ToolInfo::read(&long.to_string()).unwrap_err().why;
        assert!(why.len() <= MAX_REASON && !why.contains('\u{1b}'), "{why}");
    }
}

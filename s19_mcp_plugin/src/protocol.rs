//! The parts of MCP that a client of tools needs, as they stand in results and notifications.
//!
//! Servers are older, newer and careless. Invariant: what a server sends beyond what is read here is ignored, and what it
//! leaves out has a default, so that all are understood alike; an entry of a list that cannot be read is named.

use std::fmt;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::plain::one_line;
use crate::wire::or_nothing;

/// The version of the protocol that is offered (`basic/lifecycle`, section Version Negotiation).
pub const VERSION: &str = "2025-11-25";

/// The versions that are accepted. What they add to each other is nothing that a client of tools would notice, but for
/// one: 2025-03-26 lets a server send several messages as an array. Such a line is not understood here.
pub const KNOWN_VERSIONS: [&str; 4] = [VERSION, "2025-06-18", "2025-03-26", "2024-11-05"];

/// The most characters of where something is wrong with an entry.
const MAX_PATH: usize = 100;

/// The most characters of what is wrong with an entry.
const MAX_WRONG: usize = 1_000;

/// The most characters of what a server says about its progress.
const MAX_PROGRESS: usize = 200;

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
                path => {
                    let path = one_line(path, MAX_PATH);
                    format!("cannot be read at `{path}`: {}", error.inner())
                }
            };
            let why = one_line(&why, MAX_WRONG);
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
    use serde_json::json;

    use super::*;

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
        assert!(why.len() <= MAX_WRONG && !why.contains('\u{1b}'), "{why}");
    }

    #[test]
    fn a_word_that_is_no_text_is_left_out_of_the_handshake() {
        let hello = r#"{"protocolVersion": "1", "instructions": "\ud800", "serverInfo": "\udfff"}"#;
        assert_eq!(
            serde_json::from_str::<Hello>(hello).unwrap().instructions,
            None
        );
    }
}

//! The parts of MCP that a client of tools needs, under the names of the specification.
//!
//! Servers are older, newer and careless. Invariant: a field that is not read here is ignored, one that is missing or null
//! has a default, and a malformed entry of `tools/list` is named.

use std::fmt;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::jsonrpc;
use crate::text::one_line;

/// The version of the protocol that is offered (`basic/lifecycle`, section Version Negotiation).
pub const VERSION: &str = "2025-11-25";

/// The versions that are accepted. A client of tools would notice one difference: 2025-03-26 lets a server send several
/// messages as an array. Such a line is not understood here.
pub const KNOWN_VERSIONS: [&str; 4] = [VERSION, "2025-06-18", "2025-03-26", "2024-11-05"];

/// The most characters of the path to a malformed field, of what is wrong with an entry, and of a progress message.
const MAX_PATH: usize = 100;
const MAX_WRONG: usize = 1_000;
const MAX_PROGRESS: usize = 200;

/// `basic/utilities/progress`
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProgressNotificationParams {
    pub progress_token: Value,
    progress: f64,
    total: Option<f64>,
    message: Option<String>,
}

impl fmt::Display for ProgressNotificationParams {
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

/// `basic/lifecycle`, section Initialization
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InitializeResult {
    pub protocol_version: String,
    #[serde(default, deserialize_with = "or_default")]
    pub capabilities: ServerCapabilities,
    /// How to use the server, for the model.
    #[serde(default, deserialize_with = "if_valid")]
    pub instructions: Option<String>,
}

/// The capabilities that are looked at.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ServerCapabilities {
    pub tools: Option<IgnoredAny>,
    /// Those that no specification knows, for whoever listens to the notifications that none knows.
    #[serde(default, deserialize_with = "if_valid")]
    pub experimental: Value,
}

/// A page of tools (`server/utilities/pagination`).
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListToolsResult {
    /// Each is parsed by itself.
    pub tools: Vec<Box<RawValue>>,
    pub next_cursor: Option<String>,
}

/// A tool as its server describes it (`server/tools`, section Data Types).
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// Its name, unique at its server.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it does.
    pub description: Option<String>,
    /// A JSON Schema of its arguments, not yet checked.
    #[serde(default)]
    pub input_schema: Value,
    /// How it behaves.
    #[serde(default, deserialize_with = "or_default")]
    pub annotations: ToolAnnotations,
    /// How it is run (`basic/utilities/tasks`): whether a call may or must be a task, whose result is fetched later.
    #[serde(default)]
    pub execution: Value,
}

/// How a tool behaves (`server/tools`, section Data Types): hints from a server that may be wrong.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ToolAnnotations {
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

/// A tool that is left out of the pool: a malformed entry of `tools/list`, or one that the API would refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its name, if it has one.
    pub tool: String,
    /// Why, as the rest of a sentence that begins with its name.
    pub why: String,
}

/// What is read of a malformed entry.
#[derive(Deserialize)]
struct Named {
    name: String,
}

impl Tool {
    /// Parses an entry of `tools/list`.
    ///
    /// # Errors
    /// When a field is missing or of the wrong type.
    pub(crate) fn parse(entry: &str) -> Result<Self, LeftOut> {
        let mut json = serde_json::Deserializer::from_str(entry);
        serde_path_to_error::deserialize(&mut json).map_err(|error| {
            let named = serde_json::from_str::<Named>(entry);
            let tool = named.map_or("a tool without a name".to_owned(), |named| named.name);
            let path = one_line(&error.path().to_string(), MAX_PATH);
            let at = if path == "." { String::new() } else { format!(" at `{path}`") };
            let why = one_line(&format!("cannot be read{at}: {}", error.inner()), MAX_WRONG);
            LeftOut { tool, why }
        })
    }
}

/// The result of a call (`server/tools`, section Tool Result).
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct CallToolResult {
    /// Blocks of text, images, audio and resources, as they came.
    #[serde(default, deserialize_with = "or_default")]
    pub content: Vec<Value>,
    /// The same as JSON for programs, when the tool has an output schema.
    pub structured_content: Option<Value>,
    /// The tool failed; the content says how.
    #[serde(default, deserialize_with = "or_default")]
    pub is_error: bool,
}

/// A value; the default when it is of another type or not valid Unicode.
fn if_valid<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    let raw = Option::<Box<RawValue>>::deserialize(from)?;
    Ok(raw.map(|raw| jsonrpc::or_default(&raw)).unwrap_or_default())
}

/// A value; the default when it is null. Some servers write null for what they leave out.
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
    fn what_a_server_leaves_out_or_sends_as_null_has_a_default() {
        let tool = Tool::parse(r#"{"name": "x"}"#).unwrap();
        assert_eq!(tool.annotations, ToolAnnotations::default());
        let nulls = json!({ "name": "x", "title": null, "inputSchema": null, "annotations": null });
        assert_eq!(Tool::parse(&nulls.to_string()), Ok(tool));
        let nulls = json!({ "content": null, "structuredContent": null, "isError": null });
        for result in [json!({}), nulls] {
            let result: CallToolResult = serde_json::from_value(result).unwrap();
            assert_eq!(result, CallToolResult::default());
        }
        let hello = r#"{"protocolVersion": "1", "instructions": "\ud800", "serverInfo": "\udfff"}"#;
        let hello: InitializeResult = serde_json::from_str(hello).unwrap();
        assert_eq!(hello.instructions, None);
    }

    #[test]
    fn a_malformed_tool_is_named_in_a_short_line() {
        let long = json!({ "name": "x", "title": { "a\u{1b}": "x".repeat(1_000_000) } });
        for (entry, tool, why) in [
            ("{}", "a tool without a name", "cannot be read: missing field `name`"),
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
            (&long.to_string(), "x", "cannot be read at `title`: "),
        ] {
            let left_out = Tool::parse(entry).unwrap_err();
            assert_eq!(left_out.tool, tool);
            let told = left_out.why;
            assert!(told.starts_with(why) && told.len() <= MAX_WRONG, "{told}");
            assert!(!told.contains('\u{1b}'));
        }
    }
}

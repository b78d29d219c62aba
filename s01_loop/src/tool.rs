//! Tools as the model sees them: a spec it reads, a call it makes, an output it gets back.
//!
//! Every chapter's tools go through these three types. Invariant: a tool's failure is text for the model
//! (`is_error: true`), made in one place, `From<Result>` for [`Output`]; it never ends the loop.

use std::sync::Arc;

use anyhow::{Result, anyhow, bail};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use crate::mend::{MAX_DEPTH, UNREADABLE, text};
use crate::message::{Block, ephemeral};

/// What a request says about one tool. Cloning it costs two pointers.
#[derive(Clone, Debug)]
pub struct ToolSpec {
    spec: Arc<Spec>,
    /// Its JSON, sent with every request.
    wire: Arc<RawValue>,
}

/// A spec as it goes out.
#[derive(Clone, Debug, Serialize)]
struct Spec {
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Value>,
    description: String,
    input_schema: Value,
    name: String,
}

impl PartialEq for ToolSpec {
    fn eq(&self, other: &Self) -> bool {
        self.wire() == other.wire()
    }
}

impl Serialize for ToolSpec {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.wire.serialize(serializer)
    }
}

impl ToolSpec {
    /// A tool whose input is the type `Input`: its doc comments become the descriptions in the schema.
    pub fn new<Input: JsonSchema>(name: &str, description: &str) -> Self {
        let generator = SchemaSettings::draft2020_12()
            .with(|settings| {
                settings.inline_subschemas = true;
                settings.meta_schema = None;
            })
            .into_generator();
        let mut schema = generator.into_root_schema_for::<Input>();
        schema.remove("title");
        schema.remove("description");
        Self::with_schema(name, description, schema.to_value())
    }

    /// A tool whose schema is somebody else's, such as an MCP server's.
    pub fn with_schema(name: &str, description: &str, input_schema: Value) -> Self {
        Self::made(Spec {
            cache_control: None,
            description: description.to_owned(),
            input_schema,
            name: name.to_owned(),
        })
    }

    /// The same tool with a prompt-cache breakpoint after it.
    pub fn breakpoint(&self) -> Self {
        let mut spec = Spec::clone(&self.spec);
        spec.cache_control = Some(ephemeral());
        Self::made(spec)
    }

    fn made(spec: Spec) -> Self {
        let wire = to_raw_value(&spec).expect("strings and JSON values serialize");
        Self {
            spec: Arc::new(spec),
            wire: wire.into(),
        }
    }

    /// Whether it has a prompt-cache breakpoint after it.
    pub fn has_breakpoint(&self) -> bool {
        self.spec.cache_control.is_some()
    }

    /// The name the model calls it by.
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// What the model is told it does.
    pub fn description(&self) -> &str {
        &self.spec.description
    }

    /// The JSON Schema of its input.
    pub fn input_schema(&self) -> &Value {
        &self.spec.input_schema
    }

    /// Its JSON, serialized when it was made.
    pub fn wire(&self) -> &str {
        self.wire.get()
    }
}

/// One tool_use block: the model wants this tool to run with this input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id that the result must name.
    #[serde(default, deserialize_with = "text")]
    pub id: String,
    /// The tool.
    #[serde(default, deserialize_with = "text")]
    pub name: String,
    /// Its arguments: an object, but nothing else about it is sure until [`ToolCall::args`] has read it.
    pub input: Value,
    /// Fields we have no name for.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl ToolCall {
    /// A call that somebody other than the model makes, such as a test.
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: Value) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            input,
            extra: Map::new(),
        }
    }

    /// The arguments as the tool's input type.
    ///
    /// # Errors
    /// Names the tool and the argument that is missing or of the wrong type.
    pub fn args<Input: DeserializeOwned>(&self) -> Result<Input> {
        if let Some(reason) = self.lost_input() {
            bail!(reason);
        }
        serde_path_to_error::deserialize(&self.input).map_err(|error| {
            let path = error.path().to_string();
            let reason = error.into_inner();
            match path.as_str() {
                "." => anyhow!("{}: {reason}", self.name),
                path => anyhow!("{}: argument `{path}`: {reason}", self.name),
            }
        })
    }

    /// Why a call cannot run whose input could not be kept.
    pub fn lost_input(&self) -> Option<String> {
        let name = &self.name;
        self.input.get(UNREADABLE)?;
        Some(format!(
            "{name}: the input is no JSON object, or nested more than {MAX_DEPTH} levels deep; write it anew"
        ))
    }

    /// The tool_result block that answers this call. The API refuses an error without a text.
    pub fn answer(&self, output: Output) -> Block {
        let text = if output.is_error && output.text.trim().is_empty() {
            format!("{} failed without saying why", self.name)
        } else {
            output.text
        };
        Block::ToolResult {
            tool_use_id: self.id.clone(),
            content: text,
            is_error: output.is_error,
            extra: Map::new(),
        }
    }
}

/// What a tool answers, as the model will read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The text.
    pub text: String,
    /// Whether the tool failed.
    pub is_error: bool,
    /// Whether the call was refused and the tool never ran.
    pub is_refused: bool,
}

impl Output {
    /// The output of a tool that did its work.
    pub fn ok(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            is_error: false,
            is_refused: false,
        }
    }

    /// The answer to a call that somebody refused: why.
    pub fn refused(reason: impl Into<String>) -> Self {
        Self {
            is_refused: true,
            ..Self::error(reason)
        }
    }

    /// The output of a tool that failed: what happened, and what to do about it.
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            is_error: true,
            is_refused: false,
        }
    }
}

/// The one place where a tool's failure becomes text for the model.
impl From<Result<Output>> for Output {
    fn from(result: Result<Output>) -> Self {
        result.unwrap_or_else(|error| Self::error(format!("{error:#}")))
    }
}

impl From<Result<String>> for Output {
    fn from(result: Result<String>) -> Self {
        result.map(Self::ok).into()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Args {
        /// Where to look.
        path: String,
        limit: Option<u32>,
    }

    fn call(input: Value) -> ToolCall {
        ToolCall::new("toolu_1", "look", input)
    }

    #[test]
    fn the_schema_comes_from_the_input_type() {
        let spec = ToolSpec::new::<Args>("look", "Looks.");
        let schema = spec.input_schema();
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["required"], json!(["path"]));
        assert_eq!(
            schema["properties"]["path"],
            json!({"type": "string", "description": "Where to look."})
        );
        assert_eq!(schema.get("$schema"), None);
    }

    #[test]
    fn arguments_become_the_input_type_or_the_wrong_one_is_named() {
        let limit = None;
        for (input, expected) in [
            (
                json!({"path": "a", "other": 1}),
                Ok(Args {
                    path: "a".into(),
                    limit,
                }),
            ),
            (json!({}), Err("look: missing field `path`")),
            (json!({"path": "a", "limit": "ten"}), Err("look: argument `limit`: invalid type")),
            (json!("a"), Err("look: invalid type: string")),
        ] {
            match (call(input).args::<Args>(), expected) {
                (Err(error), Err(said)) => {
                    assert!(error.to_string().starts_with(said), "{error}")
                }
                (args, expected) => assert_eq!(args.ok(), expected.ok()),
            }
        }
    }

    #[test]
    fn an_error_without_words_gets_some() {
        let Block::ToolResult { content, .. } = call(json!({})).answer(Output::error(" ")) else {
            panic!("an answer is a tool_result");
        };
        assert_eq!(content, "look failed without saying why");
    }

    #[test]
    fn a_failure_is_text_with_its_causes() {
        let failed: Result<String> = Err(anyhow!("no such file").context("reading a.txt"));
        assert_eq!(Output::from(failed), Output::error("reading a.txt: no such file"));
    }
}

//! A tool of a mock server: what a client reads about it, and what happens when it is called.
//!
//! The arguments are a struct. The schema that a client reads is derived from it, and so is the complaint about a bad
//! argument, so the two cannot disagree. Invariant: a bad argument never reaches the function.

use std::sync::Arc;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool and its function.
pub struct MockTool {
    /// What a client reads about it.
    pub listed: Tool,
    run: Box<dyn Fn(JsonObject) -> Result<String, String> + Send + Sync>,
}

/// What a call of a tool does to the world, in the words of the protocol.
#[derive(Clone, Copy)]
pub enum Effect {
    /// It only reads.
    Reads,
    /// It adds something; doing it twice adds it twice.
    Adds,
    /// It changes what is there; doing it twice changes more.
    Changes,
    /// It changes what is there; doing it twice is as good as once.
    Sets,
}

impl MockTool {
    /// A tool that takes `A` and answers with a text; the error is for the model as well.
    pub fn new<A: DeserializeOwned + JsonSchema + 'static>(
        name: &'static str,
        effect: Effect,
        description: &'static str,
        run: impl Fn(A) -> Result<String, String> + Send + Sync + 'static,
    ) -> Self {
        let mut listed = Tool::new(name, description, JsonObject::new())
            .with_input_schema::<A>()
            .with_annotations(annotations(effect));
        listed.input_schema = Arc::new(plain(&listed.input_schema));
        let run = Box::new(move |arguments| run(read(arguments)?));
        Self { listed, run }
    }

    /// A tool that answers with its name.
    pub fn dummy(listed: Tool) -> Self {
        let name = listed.name.to_string();
        let run = Box::new(move |_| Ok(format!("This is {name}.")));
        Self { listed, run }
    }

    /// Calls it. What goes wrong is a result, too: the model reads it.
    pub fn call(&self, arguments: Option<JsonObject>) -> CallToolResult {
        match (self.run)(arguments.unwrap_or_default()) {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Err(wrong) => CallToolResult::error(vec![ContentBlock::text(wrong)]),
        }
    }
}

/// The schema without the formats of Rust's numbers, which no other language's validator has heard of.
fn plain(schema: &JsonObject) -> JsonObject {
    let kept = schema.iter().filter(|(key, value)| *key != "format" || value.is_object());
    kept.map(|(key, value)| {
        let value = match value {
            Value::Object(inner) => Value::Object(plain(inner)),
            other => other.clone(),
        };
        (key.clone(), value)
    })
    .collect()
}

fn annotations(effect: Effect) -> ToolAnnotations {
    // The mock's world is closed: nothing outside this process is reached.
    let hints = ToolAnnotations::new().open_world(false);
    match effect {
        Effect::Reads => hints.read_only(true),
        Effect::Adds => hints.read_only(false).destructive(false).idempotent(false),
        Effect::Changes => hints.read_only(false).destructive(true).idempotent(false),
        Effect::Sets => hints.read_only(false).destructive(true).idempotent(true),
    }
}

/// The arguments as a struct, or a sentence that names the field that is wrong.
fn read<A: DeserializeOwned>(arguments: JsonObject) -> Result<A, String> {
    serde_path_to_error::deserialize(Value::Object(arguments)).map_err(|error| {
        let field = error.path().to_string();
        let wrong = error.into_inner();
        // Of a field that is missing or too many the message itself has the name.
        if field == "." { wrong.to_string() } else { format!("{field}: {wrong}") }
    })
}

/// The arguments of a search.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Query {
    /// Some words.
    pub query: String,
}

/// `text` without the space around it, or a sentence that names the field `name`, which is empty.
pub fn filled<'a>(name: &str, text: &'a str) -> Result<&'a str, String> {
    match text.trim() {
        "" => Err(format!("{name}: must not be empty")),
        text => Ok(text),
    }
}

/// The same for a field that is one line.
pub fn line<'a>(name: &str, text: &'a str) -> Result<&'a str, String> {
    match filled(name, text)? {
        text if text.contains('\n') => Err(format!("{name}: must be one line")),
        text => Ok(text),
    }
}

/// Whether a text has all words of a query, in whatever case.
pub fn has_all_words(text: &str, query: &str) -> bool {
    let (text, query) = (text.to_lowercase(), query.to_lowercase());
    query.split_whitespace().all(|word| text.contains(word))
}

/// The results one a line, or `none` when there are no results.
pub fn listed(found: impl Iterator<Item = String>, none: &str) -> String {
    let lines = found.collect::<Vec<_>>().join("\n");
    if lines.is_empty() { none.to_owned() } else { lines }
}

/// A variant in the word of the protocol.
pub fn word(variant: &impl Serialize) -> String {
    let value = serde_json::to_value(variant).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

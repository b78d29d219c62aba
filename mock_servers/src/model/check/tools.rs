//! The rules of the tools on offer.
//!
//! The tool pool is the first part of the prompt, so a wrong or doubled tool spoils every request of a conversation.
//! Invariant: the tools keep the order of the request, as the cache's prefix does.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use serde_json::Value;

use super::fields::{Fields, list};
use super::schema;
use crate::model::cache::{Life, Piece};
use crate::model::refusal::Flaw;
use crate::model::tokens::tokens;
use crate::model::types::Tool;

/// The tools of a request, read and checked.
#[derive(Debug, Default)]
pub struct ToolSet {
    /// The tools as a brain sees them.
    pub tools: Arc<[Tool]>,
    /// One piece per tool, for usage and cache.
    pub pieces: Vec<Piece>,
}

/// What the API says of a name outside its pattern.
pub const TOOL_NAME: &str = "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'";

/// Reads the `tools` of a request.
pub fn tools(value: Value) -> Result<ToolSet, Flaw> {
    let mut tools = Vec::new();
    let mut pieces = Vec::new();
    for (i, item) in list(value)?.into_iter().enumerate() {
        let (tool, piece) = tool(item).map_err(|flaw| flaw.under(i))?;
        tools.push(tool);
        pieces.push(piece);
    }
    let mut names = HashSet::new();
    if !tools.iter().all(|tool| names.insert(tool.name.as_str())) {
        return Err(Flaw::here("Tool names must be unique."));
    }
    Ok(ToolSet {
        tools: tools.into(),
        pieces,
    })
}

/// Whether a tool may bear this name.
pub fn is_tool_name(name: &str) -> bool {
    is_word(name) && name.len() <= 128
}

/// Letters, digits, `_` and `-`, at least one.
pub fn is_word(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    !text.is_empty() && text.bytes().all(allowed)
}

fn tool(value: Value) -> Result<(Tool, Piece), Flaw> {
    let mut fields = Fields::of(value)?;
    match fields.optional_string("type")? {
        // A tool that the API's own servers run: the mock lets it pass and no brain calls it.
        Some(kind) if kind != "custom" => server_tool(fields).map_err(|flaw| flaw.under(kind)),
        _ => custom_tool(fields).map_err(|flaw| flaw.under("custom")),
    }
}

fn server_tool(mut fields: Fields) -> Result<(Tool, Piece), Flaw> {
    let name = fields.string("name")?;
    let cache = fields.cache_control()?;
    let tool = Tool {
        name,
        description: String::new(),
        input_schema: Value::Null,
    };
    Ok(with_piece(tool, cache))
}

fn custom_tool(mut fields: Fields) -> Result<(Tool, Piece), Flaw> {
    let name = fields.string("name")?;
    if !is_tool_name(&name) {
        return Err(Flaw::at("name", TOOL_NAME));
    }
    let description = fields.optional_string("description")?.unwrap_or_default();
    let input_schema = fields.required("input_schema")?;
    schema::input_schema(&input_schema).map_err(|flaw| flaw.under("input_schema"))?;
    let cache = fields.cache_control()?;
    fields.ignore(&[
        "allowed_callers",
        "defer_loading",
        "eager_input_streaming",
        "input_examples",
        "strict",
    ]);
    fields.none_left()?;
    Ok(with_piece(
        Tool {
            name,
            description,
            input_schema,
        },
        cache,
    ))
}

fn with_piece(tool: Tool, cache: Option<Life>) -> (Tool, Piece) {
    let schema = tool.input_schema.to_string();
    let mut hasher = DefaultHasher::new();
    (&tool.name, &tool.description, &schema).hash(&mut hasher);
    let tokens = tokens(&tool.name) + tokens(&tool.description) + tokens(&schema);
    let piece = Piece {
        tokens,
        hash: hasher.finish(),
        cache,
    };
    (tool, piece)
}

//! The rules of the tools on offer.
//!
//! The tool pool is the first part of the prompt, so a wrong or doubled tool spoils every request of a conversation.
//! Invariant: the tools keep the order of the request, as the cache's prefix does.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;

use super::betas::Need;
use super::fields::{Fields, choice, list, tag};
use super::schema;
use crate::model::cache::{Piece, hash};
use crate::model::refusal::Flaw;
use crate::model::tokens::tokens;
use crate::model::types::Tool;

/// The tools of a request, read and checked.
#[derive(Debug, Default)]
pub struct ToolSet {
    /// The tools as a brain sees them. A set of tools that the API names itself is none.
    pub tools: Arc<[Tool]>,
    /// One piece per tool or set, for usage and cache.
    pub pieces: Vec<Piece>,
    /// What is refused without the header of its beta.
    pub needs: Vec<Need>,
}

/// A tool that the API knows itself, or a set of them.
struct Provided {
    kind: &'static str,
    /// The name it must have; a set has none.
    name: Option<&'static str>,
    /// The beta that brings it; none when every request may have it.
    beta: Option<&'static str>,
}

/// The type of each, its name or `-`, and the beta that brings it.
const PROVIDED: &str = "\
advisor_20260301 advisor advisor-tool-
bash_20241022 bash computer-use-2024-10-22
bash_20250124 bash
browser_toolset_20260801 -
code_execution_20250522 code_execution
code_execution_20250825 code_execution
code_execution_20260120 code_execution
code_execution_20260521 code_execution
computer_20241022 computer computer-use-2024-10-22
computer_20250124 computer computer-use-2025-01-24
computer_20251124 computer computer-use-2025-11-24
computer_toolset_20260801 -
mcp_toolset - mcp-client-
memory_20250818 memory
text_editor_20241022 str_replace_editor computer-use-2024-10-22
text_editor_20250124 str_replace_editor
text_editor_20250429 str_replace_based_edit_tool
text_editor_20250728 str_replace_based_edit_tool
tool_search_tool_bm25 tool_search_tool_bm25
tool_search_tool_bm25_20251119 tool_search_tool_bm25
tool_search_tool_regex tool_search_tool_regex
tool_search_tool_regex_20251119 tool_search_tool_regex
web_fetch_20250910 web_fetch
web_fetch_20260209 web_fetch
web_fetch_20260309 web_fetch
web_fetch_20260318 web_fetch
web_search_20250305 web_search
web_search_20260209 web_search
web_search_20260318 web_search";

/// What the API provides itself.
fn provided() -> impl Iterator<Item = Provided> {
    PROVIDED.lines().filter_map(|line| {
        let mut words = line.split(' ');
        Some(Provided {
            kind: words.next()?,
            name: words.next().filter(|name| *name != "-"),
            beta: words.next(),
        })
    })
}

/// What the API says of a name outside its pattern.
pub const TOOL_NAME: &str = "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'";

/// Reads the `tools` of a request.
pub fn tools(value: Value) -> Result<ToolSet, Flaw> {
    let (mut tools, mut pieces, mut needs) = (Vec::new(), Vec::new(), Vec::new());
    for (i, item) in list(value)?.into_iter().enumerate() {
        let (tool, piece, need) = tool(item).map_err(|flaw| flaw.under(i))?;
        tools.extend(tool);
        pieces.push(piece);
        needs.extend(need.map(|need| need.under(i).under("tools")));
    }
    let mut names = HashSet::new();
    if !tools.iter().all(|tool| names.insert(tool.name.as_str())) {
        return Err(Flaw::here("Tool names must be unique."));
    }
    Ok(ToolSet {
        tools: tools.into(),
        pieces,
        needs,
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

/// Reads one tool. A type that needs a beta is refused without it as the unknown type that it then is.
fn tool(value: Value) -> Result<(Option<Tool>, Piece, Option<Need>), Flaw> {
    let named = value.get("type").is_some_and(|kind| !kind.is_null());
    let unknown = named.then(|| tag(&value, &types()).err()).flatten();
    let provided = provided().find(|provided| value["type"] == provided.kind);
    match (provided, unknown) {
        (Some(provided), unknown) => {
            let read = provided_tool(value, &provided);
            let (tool, piece) = read.map_err(|flaw| flaw.under(provided.kind))?;
            let need = provided.beta.zip(unknown);
            let need = need.map(|(beta, flaw)| Need::new(&[beta], flaw));
            Ok((tool, piece, need))
        }
        (None, Some(flaw)) => Err(flaw),
        (None, None) => {
            let read = custom_tool(value);
            let (tool, piece) = read.map_err(|flaw| flaw.under("custom"))?;
            Ok((Some(tool), piece, None))
        }
    }
}

/// The types that every request may use.
fn types() -> Vec<&'static str> {
    let open = provided().filter(|provided| provided.beta.is_none());
    let mut types = open.map(|provided| provided.kind).collect::<Vec<_>>();
    types.push("custom");
    types.sort_unstable();
    types
}

fn provided_tool(value: Value, provided: &Provided) -> Result<(Option<Tool>, Piece), Flaw> {
    let json = value.to_string();
    let mut fields = Fields::of(value)?;
    let cache = fields.cache_control()?;
    let tool = match provided.name {
        None => None,
        Some(name) => {
            choice(fields.required("name")?, &[name]).map_err(|flaw| flaw.under("name"))?;
            Some(Tool {
                name: name.to_owned(),
                description: String::new(),
                input_schema: Value::Null,
            })
        }
    };
    if provided.kind == "mcp_toolset" {
        fields.string("mcp_server_name")?;
    }
    let piece = Piece {
        tokens: tokens(provided.name.unwrap_or_default()),
        hash: hash(&json),
        cache,
    };
    Ok((tool, piece))
}

fn custom_tool(value: Value) -> Result<(Tool, Piece), Flaw> {
    let mut fields = Fields::of(value)?;
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
        "type",
    ]);
    fields.none_left()?;
    let schema = input_schema.to_string();
    let piece = Piece {
        tokens: tokens(&name) + tokens(&description) + tokens(&schema),
        hash: hash(&(&name, &description, &schema)),
        cache,
    };
    let tool = Tool {
        name,
        description,
        input_schema,
    };
    Ok((tool, piece))
}

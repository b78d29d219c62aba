//! The tools on offer.
//!
//! The tool pool is the first part of the prompt, so a wrong or doubled tool spoils every request of a conversation.
//! Invariant: the tools keep the order of the request, as the cache's prefix does.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;

use super::betas::Need;
use super::message::breakpoint;
use super::shape;
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

/// Reads the `tools` of a request.
pub fn tools(value: &Value) -> Result<ToolSet, Flaw> {
    let items = value.as_array();
    let items = items.ok_or_else(|| Flaw::here("Input should be a valid array"))?;
    let (mut tools, mut pieces, mut needs) = (Vec::new(), Vec::new(), Vec::new());
    for (i, item) in items.iter().enumerate() {
        let of_item = shape::under(i, shape::tagged("tool", item))?;
        needs.extend(of_item.into_iter().map(|need| need.under("tools")));
        let (tool, piece) = tool(item);
        tools.extend(tool);
        pieces.push(piece);
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

/// Reads one tool. Of one that the API provides itself a brain knows the name, and a set has none.
fn tool(value: &Value) -> (Option<Tool>, Piece) {
    let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let (name, description) = (text("name"), text("description"));
    let input_schema = value["input_schema"].clone();
    let (schema, hash) = if input_schema.is_null() {
        (String::new(), hash(&value.to_string()))
    } else {
        let schema = input_schema.to_string();
        let hash = hash(&(&name, &description, &schema));
        (schema, hash)
    };
    let piece = Piece {
        tokens: tokens(&name) + tokens(&description) + tokens(&schema),
        hash,
        cache: breakpoint(&value["cache_control"]),
    };
    let tool = Tool {
        name,
        description,
        input_schema,
    };
    (Some(tool).filter(|tool| !tool.name.is_empty()), piece)
}

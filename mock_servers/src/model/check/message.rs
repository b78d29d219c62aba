//! One message, and the system prompt.
//!
//! A message is read once and remembered by its bytes, so everything a later request needs of it is worked out here:
//! the typed blocks for the brain, tokens and content hash for usage and cache.
//! Invariant: nothing here depends on the messages before and after.

use std::sync::Arc;

use serde_json::{Value, json};

use super::betas::Need;
use super::shape::{self, speaks};
use crate::model::cache::{Life, Piece, hash};
use crate::model::refusal::Flaw;
use crate::model::tokens::{json_tokens, tokens};
use crate::model::types::{Block, Message, Role};

/// A message that passed its rules.
#[derive(Debug)]
pub struct Known {
    /// What it is.
    pub said: Said,
    /// One piece per block, for usage and cache.
    pub pieces: Vec<Piece>,
    /// What is refused without the header of its beta.
    pub needs: Vec<Need>,
}

/// What a message is.
#[derive(Debug)]
pub enum Said {
    /// A turn of the user or the model, as a brain sees it.
    Turn(Arc<Message>),
    /// Instructions in mid-conversation: a message with the role `system`.
    Instructions {
        /// What they say; `None` when they only set how the output comes.
        text: Option<String>,
        /// Whether they end with the next message of the user.
        passing: bool,
    },
}

/// Reads one message.
pub fn message(mut value: Value) -> Result<Known, Flaw> {
    if value["role"] == "system" {
        return instructions(value);
    }
    let mut needs = shape::object("message", &value)?;
    let role = if value["role"] == "user" { Role::User } else { Role::Assistant };
    let (mut blocks, mut pieces) = (Vec::new(), Vec::new());
    match value["content"].take() {
        // Whether a message may be empty depends on its place; `conversation` knows it.
        Value::String(text) if text.is_empty() => {}
        Value::String(text) => {
            speaks(&text).map_err(|flaw| flaw.under("content"))?;
            pieces.push(text_piece(role as u8, &text));
            blocks.push(Block::Text(text));
        }
        content => {
            for (i, item) in content.as_array().into_iter().flatten().enumerate() {
                let checked = may_say(role, item).and_then(|()| shape::tagged("block", item));
                needs.extend(shape::under("content", shape::under(i, checked))?);
                let read = block(item, role).map_err(|flaw| flaw.under(i).under("content"));
                let (block, piece) = read?;
                blocks.push(block);
                pieces.push(piece);
            }
        }
    }
    Ok(Known {
        said: Said::Turn(Arc::new(Message { role, blocks })),
        pieces,
        needs,
    })
}

/// Reads a message with the role `system`. Where it may stand, `conversation` knows.
fn instructions(mut value: Value) -> Result<Known, Flaw> {
    let needs = shape::object("instructions", &value)?;
    let sets_output = !value["output_config"].is_null();
    let items = match value.get_mut("content").map(Value::take) {
        None if !sets_output => return Err(Flaw::at("content", "Field required")),
        None => Vec::new(),
        Some(Value::Null) if sets_output => Vec::new(),
        Some(Value::String(text)) if text.is_empty() => Vec::new(),
        Some(Value::String(text)) => vec![json!({"type": "text", "text": text})],
        Some(Value::Array(items)) => items,
        Some(_) => {
            let rule = "Input should be a valid string or array";
            return Err(Flaw::at("content", rule));
        }
    };
    if items.is_empty() && !sets_output {
        return Err(Flaw::here("system content must contain at least one block"));
    }
    let read = system_blocks(&items, INSTRUCTIONS);
    let (texts, pieces) = read.map_err(|flaw| flaw.under("content"))?;
    let text = (!texts.is_empty()).then(|| texts.join("\n\n"));
    let passing = value["clear_at"] == "next_user_message";
    Ok(Known {
        said: Said::Instructions { text, passing },
        pieces,
        needs,
    })
}

/// A system prompt that passed its rules.
#[derive(Debug, Default)]
pub struct System {
    /// Its text, blocks joined by blank lines.
    pub text: Arc<str>,
    /// One piece per block.
    pub pieces: Vec<Piece>,
}

/// Reads the system prompt.
pub fn system(value: Value) -> Result<System, Flaw> {
    let (texts, pieces) = match value {
        Value::String(text) if text.is_empty() => return Ok(System::default()),
        Value::String(text) => {
            let piece = text_piece(SYSTEM, &text);
            (vec![text], vec![piece])
        }
        Value::Array(items) => system_blocks(&items, SYSTEM)?,
        _ => return Err(Flaw::here("Input should be a valid string or array")),
    };
    let text = texts.join("\n\n").into();
    Ok(System { text, pieces })
}

/// Where a piece of the prompt stands; part of its hash, so that equal words in other places are other prefixes. The
/// roles are 0 and 1.
const SYSTEM: u8 = 2;
const INSTRUCTIONS: u8 = 3;

/// What the largest image costs, and a page of a document that is no text. Nobody looks into either.
const IMAGE_TOKENS: u32 = 1600;
const DOCUMENT_TOKENS: u32 = 3000;

fn system_blocks(items: &[Value], place: u8) -> Result<(Vec<String>, Vec<Piece>), Flaw> {
    let read = items.iter().enumerate().map(|(i, item)| {
        shape::object("system", item).map_err(|flaw| flaw.under(i))?;
        let text = text(item, "text");
        let piece = Piece {
            cache: breakpoint(&item["cache_control"]),
            ..text_piece(place, &text)
        };
        Ok((text, piece))
    });
    read.collect()
}

/// Refuses a block of the other role.
fn may_say(role: Role, block: &Value) -> Result<(), Flaw> {
    let (kind, other) = match (block["type"].as_str(), role) {
        (Some(kind @ "tool_use"), Role::User) => (kind, "assistant"),
        (Some(kind @ "tool_result"), Role::Assistant) => (kind, "user"),
        _ => return Ok(()),
    };
    let rule = format!("`{kind}` blocks can only be in `{other}` messages");
    Err(Flaw::here(rule))
}

/// Reads a block that has its shape.
fn block(value: &Value, role: Role) -> Result<(Block, Piece), Flaw> {
    let kind = value["type"].as_str().unwrap_or_default();
    let place = role as u8;
    let (block, tokens, hash) = match kind {
        "text" => {
            let text = text(value, "text");
            let Piece { tokens, hash, .. } = text_piece(place, &text);
            (Block::Text(text), tokens, hash)
        }
        "tool_use" => {
            let (id, name) = (text(value, "id"), text(value, "name"));
            let input = value["input"].clone();
            let hash = hash(&(place, kind, &id, &name, input.to_string()));
            let tokens = tokens(&name) + json_tokens(&input);
            (Block::ToolUse { id, name, input }, tokens, hash)
        }
        "tool_result" => {
            let is_error = value["is_error"] == true;
            let read = content_of(&value["content"]);
            let (content, tokens) = read.map_err(|flaw| flaw.under("content").under(kind))?;
            if is_error && content.is_empty() {
                let rule = "content cannot be empty if `is_error` is true";
                return Err(Flaw::at(kind, rule));
            }
            let tool_use_id = text(value, "tool_use_id");
            let hash = hash(&(place, kind, &tool_use_id, &content, is_error));
            let result = Block::ToolResult {
                tool_use_id,
                content,
                is_error,
            };
            (result, tokens, hash)
        }
        _ => {
            let mut value = value.clone();
            value.as_object_mut().map(|map| map.remove("cache_control"));
            let cost = match kind {
                "image" => IMAGE_TOKENS,
                "document" => document(&value)?,
                _ => json_tokens(&value),
            };
            let hash = hash(&(place, value.to_string()));
            (Block::Other(value), cost, hash)
        }
    };
    let cache = breakpoint(&value["cache_control"]);
    let piece = Piece {
        tokens,
        hash,
        cache,
    };
    Ok((block, piece))
}

/// The text of content that is no message, and what it costs; blocks that are no text stand in it as JSON.
pub fn content_of(value: &Value) -> Result<(String, u32), Flaw> {
    if let Some(text) = value.as_str() {
        return Ok((text.to_owned(), tokens(text)));
    }
    let (mut texts, mut cost) = (Vec::new(), 0);
    for (i, item) in value.as_array().into_iter().flatten().enumerate() {
        let (block, piece) = block(item, Role::User).map_err(|flaw| flaw.under(i))?;
        cost += piece.tokens;
        texts.push(match block {
            Block::Text(text) => text,
            Block::Other(value) => value.to_string(),
            Block::ToolUse { .. } | Block::ToolResult { .. } => String::new(),
        });
    }
    Ok((texts.join("\n"), cost))
}

/// What a document costs.
fn document(block: &Value) -> Result<u32, Flaw> {
    let source = &block["source"];
    Ok(match source["type"].as_str() {
        Some("content") => content_of(&source["content"])?.1,
        Some("text") => tokens(&text(source, "data")),
        _ => DOCUMENT_TOKENS,
    })
}

/// How long a breakpoint keeps its prefix; `None` without one.
pub fn breakpoint(control: &Value) -> Option<Life> {
    control.is_object().then(|| match control["ttl"].as_str() {
        Some("1h") => Life::OneHour,
        _ => Life::FiveMinutes,
    })
}

fn text(object: &Value, name: &str) -> String {
    object[name].as_str().unwrap_or_default().to_owned()
}

fn text_piece(place: u8, text: &str) -> Piece {
    Piece {
        tokens: tokens(text),
        hash: hash(&(place, text)),
        cache: None,
    }
}

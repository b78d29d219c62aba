//! The rules of one message and of the system prompt.
//!
//! A message is read once and remembered by its bytes, so everything a later request needs of it is worked out here:
//! the typed blocks for the brain, tokens and content hash for usage and cache.
//! Invariant: nothing here depends on the messages before and after.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use serde_json::Value;

use super::fields::{Fields, life, list, text};
use super::tools::{TOOL_NAME, is_tool_name, is_word};
use crate::model::cache::Piece;
use crate::model::refusal::Flaw;
use crate::model::tokens::{json_tokens, tokens};
use crate::model::types::{Block, Message, Role};

/// A message that passed its rules.
#[derive(Debug)]
pub struct Known {
    /// The message as a brain sees it.
    pub message: Arc<Message>,
    /// One piece per block, for usage and cache.
    pub pieces: Vec<Piece>,
}

const OTHER_TYPES: [&str; 15] = [
    "bash_code_execution_tool_result",
    "browser_state",
    "code_execution_tool_result",
    "container_upload",
    "document",
    "image",
    "redacted_thinking",
    "search_result",
    "server_tool_use",
    "text_editor_code_execution_tool_result",
    "thinking",
    "tool_reference",
    "tool_search_tool_result",
    "web_fetch_tool_result",
    "web_search_tool_result",
];

/// Reads one message.
pub fn message(value: Value) -> Result<Known, Flaw> {
    let mut fields = Fields::of(value)?;
    let role = role(fields.string("role")?)?;
    let content = fields.required("content")?;
    fields.none_left()?;
    let mut blocks = Vec::new();
    let mut pieces = Vec::new();
    match content {
        // Whether a message may be empty depends on its place; `conversation` knows it.
        Value::String(text) if text.is_empty() => {}
        Value::String(text) => {
            speaks(&text).map_err(|flaw| flaw.under("content"))?;
            pieces.push(text_piece(role as u8, &text));
            blocks.push(Block::Text(text));
        }
        Value::Array(items) => {
            for (i, item) in items.into_iter().enumerate() {
                let read = block(item, role);
                let (block, piece) = read.map_err(|flaw| flaw.under(i).under("content"))?;
                blocks.push(block);
                pieces.push(piece);
            }
        }
        _ => {
            return Err(Flaw::at(
                "content",
                "Input should be a valid string or array",
            ));
        }
    }
    Ok(Known {
        message: Arc::new(Message { role, blocks }),
        pieces,
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
    let items = match value {
        Value::String(text) if text.is_empty() => return Ok(System::default()),
        Value::String(text) => {
            let pieces = vec![text_piece(SYSTEM, &text)];
            return Ok(System {
                text: text.into(),
                pieces,
            });
        }
        Value::Array(items) => items,
        _ => return Err(Flaw::here("Input should be a valid string or array")),
    };
    let mut texts = Vec::new();
    let mut pieces = Vec::new();
    for (i, item) in items.into_iter().enumerate() {
        let (text, piece) = system_block(item).map_err(|flaw| flaw.under(i))?;
        texts.push(text);
        pieces.push(piece);
    }
    Ok(System {
        text: texts.join("\n\n").into(),
        pieces,
    })
}

/// Where a piece of the prompt stands; part of its hash, so that equal words in other places are other prefixes.
const SYSTEM: u8 = 2;

fn role(name: String) -> Result<Role, Flaw> {
    match name.as_str() {
        "user" => Ok(Role::User),
        "assistant" => Ok(Role::Assistant),
        "system" => Err(Flaw::here(
            "Unexpected role \"system\". The Messages API accepts a top-level `system` parameter, not \"system\" as an \
             input message role.",
        )),
        _ => Err(Flaw::at("role", "Input should be 'user' or 'assistant'")),
    }
}

fn system_block(value: Value) -> Result<(String, Piece), Flaw> {
    let mut fields = Fields::of(value)?;
    if fields.string("type")? != "text" {
        return Err(Flaw::at("type", "Input should be 'text'"));
    }
    let text = fields.string("text")?;
    speaks(&text)?;
    let cache = fields.cache_control()?;
    fields.none_left()?;
    let piece = Piece {
        cache,
        ..text_piece(SYSTEM, &text)
    };
    Ok((text, piece))
}

fn block(value: Value, role: Role) -> Result<(Block, Piece), Flaw> {
    let kind = match value.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(_) => return Err(Flaw::at("type", "Input should be a valid string")),
        None if value.is_object() => return Err(Flaw::at("type", "Field required")),
        None => return Err(Flaw::here("Input should be an object")),
    };
    if OTHER_TYPES.contains(&kind.as_str()) {
        return other_block(value, role);
    }
    let mut fields = Fields::of(value)?;
    fields.ignore(&["type"]);
    let read = match (kind.as_str(), role) {
        ("text", _) => text_block(fields, role),
        ("tool_use", Role::Assistant) => tool_use(fields),
        ("tool_result", Role::User) => tool_result(fields),
        ("tool_use", Role::User) => {
            return Err(Flaw::here(
                "`tool_use` blocks can only be in `assistant` messages",
            ));
        }
        ("tool_result", Role::Assistant) => {
            return Err(Flaw::here(
                "`tool_result` blocks can only be in `user` messages",
            ));
        }
        (other, _) => return Err(unknown_tag(other)),
    };
    read.map_err(|flaw| flaw.under(kind))
}

fn text_block(mut fields: Fields, role: Role) -> Result<(Block, Piece), Flaw> {
    let text = fields.string("text")?;
    speaks(&text)?;
    let cache = fields.cache_control()?;
    fields.ignore(&["citations"]);
    fields.none_left()?;
    let piece = Piece {
        cache,
        ..text_piece(role as u8, &text)
    };
    Ok((Block::Text(text), piece))
}

fn tool_use(mut fields: Fields) -> Result<(Block, Piece), Flaw> {
    let id = fields.string("id")?;
    if !is_word(&id) {
        return Err(Flaw::at(
            "id",
            "String should match pattern '^[a-zA-Z0-9_-]+$'",
        ));
    }
    let name = fields.string("name")?;
    if !is_tool_name(&name) {
        return Err(Flaw::at("name", TOOL_NAME));
    }
    let input = fields.required("input")?;
    if !input.is_object() {
        return Err(Flaw::at("input", "Input should be a valid dictionary"));
    }
    let cache = fields.cache_control()?;
    fields.ignore(&["caller", "toolset_name"]);
    fields.none_left()?;
    let hash = hash(&(
        Role::Assistant as u8,
        "tool_use",
        &id,
        &name,
        input.to_string(),
    ));
    let tokens = tokens(&name) + json_tokens(&input);
    Ok((
        Block::ToolUse { id, name, input },
        Piece {
            tokens,
            hash,
            cache,
        },
    ))
}

fn tool_result(mut fields: Fields) -> Result<(Block, Piece), Flaw> {
    let tool_use_id = fields.string("tool_use_id")?;
    if !is_word(&tool_use_id) {
        return Err(Flaw::at(
            "tool_use_id",
            "String should match pattern '^[a-zA-Z0-9_-]+$'",
        ));
    }
    let is_error = fields.flag("is_error")?;
    let content = fields.optional("content").map(result_content).transpose();
    let content = content
        .map_err(|flaw| flaw.under("content"))?
        .unwrap_or_default();
    let cache = fields.cache_control()?;
    fields.ignore(&["toolset_name"]);
    fields.none_left()?;
    if is_error && content.is_empty() {
        return Err(Flaw::here("content cannot be empty if `is_error` is true"));
    }
    let hash = hash(&(
        Role::User as u8,
        "tool_result",
        &tool_use_id,
        &content,
        is_error,
    ));
    let piece = Piece {
        tokens: tokens(&content),
        hash,
        cache,
    };
    Ok((
        Block::ToolResult {
            tool_use_id,
            content,
            is_error,
        },
        piece,
    ))
}

/// The text of a tool result; blocks that are no text stand in it as JSON.
fn result_content(value: Value) -> Result<String, Flaw> {
    if value.is_string() {
        return text(value);
    }
    let mut texts = Vec::new();
    for (i, item) in list(value)?.into_iter().enumerate() {
        let read = result_block(item).map_err(|flaw| flaw.under(i))?;
        texts.push(read);
    }
    Ok(texts.join("\n"))
}

fn result_block(value: Value) -> Result<String, Flaw> {
    match block(value, Role::User)?.0 {
        Block::Text(text) => Ok(text),
        Block::Other(value) => Ok(value.to_string()),
        Block::ToolUse { .. } | Block::ToolResult { .. } => Err(Flaw::here(
            "Input tag found using 'type' does not match any of the expected tags: 'document', 'image', \
             'search_result', 'text'",
        )),
    }
}

fn other_block(mut value: Value, role: Role) -> Result<(Block, Piece), Flaw> {
    let cache = value
        .as_object_mut()
        .and_then(|map| map.remove("cache_control"));
    let cache = cache
        .map(life)
        .transpose()
        .map_err(|flaw| flaw.under("cache_control"))?;
    let json = value.to_string();
    let piece = Piece {
        tokens: tokens(&json),
        hash: hash(&(role as u8, &json)),
        cache,
    };
    Ok((Block::Other(value), piece))
}

fn unknown_tag(tag: &str) -> Flaw {
    let mut expected = OTHER_TYPES.to_vec();
    expected.extend(["text", "tool_result", "tool_use"]);
    expected.sort_unstable();
    let expected = expected.join("', '");
    Flaw::here(format!(
        "Input tag '{tag}' found using 'type' does not match any of the expected tags: '{expected}'"
    ))
}

/// Refuses a text that says nothing.
fn speaks(text: &str) -> Result<(), Flaw> {
    if text.is_empty() {
        return Err(Flaw::here("text content blocks must be non-empty"));
    }
    if text.trim().is_empty() {
        return Err(Flaw::here(
            "text content blocks must contain non-whitespace text",
        ));
    }
    Ok(())
}

fn text_piece(place: u8, text: &str) -> Piece {
    Piece {
        tokens: tokens(text),
        hash: hash(&(place, text)),
        cache: None,
    }
}

fn hash(content: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    hasher.finish()
}

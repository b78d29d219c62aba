//! The rules of one message and of the system prompt.
//!
//! A message is read once and remembered by its bytes, so everything a later request needs of it is worked out here:
//! the typed blocks for the brain, tokens and content hash for usage and cache.
//! Invariant: nothing here depends on the messages before and after.

use std::sync::Arc;

use serde_json::{Value, json};

use super::betas::Need;
use super::fields::{Fields, choice, life, list, tag, text, unless_null};
use super::media;
use super::tools::{TOOL_NAME, is_tool_name, is_word};
use crate::model::cache::{Piece, hash};
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

/// The blocks of a message.
const TYPES: [&str; 16] = [
    "bash_code_execution_tool_result",
    "code_execution_tool_result",
    "container_upload",
    "document",
    "image",
    "redacted_thinking",
    "search_result",
    "server_tool_use",
    "text",
    "text_editor_code_execution_tool_result",
    "thinking",
    "tool_result",
    "tool_search_tool_result",
    "tool_use",
    "web_fetch_tool_result",
    "web_search_tool_result",
];
/// The blocks that come with a beta.
const BETA_TYPES: [(&str, &[&str]); 6] = [
    ("advisor_tool_result", &["advisor-tool-"]),
    ("compaction", &["compact-"]),
    ("fallback", &["server-side-fallback-"]),
    ("mcp_tool_listing", &["mcp-client-"]),
    ("mcp_tool_result", &["mcp-client-"]),
    ("mcp_tool_use", &["mcp-client-"]),
];
/// The blocks of a tool's result.
const RESULT_TYPES: [&str; 6] = [
    "browser_state",
    "document",
    "image",
    "search_result",
    "text",
    "tool_reference",
];

/// Reads one message.
pub fn message(value: Value) -> Result<Known, Flaw> {
    let mut fields = Fields::of(value)?;
    let role = match fields.string("role")?.as_str() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "system" => return instructions(fields),
        _ => {
            return Err(Flaw::at(
                "role",
                "Input should be 'user', 'assistant' or 'system'",
            ));
        }
    };
    let content = fields.required("content")?;
    fields.none_left()?;
    let (mut blocks, mut pieces, mut needs) = (Vec::new(), Vec::new(), Vec::new());
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
                let here = |flaw: Flaw| flaw.under(i).under("content");
                let beta = BETA_TYPES.iter().find(|(kind, _)| item["type"] == *kind);
                let read = match beta {
                    Some((kind, betas)) => {
                        // Refused as the unknown block that it is without the beta.
                        let unknown = tag(&item, &TYPES).map_err(here);
                        needs.extend(unknown.err().map(|flaw| Need::new(betas, flaw)));
                        other_block(kind, item, role)
                    }
                    None => tag(&item, &TYPES).and_then(|kind| block(kind, item, role)),
                };
                let (block, piece) = read.map_err(here)?;
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
        said: Said::Turn(Arc::new(Message { role, blocks })),
        pieces,
        needs,
    })
}

/// Reads a message with the role `system`. Where it may stand, `conversation` knows.
fn instructions(mut fields: Fields) -> Result<Known, Flaw> {
    let mut needs = Vec::new();
    let mut need = |name, betas| {
        let flaw = Flaw::at(name, "Extra inputs are not permitted");
        needs.push(Need::new(betas, flaw));
    };
    let mut passing = false;
    if let Some(clear_at) = fields.optional("clear_at") {
        need("clear_at", &["mid-conversation-system-clear-at-"]);
        passing = clear_at == "next_user_message";
        choice(clear_at, &["next_user_message", "never"]).map_err(|flaw| flaw.under("clear_at"))?;
    }
    let config = fields.optional("output_config");
    if config.is_some() {
        need("output_config", &["mid-conversation-output-config-"]);
    }
    let content = match &config {
        Some(_) => fields.optional("content").unwrap_or_default(),
        None => fields.required("content")?,
    };
    fields.none_left()?;
    let items = match content {
        Value::Null if config.is_some() => Vec::new(),
        Value::String(text) if text.is_empty() => Vec::new(),
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        Value::Array(items) => items,
        _ => {
            return Err(Flaw::at(
                "content",
                "Input should be a valid string or array",
            ));
        }
    };
    if items.is_empty() && config.is_none() {
        return Err(Flaw::here("system content must contain at least one block"));
    }
    let (texts, pieces) =
        system_blocks(items, INSTRUCTIONS).map_err(|flaw| flaw.under("content"))?;
    let text = (!texts.is_empty()).then(|| texts.join("\n\n"));
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
    let (texts, pieces) = system_blocks(items, SYSTEM)?;
    Ok(System {
        text: texts.join("\n\n").into(),
        pieces,
    })
}

/// Where a piece of the prompt stands; part of its hash, so that equal words in other places are other prefixes. The
/// roles are 0 and 1.
const SYSTEM: u8 = 2;
const INSTRUCTIONS: u8 = 3;

fn system_blocks(items: Vec<Value>, place: u8) -> Result<(Vec<String>, Vec<Piece>), Flaw> {
    let read = items.into_iter().enumerate().map(|(i, item)| {
        let read = system_block(item, place);
        read.map_err(|flaw| flaw.under(i))
    });
    let read = read.collect::<Result<Vec<_>, _>>()?;
    Ok(read.into_iter().unzip())
}

fn system_block(value: Value, place: u8) -> Result<(String, Piece), Flaw> {
    let mut fields = Fields::of(value)?;
    choice(fields.required("type")?, &["text"]).map_err(|flaw| flaw.under("type"))?;
    let text = fields.string("text")?;
    speaks(&text)?;
    let cache = fields.cache_control()?;
    fields.none_left()?;
    let piece = Piece {
        cache,
        ..text_piece(place, &text)
    };
    Ok((text, piece))
}

fn block(kind: &str, value: Value, role: Role) -> Result<(Block, Piece), Flaw> {
    let read = match (kind, role) {
        ("text", _) => text_block,
        ("tool_use", Role::Assistant) => tool_use,
        ("tool_result", Role::User) => tool_result,
        ("tool_use" | "tool_result", _) => {
            let other = if role == Role::User {
                "assistant"
            } else {
                "user"
            };
            let rule = format!("`{kind}` blocks can only be in `{other}` messages");
            return Err(Flaw::here(rule));
        }
        _ => return other_block(kind, value, role),
    };
    let mut fields = Fields::of(value)?;
    fields.ignore(&["type"]);
    read(fields, role).map_err(|flaw| flaw.under(kind))
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

fn tool_use(mut fields: Fields, role: Role) -> Result<(Block, Piece), Flaw> {
    let id = id(&mut fields, "id")?;
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
    let hash = hash(&(role as u8, "tool_use", &id, &name, input.to_string()));
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

/// The id of a call, in the field of this name.
fn id(fields: &mut Fields, name: &str) -> Result<String, Flaw> {
    let pattern = "String should match pattern '^[a-zA-Z0-9_-]+$'";
    let id = fields.string(name)?;
    is_word(&id)
        .then_some(id)
        .ok_or_else(|| Flaw::at(name, pattern))
}

fn tool_result(mut fields: Fields, role: Role) -> Result<(Block, Piece), Flaw> {
    let tool_use_id = id(&mut fields, "tool_use_id")?;
    let is_error = fields.flag("is_error")?;
    let content = fields.optional("content");
    let content = content.map(|content| content_of(content, &RESULT_TYPES));
    let (content, tokens) = content
        .transpose()
        .map_err(|flaw| flaw.under("content"))?
        .unwrap_or_default();
    let cache = fields.cache_control()?;
    fields.ignore(&["toolset_name"]);
    fields.none_left()?;
    if is_error && content.is_empty() {
        return Err(Flaw::here("content cannot be empty if `is_error` is true"));
    }
    let hash = hash(&(role as u8, "tool_result", &tool_use_id, &content, is_error));
    let piece = Piece {
        tokens,
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

/// The text of content that is no message, and what it costs; blocks that are no text stand in it as JSON.
pub fn content_of(value: Value, types: &[&'static str]) -> Result<(String, u32), Flaw> {
    if value.is_string() {
        let text = text(value)?;
        let tokens = tokens(&text);
        return Ok((text, tokens));
    }
    let (mut texts, mut cost) = (Vec::new(), 0);
    for (i, item) in list(value)?.into_iter().enumerate() {
        let read = tag(&item, types).and_then(|kind| block(kind, item, Role::User));
        let (block, piece) = read.map_err(|flaw| flaw.under(i))?;
        cost += piece.tokens;
        texts.push(match block {
            Block::Text(text) => text,
            Block::Other(value) => value.to_string(),
            Block::ToolUse { .. } | Block::ToolResult { .. } => String::new(),
        });
    }
    Ok((texts.join("\n"), cost))
}

fn other_block(kind: &str, mut value: Value, role: Role) -> Result<(Block, Piece), Flaw> {
    let cache = value
        .as_object_mut()
        .and_then(|map| map.remove("cache_control"));
    let cache = cache.and_then(|cache| unless_null(cache, life).transpose());
    let cache = cache
        .transpose()
        .map_err(|flaw| flaw.under("cache_control"))?;
    let cost = match kind {
        "image" => media::image(&value),
        "document" => media::document(&value),
        _ => Ok(json_tokens(&value)),
    };
    let piece = Piece {
        tokens: cost.map_err(|flaw| flaw.under(kind))?,
        hash: hash(&(role as u8, value.to_string())),
        cache,
    };
    Ok((Block::Other(value), piece))
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

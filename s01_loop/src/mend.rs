//! Blocks of the model's, made fit to be sent back.
//!
//! A server on a laptop sends what the API refuses: a call without an id, a name with a dot, a block of its own invention.
//! All of it would go out again with every later request, and each would fail. Invariants: what comes out of here the API
//! takes back; what is fit comes out as it came; and it can be written down and read again.

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use crate::message::{Block, Message};
use crate::tool::ToolCall;

/// How deep the input of a call may be nested. JSON is read up to 128 levels, and a saved conversation adds some.
pub(crate) const MAX_DEPTH: usize = 100;

/// The only field of an input that could not be kept: no JSON, no object, or nested deeper.
pub(crate) const UNREADABLE: &str = "unreadable_input";

/// The most characters of a name or an id.
const LONGEST_WORD: usize = 128;

/// The block as it can be sent back, if it can. `is_used` knows the ids of other calls.
pub(crate) fn mend(block: Block, is_used: impl Fn(&str) -> bool) -> Option<Block> {
    match block {
        block if block.is_empty_text() => None,
        Block::Text { text, .. } => Some(Block::text(text)),
        Block::ToolUse(call) => Some(Block::ToolUse(mend_call(call, is_used))),
        Block::Other(Value::Object(fields)) => thinking(fields).map(Block::Other),
        Block::Other(_) | Block::ToolResult { .. } => None,
    }
}

/// Whether a call has this id, in a reply that is not whole yet or in the messages before it.
pub(crate) fn is_used(id: &str, blocks: &[Block], earlier: &[Message]) -> bool {
    let is_it = |block: &Block| matches!(block, Block::ToolUse(call) if call.id == id);
    blocks.iter().any(is_it) || earlier.iter().any(|message| message.blocks().iter().any(is_it))
}

fn mend_call(mut call: ToolCall, is_used: impl Fn(&str) -> bool) -> ToolCall {
    call.name = word(&call.name, "unnamed");
    let id = word(&call.id, "call");
    call.id = id.clone();
    let mut copy = 1;
    while is_used(&call.id) {
        copy += 1;
        call.id = format!("{id}_{copy}");
    }
    if depth(&call.input) > MAX_DEPTH {
        call.input = json!({ UNREADABLE: null });
    } else if !call.input.is_object() {
        call.input = json!({ UNREADABLE: call.input });
    }
    call.extra.clear();
    call
}

/// Reads the name or the id of a call. A server on a laptop may leave it out, or count.
pub(crate) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => text,
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    })
}

/// The text in the letters that the API allows.
fn word(text: &str, otherwise: &str) -> String {
    let letter = |letter: char| match letter {
        '_' | '-' => letter,
        letter if letter.is_ascii_alphanumeric() => letter,
        _ => '_',
    };
    match text {
        "" => otherwise.to_owned(),
        _ => text.chars().take(LONGEST_WORD).map(letter).collect(),
    }
}

/// A block of thinking without what the API does not know of it; the API takes back no other kind that we ask for.
fn thinking(mut block: Map<String, Value>) -> Option<Value> {
    let fields: &[&str] = match block.get("type")?.as_str()? {
        "thinking" => &["thinking", "signature"],
        "redacted_thinking" => &["data"],
        _ => return None,
    };
    block.retain(|field, _| field == "type" || fields.contains(&field.as_str()));
    let is_whole = block.len() > fields.len() && block.values().all(Value::is_string);
    is_whole.then_some(Value::Object(block))
}

fn depth(value: &Value) -> usize {
    let deepest = |values: &mut dyn Iterator<Item = &Value>| values.map(depth).max().unwrap_or(0);
    match value {
        Value::Array(items) => 1 + deepest(&mut items.iter()),
        Value::Object(fields) => 1 + deepest(&mut fields.values()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

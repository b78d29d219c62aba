//! Blocks of the model's, made fit to be sent back.
//!
//! A server on a laptop sends what the API refuses: a call without an id, a name with a dot, a block of its own invention.
//! All of it would go out again with every later request, and each would fail. Invariants: what comes out of here the API
//! takes back; what is fit comes out as it came; and it can be written down and read again.

use serde_json::{Map, Value, json};

use crate::message::{Block, Message, Role};
use crate::tool::ToolCall;

/// How deep the input of a call may be nested. JSON is read up to 128 levels, and a saved conversation adds some.
pub(crate) const MAX_DEPTH: usize = 100;

/// The field of a call whose input was nested deeper, in place of all others.
pub(crate) const TOO_DEEP: &str = "nested_too_deeply";

/// The most characters of a name or an id.
const LONGEST_WORD: usize = 128;

/// The blocks beside text and calls that the API takes back, and their fields: without one of them it does not, and others it
/// does not know.
const TAKEN_BACK: [(&str, &[&str]); 9] = [
    ("bash_code_execution_tool_result", RESULT),
    ("code_execution_tool_result", RESULT),
    ("redacted_thinking", &["data"]),
    ("server_tool_use", &["id", "name", "input"]),
    ("text_editor_code_execution_tool_result", RESULT),
    ("thinking", &["thinking", "signature"]),
    ("tool_search_tool_result", RESULT),
    ("web_fetch_tool_result", RESULT),
    ("web_search_tool_result", RESULT),
];
const RESULT: &[&str] = &["tool_use_id", "content"];

/// The block as it can be sent back, if it can. `is_used` knows the ids of other calls.
pub(crate) fn mend(block: Block, is_used: impl Fn(&str) -> bool) -> Option<Block> {
    match block {
        block if block.is_empty_text() => None,
        Block::Text { text, mut extra } => {
            extra.retain(|field, value| field == "citations" && value.is_array());
            Some(Block::Text { text, extra })
        }
        Block::ToolUse(call) => Some(Block::ToolUse(mend_call(call, is_used))),
        Block::Other(Value::Object(fields)) if fields.get("type") == Some(&json!("tool_use")) => {
            Some(Block::ToolUse(mend_call(half_call(fields), is_used)))
        }
        Block::Other(Value::Object(fields)) => taken_back(fields).map(Block::Other),
        Block::Other(_) | Block::ToolResult { .. } => None,
    }
}

/// A message of an earlier conversation as it can be sent after these, and which ids became which.
pub(crate) fn mend_reply(
    message: Message,
    earlier: &[Message],
) -> (Message, Vec<(String, String)>) {
    let mut blocks: Vec<Block> = Vec::new();
    let mut renamed = Vec::new();
    for block in message.blocks() {
        let mended = mend(block.clone(), |id| is_used(id, &blocks, earlier));
        if let (Block::ToolUse(old), Some(Block::ToolUse(new))) = (block, &mended)
            && old.id != new.id
        {
            renamed.push((old.id.clone(), new.id.clone()));
        }
        blocks.extend(mended);
    }
    if blocks == message.blocks() {
        (message, renamed)
    } else {
        (Message::new(Role::Assistant, blocks), renamed)
    }
}

/// The answers to a reply some of whose calls have other ids now.
pub(crate) fn mend_answers(message: Message, mut renamed: Vec<(String, String)>) -> Message {
    if renamed.is_empty() {
        return message;
    }
    let mut blocks = message.blocks().to_vec();
    for block in &mut blocks {
        if let Block::ToolResult { tool_use_id, .. } = block
            && let Some(at) = renamed.iter().position(|(old, _)| old == tool_use_id)
        {
            *tool_use_id = renamed.remove(at).1;
        }
    }
    Message::new(message.role(), blocks)
}

/// Whether a call has this id, in a reply that is not whole yet or in the messages before it.
pub(crate) fn is_used(id: &str, blocks: &[Block], earlier: &[Message]) -> bool {
    let is_it = |block: &Block| matches!(block, Block::ToolUse(call) if call.id == id);
    blocks.iter().any(is_it)
        || earlier
            .iter()
            .any(|message| message.blocks().iter().any(is_it))
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
        call.input = json!({ TOO_DEEP: true });
    } else if !call.input.is_object() {
        // Under a name that no tool knows, so that the tool can complain.
        call.input = json!({ "not_an_object": call.input });
    }
    call.extra.retain(|field, value| is_caller(field, value));
    call
}

/// A call that lacks something.
fn half_call(mut fields: Map<String, Value>) -> ToolCall {
    let mut text = |field| match fields.remove(field) {
        Some(Value::String(text)) => text,
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    ToolCall {
        id: text("id"),
        name: text("name"),
        input: fields.remove("input").unwrap_or_else(|| json!({})),
        extra: Map::new(),
    }
}

/// The text in the letters that the API allows.
fn word(text: &str, otherwise: &str) -> String {
    let letter = |letter| if is_allowed(letter) { letter } else { '_' };
    match text {
        "" => otherwise.to_owned(),
        _ => text.chars().take(LONGEST_WORD).map(letter).collect(),
    }
}

fn is_allowed(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-')
}

/// The block without what the API does not know of it, if it is one of those that the API takes back.
fn taken_back(mut block: Map<String, Value>) -> Option<Value> {
    let kind = block.get("type")?.as_str()?;
    let (_, fields) = TAKEN_BACK.iter().find(|(name, _)| *name == kind)?;
    let is_whole = fields
        .iter()
        .all(|field| block.get(*field).is_some_and(|value| is_fit(field, value)));
    block.retain(|field, value| {
        field == "type" || fields.contains(&field.as_str()) || is_caller(field, value)
    });
    let block = Value::Object(block);
    (is_whole && depth(&block) <= MAX_DEPTH).then_some(block)
}

fn is_fit(field: &str, value: &Value) -> bool {
    match field {
        "content" => value.is_array() || value.is_object(),
        "input" => value.is_object(),
        "id" | "tool_use_id" => value
            .as_str()
            .is_some_and(|id| !id.is_empty() && id.chars().all(is_allowed)),
        _ => value.is_string(),
    }
}

/// Who called a tool, where programs may.
fn is_caller(field: &str, value: &mut Value) -> bool {
    field == "caller" && value.is_object()
}

fn depth(value: &Value) -> usize {
    let deepest = |values: &mut dyn Iterator<Item = &Value>| values.map(depth).max().unwrap_or(0);
    match value {
        Value::Array(items) => 1 + deepest(&mut items.iter()),
        Value::Object(fields) => 1 + deepest(&mut fields.values()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

//! Messages: what user and model say to each other, block by block; and the system prompt before them.
//!
//! The whole conversation is sent again with every request, so a message is serialized once and kept.
//! Invariant: a message never changes; a block we have no type for is sent back as it came.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use crate::tool::ToolCall;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user, or the harness in the user's place: tool results are user messages.
    User,
    /// The model.
    Assistant,
}

/// One content block of a message (Messages API, "content").
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Text for the other side.
    Text {
        /// The text, never empty.
        text: String,
        /// Fields we have no name for (citations, `cache_control`, …).
        #[serde(flatten)]
        extra: Map<String, Value>,
    },
    /// The model wants a tool to run.
    ToolUse(ToolCall),
    /// What the tool answered.
    ToolResult {
        /// The id of the call it answers.
        tool_use_id: String,
        /// The answer.
        #[serde(default)]
        content: String,
        /// Whether the tool failed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        /// Fields we have no name for.
        #[serde(flatten)]
        extra: Map<String, Value>,
    },
    /// A block of a type this course does not use (thinking, image, …), kept as it came.
    #[serde(untagged)]
    Other(Value),
}

impl Block {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text {
            text: text.into(),
            extra: Map::new(),
        }
    }

    /// The id of the call that it answers.
    pub(crate) fn answered_id(&self) -> Option<&str> {
        match self {
            Self::ToolResult { tool_use_id, .. } => Some(tool_use_id),
            Self::Text { .. } | Self::ToolUse(_) | Self::Other(_) => None,
        }
    }

    /// A text block without text, which the API refuses.
    pub(crate) fn is_empty_text(&self) -> bool {
        matches!(self, Self::Text { text, .. } if text.trim().is_empty())
    }
}

/// One message of a conversation. Cloning it costs two pointers.
#[derive(Clone, Debug)]
pub struct Message {
    body: Arc<Body>,
    /// Its JSON, made on creation and sent with every later request.
    wire: Arc<RawValue>,
}

/// A message as it goes out and is stored.
#[derive(Debug, Serialize, Deserialize)]
struct Body {
    role: Role,
    content: Vec<Block>,
}

impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        self.wire() == other.wire()
    }
}

impl Message {
    /// A message of these blocks.
    pub fn new(role: Role, content: Vec<Block>) -> Self {
        let body = Body { role, content };
        let wire = to_raw_value(&body).expect("strings and JSON values serialize");
        Self {
            body: Arc::new(body),
            wire: wire.into(),
        }
    }

    /// A user message of one text block.
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, vec![Block::text(text)])
    }

    /// An assistant message of one text block.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::new(Role::Assistant, vec![Block::text(text)])
    }

    /// Who said it.
    pub fn role(&self) -> Role {
        self.body.role
    }

    /// Its blocks, in order.
    pub fn blocks(&self) -> &[Block] {
        &self.body.content
    }

    /// Its text blocks, joined by newlines.
    pub fn text(&self) -> String {
        join_text(self.blocks())
    }

    /// The tool calls in it, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks().iter().filter_map(|block| match block {
            Block::ToolUse(call) => Some(call),
            Block::Text { .. } | Block::ToolResult { .. } | Block::Other(_) => None,
        })
    }

    /// The ids of the calls it answers, in order.
    pub fn answered_ids(&self) -> impl Iterator<Item = &str> {
        self.blocks().iter().filter_map(Block::answered_id)
    }

    /// Its JSON, serialized when it was made.
    pub fn wire(&self) -> &str {
        self.wire.get()
    }

    /// The message with a prompt-cache breakpoint.
    pub(crate) fn with_breakpoint(&self) -> Self {
        let mut blocks = self.blocks().to_vec();
        mark(&mut blocks);
        Self::new(self.role(), blocks)
    }
}

impl Serialize for Message {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.wire.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Body { role, content } = Body::deserialize(deserializer)?;
        Ok(Self::new(role, content))
    }
}

/// The system prompt: text blocks, each of which may end in a prompt-cache breakpoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct System(Vec<Block>);

impl System {
    /// Adds a block of text; a blank one, which the API refuses, is left out.
    pub fn and(mut self, text: impl Into<String>) -> Self {
        self.0.extend(Some(Block::text(text)).filter(|block| !block.is_empty_text()));
        self
    }

    /// Puts a prompt-cache breakpoint after the last block.
    pub fn breakpoint(mut self) -> Self {
        mark(&mut self.0);
        self
    }

    /// Whether it says nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// About how many bytes of a request it is.
    pub fn size(&self) -> usize {
        join_text(&self.0).len()
    }
}

impl<T: Into<String>> From<T> for System {
    fn from(text: T) -> Self {
        Self::default().and(text)
    }
}

/// The value of `cache_control` that marks a breakpoint.
pub(crate) fn ephemeral() -> Value {
    json!({ "type": "ephemeral" })
}

/// Puts a breakpoint on the last block that may bear one (a thinking block may not): the API keeps the prompt up to there for
/// five minutes.
fn mark(blocks: &mut [Block]) {
    let last = blocks.iter_mut().rev().find_map(|block| match block {
        Block::Text { extra, .. } | Block::ToolResult { extra, .. } => Some(extra),
        Block::ToolUse(call) => Some(&mut call.extra),
        Block::Other(_) => None,
    });
    if let Some(extra) = last {
        extra.insert("cache_control".into(), ephemeral());
    }
}

fn join_text(blocks: &[Block]) -> String {
    let texts: Vec<&str> = blocks
        .iter()
        .filter_map(|block| match block {
            Block::Text { text, .. } => Some(text.as_str()),
            Block::ToolUse(_) | Block::ToolResult { .. } | Block::Other(_) => None,
        })
        .collect();
    texts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_block_is_sent_back_as_it_came() {
        let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "c2ln"});
        let wire = json!({"role": "assistant", "content": [thinking, {"type": "text", "text": "Hi", "citations": []}]});
        let message: Message = serde_json::from_value(wire.clone()).unwrap();
        assert_eq!(serde_json::from_str::<Value>(message.wire()).unwrap(), wire);
        assert_eq!(message.text(), "Hi");
    }

    #[test]
    fn a_breakpoint_marks_the_last_block_only() {
        let message = Message::new(Role::User, vec![Block::text("a"), Block::text("b")]);
        let marked = json!(message.with_breakpoint());
        assert_eq!(marked["content"][0].get("cache_control"), None);
        assert_eq!(marked["content"][1]["cache_control"], json!({"type": "ephemeral"}));
    }
}

//! What a brain sees and what it answers: the Messages API without its wire format.
//!
//! The server parses, checks and counts; a brain only thinks. Both brains, rehearsal and scripted, speak these types.
//! Invariant: a brain never sees a request that the real API would have refused.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;

/// One request, already checked against the rules of the API.
#[derive(Clone, Debug)]
pub struct Request {
    /// The model id the client asked for.
    pub model: String,
    /// The most tokens the reply may have.
    pub max_tokens: u32,
    /// The system prompt, and behind it what messages with the role `system` say: blocks joined by blank lines, empty
    /// when there are none.
    pub system: Arc<str>,
    /// The tools on offer, in the order of the request.
    pub tools: Arc<[Tool]>,
    /// The conversation. Consecutive messages of one role are already combined, as the API does.
    pub messages: Vec<Arc<Message>>,
    /// The body as it was sent. Bytes, because a parsed copy of every request would cost more than all the rest.
    pub body: Bytes,
}

impl Request {
    /// The body parsed, for assertions on what has no field here (`cache_control`, `metadata`, …).
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a request that reached a brain is valid JSON")
    }

    /// The names of the tools on offer.
    pub fn tool_names(&self) -> Vec<String> {
        self.tools.iter().map(|tool| tool.name.clone()).collect()
    }

    /// The tools that were called so far, reply by reply; replies without a call are left out.
    pub fn calls(&self) -> Vec<Vec<String>> {
        let names = |message: &Arc<Message>| {
            let names = message.blocks.iter().filter_map(|block| match block {
                Block::ToolUse { name, .. } => Some(name.clone()),
                Block::Text(_) | Block::ToolResult { .. } | Block::Other(_) => None,
            });
            names.collect::<Vec<_>>()
        };
        let replies = self.messages.iter().map(names);
        replies.filter(|calls| !calls.is_empty()).collect()
    }

    /// The results of tools so far: whether the tool failed, and its text.
    pub fn results(&self) -> Vec<(bool, String)> {
        let results = self.said_by_user().filter_map(|block| match block {
            Block::ToolResult {
                content, is_error, ..
            } => Some((*is_error, content.clone())),
            Block::Text(_) | Block::ToolUse { .. } | Block::Other(_) => None,
        });
        results.collect()
    }

    /// What the user's side has said in text so far.
    pub fn user_texts(&self) -> Vec<String> {
        let texts = self.said_by_user().filter_map(|block| match block {
            Block::Text(text) => Some(text.clone()),
            Block::ToolUse { .. } | Block::ToolResult { .. } | Block::Other(_) => None,
        });
        texts.collect()
    }

    fn said_by_user(&self) -> impl Iterator<Item = &Block> {
        let messages = self.messages.iter();
        let users = messages.filter(|message| message.role == Role::User);
        users.flat_map(|message| &message.blocks)
    }
}

/// A tool on offer.
#[derive(Clone, Debug)]
pub struct Tool {
    /// The name the model calls it by.
    pub name: String,
    /// What it says it does.
    pub description: String,
    /// The JSON Schema of its input.
    pub input_schema: Value,
}

/// Who said a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The user, or the harness in the user's name (tool results, reminders).
    User,
    /// The model.
    Assistant,
}

/// One message of the conversation.
#[derive(Clone, Debug)]
pub struct Message {
    /// Who said it.
    pub role: Role,
    /// What it consists of; a string content is one text block.
    pub blocks: Vec<Block>,
}

/// One content block.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// Text.
    Text(String),
    /// A tool the model called.
    ToolUse {
        /// The id its result must name.
        id: String,
        /// The tool's name.
        name: String,
        /// The arguments.
        input: Value,
    },
    /// What a tool answered.
    ToolResult {
        /// The id of the tool_use it answers.
        tool_use_id: String,
        /// The text of the result; several text blocks are joined by newlines.
        content: String,
        /// Whether the tool failed.
        is_error: bool,
    },
    /// Any other block (image, document, thinking, …), as it was sent.
    Other(Value),
}

/// What a brain answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// Text and tool calls, in order.
    pub blocks: Vec<ReplyBlock>,
    /// Why it stopped; `None` lets the server derive it (`tool_use` when a tool is called, else `end_turn`).
    pub stop_reason: Option<StopReason>,
    /// The stop sequence that ended it, with [`StopReason::StopSequence`].
    pub stop_sequence: Option<String>,
}

/// One block of a reply.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplyBlock {
    /// Text.
    Text(String),
    /// A tool call.
    ToolUse {
        /// The id; `None` lets the server make a fresh one.
        id: Option<String>,
        /// The tool's name.
        name: String,
        /// The arguments.
        input: Value,
    },
    /// A block that is streamed as it stands, whether or not the API would send it, as other servers do.
    AsItIs(Value),
}

/// Why a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The model had said all it wanted to say.
    EndTurn,
    /// The model waits for tool results.
    ToolUse,
    /// The reply reached `max_tokens`.
    MaxTokens,
    /// The text came to a stop sequence of the request.
    StopSequence,
    /// The model declined.
    Refusal,
}

/// A reply of one text block.
pub fn says(text: impl Into<String>) -> Reply {
    Reply::default().and_says(text)
}

/// A reply that calls one tool.
pub fn calls(name: impl Into<String>, input: Value) -> Reply {
    Reply::default().and_calls(name, input)
}

impl Reply {
    /// Adds a text block.
    pub fn and_says(mut self, text: impl Into<String>) -> Self {
        self.blocks.push(ReplyBlock::Text(text.into()));
        self
    }

    /// Adds a tool call with a fresh id.
    pub fn and_calls(mut self, name: impl Into<String>, input: Value) -> Self {
        self.blocks.push(ReplyBlock::ToolUse {
            id: None,
            name: name.into(),
            input,
        });
        self
    }

    /// Adds a block as it stands.
    pub fn and_block(mut self, block: Value) -> Self {
        self.blocks.push(ReplyBlock::AsItIs(block));
        self
    }

    /// Ends the reply for this reason, whatever it holds.
    pub fn stops_with(mut self, reason: StopReason) -> Self {
        self.stop_reason = Some(reason);
        self
    }
}

/// Thinks up the reply to a request.
pub trait Brain: Send + Sync {
    /// Answers one request.
    fn answer(&self, request: &Request) -> Reply;
}

/// A function is a brain: what a test needs when no script fits.
impl<F: Fn(&Request) -> Reply + Send + Sync> Brain for F {
    fn answer(&self, request: &Request) -> Reply {
        self(request)
    }
}

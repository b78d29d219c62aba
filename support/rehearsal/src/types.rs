//! What the rehearsal is asked, and what it answers: a request of the Messages API without its wire.
//!
//! It borrows everything, so that a conversation is not copied for a reply. Invariant: nothing here depends on anything else.

use serde_json::Value;

/// A tool on offer.
#[derive(Clone, Copy, Debug)]
pub struct Tool<'a> {
    /// The name it is called by.
    pub name: &'a str,
    /// What it says it does.
    pub description: &'a str,
    /// The JSON Schema of its input.
    pub schema: &'a Value,
}

/// One block of a message.
#[derive(Clone, Copy, Debug)]
pub enum Block<'a> {
    /// Text.
    Text(&'a str),
    /// A call of the model.
    Call {
        /// The id that its result names.
        id: &'a str,
        /// The tool's name.
        name: &'a str,
        /// The arguments.
        input: &'a Value,
    },
    /// What a tool answered.
    Result {
        /// The id of the call.
        id: &'a str,
        /// The text.
        text: &'a str,
        /// Whether the tool failed.
        failed: bool,
    },
}

/// One message.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    /// Whether it comes from the user's side.
    pub from_user: bool,
    /// What it consists of.
    pub blocks: Vec<Block<'a>>,
}

impl<'a> Message<'a> {
    /// Its texts.
    pub fn texts(&self) -> impl DoubleEndedIterator<Item = &'a str> + '_ {
        self.blocks
            .iter()
            .filter_map(|block| if let Block::Text(text) = block { Some(*text) } else { None })
    }
}

/// Which tools the reply may or must call.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Choice {
    /// As the model likes.
    #[default]
    Auto,
    /// Some tool.
    Any,
    /// This tool.
    Tool(String),
    /// No tool.
    None,
}

/// What the model is asked.
#[derive(Clone, Debug, Default)]
pub struct Request<'a> {
    /// The system prompt.
    pub system: &'a str,
    /// The tools on offer.
    pub tools: Vec<Tool<'a>>,
    /// The conversation.
    pub messages: Vec<Message<'a>>,
    /// Which tools may be called.
    pub choice: Choice,
    /// The schema that the text of the reply must obey.
    pub format: Option<Value>,
    /// Texts at which the reply ends.
    pub stops: Vec<String>,
}

/// What it answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// The text; empty only when there are calls.
    pub text: String,
    /// The calls, in order: a tool's name and its arguments.
    pub calls: Vec<(String, Value)>,
    /// The stop sequence at which the text ends.
    pub stopped_at: Option<String>,
}

impl Reply {
    /// A reply that calls nothing.
    pub fn said(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }
}

//! The layers that cost no request: results into files, messages left out, old results as one line.
//!
//! Each looks at a conversation and answers with the one to put in its place, or with nothing when there is nothing to
//! do. Invariants: looking copies no message; in the answer every call still has its result; what is not in the answer
//! lies in a file.

mod files;
mod messages;
mod results;

use std::borrow::Cow;

use anyhow::Result;
use s01_loop::{Block, Content, History, Message};

use crate::store::Store;

pub use files::{files, moved};
pub use messages::{gap, messages};
pub use results::results;

/// A conversation in place of the one there is.
pub struct Change {
    /// What was done, for the line that the user reads.
    pub what: String,
    /// The messages to put in place of the old ones.
    pub messages: Vec<Message>,
}

/// A layer: the conversation to put in place of this one, if there is something to do.
pub type Layer = fn(&History, &Room, &Store) -> Result<Option<Change>>;

/// How much may stay of what. Sizes are in bytes.
pub struct Room {
    /// The results of the newest message.
    pub results: usize,
    /// The notes of the current turn that a cut would take.
    pub notes: usize,
    /// The requests before the current one.
    pub requests: usize,
    /// Results of so many newest rounds stay as they are.
    pub newest_rounds: usize,
    /// What frees less is not worth a new prefix in the cache.
    pub least: usize,
}

/// The text of a result that is nothing but text.
fn plain(content: &Content) -> Option<Cow<'_, str>> {
    let is_text = |block: &Block| matches!(block, Block::Text { .. });
    match content {
        Content::Text(text) => Some(Cow::Borrowed(text)),
        Content::Blocks(blocks) if blocks.iter().all(is_text) => Some(Cow::Owned(content.text())),
        Content::Blocks(_) => None,
    }
}

/// The size of these messages as they are sent.
pub fn bytes<'a>(messages: impl IntoIterator<Item = &'a Message>) -> usize {
    let messages = messages.into_iter();
    messages.map(|message| message.wire().len()).sum()
}

/// The tool whose call this result answers; the message before the result made it.
fn tool_name<'a>(asked: Option<&'a Message>, id: &str) -> &'a str {
    let calls = asked.into_iter().flat_map(Message::tool_calls);
    let mut named = calls
        .filter(|call| call.id == id)
        .map(|call| call.name.as_str());
    named.next().unwrap_or("a tool")
}

/// The same message with the content of some results replaced.
fn with_contents(message: &Message, mut new: impl FnMut(usize) -> Option<String>) -> Message {
    let blocks = message.blocks().iter().enumerate();
    let blocks = blocks.map(|(at, block)| {
        let mut block = block.clone();
        if let Block::ToolResult { content, .. } = &mut block
            && let Some(text) = new(at)
        {
            *content = Content::Text(text);
        }
        block
    });
    Message::new(message.role(), blocks.collect())
}

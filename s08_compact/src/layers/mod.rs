//! The layers that cost no request: results into files, messages left out, old results as one line.
//!
//! Each looks at a conversation and answers with the one to put in its place, or with nothing when there is nothing to
//! do. Invariants: in the answer every call still has its result; what is not in the answer
//! lies in a file.

mod files;
mod messages;
mod results;

use anyhow::Result;
use s01_loop::{Block, Message};

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

/// What the layers may keep, in bytes where nothing else is said.
pub struct Budget {
    /// Messages and old results go when the conversation has more tokens than this.
    pub from: u64,
    /// An eighth of what a request may have.
    pub share: usize,
    /// Freeing less than this is not worth a new prefix in the cache.
    pub least: usize,
    /// The results of this many newest rounds stay.
    pub newest_rounds: usize,
}

/// The text of a text block.
pub fn text(block: &Block) -> Option<&str> {
    match block {
        Block::Text { text, .. } => Some(text),
        Block::ToolUse(_) | Block::ToolResult { .. } | Block::Other(_) => None,
    }
}

/// The size of these messages as they are sent.
pub fn bytes<'a>(messages: impl IntoIterator<Item = &'a Message>) -> usize {
    let messages = messages.into_iter();
    messages.map(|message| message.wire().len()).sum()
}

/// The same message with the content of some results replaced, and how many; `asked` holds the calls. `new` gets the id
/// and the tool of a call and its result.
fn with_results(
    message: &Message,
    asked: &Message,
    mut new: impl FnMut(&str, &str, &str) -> Result<Option<String>>,
) -> Result<Option<(usize, Message)>> {
    let (mut blocks, mut count) = (message.blocks().to_vec(), 0);
    for block in &mut blocks {
        let Block::ToolResult {
            tool_use_id: id,
            content,
            ..
        } = block
        else {
            continue;
        };
        let call = asked.tool_calls().find(|call| call.id == *id);
        let tool = call.map_or("a tool", |call| &call.name);
        if let Some(text) = new(id, tool, content)? {
            *content = text;
            count += 1;
        }
    }
    let message = Message::new(message.role(), blocks);
    Ok((count > 0).then_some((count, message)))
}

//! Side calls: a question a harness asks beside the conversation, answered in the form it asks for.
//!
//! ```text
//! You summarize a conversation   text: what was asked, `- done:` lines, findings
//! You choose memories            ["slug", …]
//! You extract memories           [{name, description, type, content}, …]
//! You consolidate memories       [{name, description, type, content}, …]
//! ```
//!
//! A side call is known by how its system prompt begins. Invariant: the answer is never empty, and holds nothing that the
//! question does not.

mod consolidation;
mod extraction;
mod selection;
mod summary;
mod transcript;

use crate::model::{Block, Reply, Request, says};

/// The reply to a side call; `None` when it is none.
pub fn answer(request: &Request) -> Option<Reply> {
    let answer: fn(&str) -> String = match request.system.trim_start() {
        system if system.starts_with("You summarize a conversation") => summary::answer,
        system if system.starts_with("You choose memories") => selection::answer,
        system if system.starts_with("You extract memories") => extraction::answer,
        system if system.starts_with("You consolidate memories") => consolidation::answer,
        _ => return None,
    };
    Some(says(answer(&question(request))))
}

/// The text of the last message.
fn question(request: &Request) -> String {
    let blocks = request
        .messages
        .last()
        .map_or(&[][..], |message| &message.blocks);
    let texts = blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(text.as_str()),
        Block::ToolUse { .. } | Block::ToolResult { .. } | Block::Other(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

/// What stands between a tag and the last place it is closed.
fn inside<'q>(question: &'q str, tag: &str) -> Option<&'q str> {
    let (_, rest) = question.split_once(&format!("<{tag}>"))?;
    let (inside, _) = rest.rsplit_once(&format!("</{tag}>"))?;
    Some(inside.trim_matches('\n'))
}

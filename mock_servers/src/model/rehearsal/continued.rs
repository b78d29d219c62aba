//! Going on where a reply was cut off.
//!
//! A reply that reaches its token limit stops in the middle. The harness may keep the part and ask for the rest in a tag;
//! then the model goes on where it stopped. This one works out its whole reply again and leaves out what it has said.
//! Invariant: the parts together are the reply that would have been given in one piece.

use std::sync::Arc;

use super::asked::without_context;
use crate::model::{Block, Message, Reply, ReplyBlock, Request, Role};

/// A request to go on: the request as it was, and what has been said of the reply.
pub struct Continued {
    /// The request before the reply was cut.
    pub request: Request,
    /// What was said.
    said: String,
}

impl Continued {
    /// What the request asks to go on with; `None` when it does not end in a text and a line of the harness.
    pub fn of(request: &Request) -> Option<Self> {
        let mut messages = &request.messages[..];
        let mut said = String::new();
        while let [before @ .., part, ask] = messages
            && !before.is_empty()
            && is_from_harness(ask)
            && let Some(text) = only_text(part)
        {
            said.insert_str(0, &text);
            messages = before;
        }
        let request = Request {
            messages: messages.to_vec(),
            ..request.clone()
        };
        (!said.is_empty()).then_some(Self { request, said })
    }

    /// What is left of the reply; `None` when nothing is, or when it begins otherwise than what was said.
    pub fn rest(&self, reply: Reply) -> Option<Reply> {
        let [ReplyBlock::Text(whole), calls @ ..] = &reply.blocks[..] else {
            return None;
        };
        let rest = whole
            .strip_prefix(&self.said)
            .or_else(|| whole.strip_prefix(self.said.trim_end()))?;
        let text = Some(ReplyBlock::Text(rest.to_owned())).filter(|_| !rest.trim().is_empty());
        let blocks: Vec<ReplyBlock> = text.into_iter().chain(calls.iter().cloned()).collect();
        (!blocks.is_empty()).then_some(Reply { blocks, ..reply })
    }
}

fn is_from_harness(message: &Arc<Message>) -> bool {
    let from_harness = |block: &Block| match block {
        Block::Text(text) => {
            text.trim_start().starts_with('<') && without_context(text).trim().is_empty()
        }
        Block::ToolUse { .. } | Block::ToolResult { .. } | Block::Other(_) => false,
    };
    message.role == Role::User && message.blocks.iter().all(from_harness)
}

/// The text of a reply that says something and calls nothing.
fn only_text(message: &Arc<Message>) -> Option<String> {
    let texts = message.blocks.iter().map(|block| match block {
        Block::Text(text) => Some(text.as_str()),
        Block::ToolUse { .. } | Block::ToolResult { .. } | Block::Other(_) => None,
    });
    (message.role == Role::Assistant)
        .then(|| texts.collect())
        .flatten()
}

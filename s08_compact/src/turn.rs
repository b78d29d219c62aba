//! The current turn in a conversation: its request, and what the harness has added since.
//!
//! Whatever is taken away, these stay: a model that has forgotten the request works at something else. Invariant: the
//! request is one block, word for word; what stood before it in its message belongs to the past.

use std::ops::Range;

use s01_loop::{Block, History, Role};

use crate::layers::gap;
use crate::{requests, summary};

/// A reminder is about the state of things; of several only the newest is true.
const REMINDER: &str = "<todo-reminder>";

/// Where the current turn begins.
pub struct Turn<'a> {
    history: &'a History,
    at: usize,
    /// Where in that message the request stands.
    begin: usize,
}

impl<'a> Turn<'a> {
    /// The current turn of this conversation.
    pub fn of(history: &'a History) -> Self {
        let at = history.len() - history.turn().len();
        let blocks = history.get(at).map_or(&[][..], |message| message.blocks());
        let is_request =
            |block: &Block| matches!(block, Block::Text { text, .. } if text == history.request());
        // A resumed conversation does not know its request: then all that was said there is kept.
        let begin = blocks.iter().rposition(is_request);
        let begin = begin.or_else(|| blocks.iter().position(is_said));
        Self {
            history,
            at,
            begin: begin.unwrap_or(blocks.len()),
        }
    }

    /// The place of the message that holds the request.
    pub fn at(&self) -> usize {
        self.at
    }

    /// What stands before the request in its message: results and texts of an earlier turn, a summary.
    pub fn before(&self) -> &'a [Block] {
        self.blocks().get(..self.begin).unwrap_or_default()
    }

    /// The request.
    pub fn request(&self) -> Option<&'a Block> {
        self.blocks().get(self.begin)
    }

    /// What was said on the user's side of this turn, the request aside, in these messages: the newest notes, up to
    /// `most` bytes, each once.
    pub fn notes(&self, messages: Range<usize>, most: usize) -> Vec<Block> {
        let mut notes: Vec<&Block> = Vec::new();
        let mut size = 0;
        for at in messages.rev().filter(|at| *at >= self.at) {
            let message = &self.history[at];
            let from = if at == self.at { self.begin + 1 } else { 0 };
            let blocks = match message.role() {
                Role::User => message.blocks().get(from..).unwrap_or_default(),
                Role::Assistant => &[],
            };
            for block in blocks.iter().rev().filter(|block| is_said(block)) {
                if notes.iter().any(|newer| outdates(newer, block)) {
                    continue;
                }
                size += size_of(block);
                if size <= most {
                    notes.push(block);
                }
            }
        }
        notes.into_iter().rev().cloned().collect()
    }

    fn blocks(&self) -> &'a [Block] {
        let message = self.history.get(self.at);
        message.map_or(&[], |message| message.blocks())
    }
}

/// Whether the user or the harness said this: no result, no summary, no list of requests, no line about a gap.
fn is_said(block: &Block) -> bool {
    match block {
        Block::Text { .. } => {
            gap(block).is_none() && !summary::is_summary(block) && !requests::is_earlier(block)
        }
        Block::Other(_) => true,
        Block::ToolUse(_) | Block::ToolResult { .. } => false,
    }
}

/// Whether the older of two notes says nothing that the newer does not say.
fn outdates(newer: &Block, older: &Block) -> bool {
    let is_reminder =
        |block: &Block| matches!(block, Block::Text { text, .. } if text.starts_with(REMINDER));
    newer == older || (is_reminder(newer) && is_reminder(older))
}

fn size_of(block: &Block) -> usize {
    match block {
        Block::Text { text, .. } => text.len(),
        Block::Other(value) => value.to_string().len(),
        Block::ToolUse(_) | Block::ToolResult { .. } => 0,
    }
}

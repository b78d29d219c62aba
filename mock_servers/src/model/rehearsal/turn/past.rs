//! A call of the conversation with its result.
//!
//! Invariant: an answer belongs to one step; who claims it takes it.

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;

use serde_json::Value;

use crate::model::rehearsal::asked::without_added;
use crate::model::rehearsal::left::Left;
use crate::model::rehearsal::recap::Done;
use crate::model::{Block, Message};

/// A call of this conversation and its result.
pub struct Past<'a> {
    /// The tool.
    pub name: Cow<'a, str>,
    /// The arguments.
    pub input: Cow<'a, Value>,
    /// The text of the result, as much as is left of it.
    pub content: &'a str,
    /// Whether the tool failed.
    pub is_error: bool,
    /// What compaction left of the result.
    pub left: Left<'a>,
    /// The call as a summary has it, when only that is left.
    pub(super) done: Option<Done>,
    /// In which message of the turn it was made.
    pub round: usize,
    /// Whether a step has claimed it.
    pub(super) claimed: Cell<bool>,
}

impl<'a> Past<'a> {
    /// A call of which only a summary tells.
    pub(super) fn summed_up(done: &Done) -> Self {
        Self {
            name: Cow::Owned(done.name.clone()),
            input: Cow::Owned(done.input.clone()),
            content: "",
            is_error: false,
            left: Left::Nothing,
            done: Some(done.clone()),
            round: 0,
            claimed: Cell::new(false),
        }
    }

    /// Whether no step has claimed it.
    pub fn is_free(&self) -> bool {
        !self.claimed.get()
    }

    /// A step claims it.
    pub fn take(&self) {
        self.claimed.set(true);
    }

    /// Whether it is this call.
    pub fn is_of(&self, tool: &str, input: &Value) -> bool {
        match &self.done {
            Some(done) => done.is(tool, input),
            None => self.name == tool && *self.input == *input,
        }
    }
}

/// The calls of these messages that were answered.
pub(super) fn past_calls(messages: &[Arc<Message>]) -> Vec<Past<'_>> {
    let mut calls = Vec::new();
    for (round, pair) in messages.windows(2).enumerate() {
        // Ids may repeat within a reply; the n-th use of an id is answered by the n-th result with it.
        let mut seen: Vec<&str> = Vec::new();
        for block in &pair[0].blocks {
            let Block::ToolUse { id, name, input } = block else {
                continue;
            };
            let nth = seen.iter().filter(|other| *other == id).count();
            seen.push(id);
            let result = pair[1].blocks.iter().filter_map(|block| match block {
                Block::ToolResult {
                    tool_use_id,
                    content,
                    is_error,
                } if tool_use_id == id => Some((content, *is_error)),
                Block::ToolResult { .. }
                | Block::Text(_)
                | Block::ToolUse { .. }
                | Block::Other(_) => None,
            });
            if let Some((content, is_error)) =
                result.clone().nth(nth).or_else(|| result.clone().next())
            {
                let left = Left::of(without_added(content));
                calls.push(Past {
                    name: Cow::Borrowed(name),
                    input: Cow::Borrowed(input),
                    content: left.text(),
                    is_error,
                    left,
                    done: None,
                    round,
                    claimed: Cell::new(false),
                });
            }
        }
    }
    calls
}

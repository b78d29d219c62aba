//! The turn: what the user asked for last, and what has been done about it since.
//!
//! The model keeps nothing between two requests; like a real one it finds everything in the conversation. What a harness
//! adds (reminders, notices, notes in brackets) is context and no request.
//! Invariant: only what follows the user's last request counts as progress.

use std::cell::Cell;
use std::sync::Arc;

use serde_json::Value;

use super::asked::{Asked, request_in, without_added};
use super::tokens::tokenize;
use super::verdict::{Verdict, judge};
use super::{pattern, words};
use crate::model::{Block, Message, Role};

/// How many messages before the request are searched for what `it` may mean.
const MEMORY: usize = 60;

/// The current turn of a conversation.
pub struct Turn<'a> {
    /// The user's request, then what was scheduled into the running turn.
    pub requests: Vec<String>,
    /// The calls made for it, in order.
    pub calls: Vec<Past<'a>>,
    /// How many replies it took so far.
    pub rounds: usize,
    before: &'a [Arc<Message>],
}

/// A call of this conversation and its result.
pub struct Past<'a> {
    /// The tool.
    pub name: &'a str,
    /// The arguments.
    pub input: &'a Value,
    /// The text of the result.
    pub content: &'a str,
    /// Whether the tool failed.
    pub is_error: bool,
    /// In which reply of the turn it was made.
    round: usize,
    /// Whether a step has claimed it.
    claimed: Cell<bool>,
}

impl<'a> Turn<'a> {
    /// Reads the turn out of a conversation.
    pub fn read(messages: &'a [Arc<Message>]) -> Self {
        let mut requests = Vec::new();
        let mut start = messages.len();
        for (index, message) in messages.iter().enumerate().rev() {
            match request_in(message) {
                Some(Asked::More(text)) => requests.push(text),
                Some(Asked::New(text)) => {
                    requests.push(text);
                    start = index + 1;
                    break;
                }
                None => {}
            }
        }
        requests.reverse();
        let (before, since) = messages.split_at(start);
        let before = &before[..before.len().saturating_sub(1)];
        let rounds = since
            .iter()
            .filter(|message| message.role == Role::Assistant)
            .count();
        let turn = Self {
            requests,
            calls: past_calls(since),
            rounds,
            before,
        };
        turn.again()
    }

    /// `try again` means the request before.
    fn again(mut self) -> Self {
        if self.requests.last().is_some_and(|text| says_again(text)) {
            let earlier = self
                .before
                .iter()
                .rev()
                .take(MEMORY)
                .filter_map(|message| request_in(message));
            let meant = earlier.map(Asked::into_text).find(|text| !says_again(text));
            self.requests = meant.map_or(self.requests, |text| vec![text]);
        }
        self
    }

    /// The answer to a call, each answer once; for a second try, one that came later than the first. A harness may have
    /// rewritten the arguments: then the next unclaimed call of the same tool is the one.
    pub fn claim(
        &'a self,
        tool: &str,
        input: &Value,
        after: Option<&Past>,
    ) -> Option<&'a Past<'a>> {
        let late = |past: &Past| after.is_none_or(|first| past.round > first.round);
        let free = || {
            self.calls
                .iter()
                .filter(|past| !past.claimed.get() && past.name == tool && late(past))
        };
        let exact = free().find(|past| past.input == input);
        if exact.is_some() {
            // Wrong calls before it were earlier tries of the same.
            let earlier = free().take_while(|past| past.input != input);
            earlier
                .filter(|past| judge(past) == Verdict::BadArgument)
                .for_each(|past| past.claimed.set(true));
        }
        let past = exact.or_else(|| free().next())?;
        past.claimed.set(true);
        Some(past)
    }

    /// The path named last before this request.
    pub fn last_path(&self) -> Option<String> {
        self.before
            .iter()
            .rev()
            .take(MEMORY)
            .find_map(|message| match message.role {
                Role::User => {
                    let asked = request_in(message)?.into_text();
                    let tokens = tokenize(&asked);
                    let path = tokens.iter().rev().find(|token| pattern::is_path(token))?;
                    Some(pattern::named_file(path).to_owned())
                }
                Role::Assistant => message.blocks.iter().rev().find_map(|block| match block {
                    Block::ToolUse { input, .. } => Some(input.get("path")?.as_str()?.to_owned()),
                    Block::Text(_) | Block::ToolResult { .. } | Block::Other(_) => None,
                }),
            })
    }

    /// How the model told what it did when it last did something.
    pub fn answer_before(&self) -> Option<&'a str> {
        let calls = |message: &Message| {
            message
                .blocks
                .iter()
                .any(|block| matches!(block, Block::ToolUse { .. }))
        };
        let last = self.before.iter().rposition(|message| calls(message))?;
        let answer = self.before[last..]
            .iter()
            .skip(1)
            .find(|message| message.role == Role::Assistant)?;
        answer.blocks.iter().find_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            Block::ToolUse { .. } | Block::ToolResult { .. } | Block::Other(_) => None,
        })
    }

    /// The calls of the request before this one.
    pub fn calls_before(&self) -> Vec<Past<'a>> {
        let has_calls = |message: &Message| {
            message
                .blocks
                .iter()
                .any(|block| matches!(block, Block::ToolUse { .. }))
        };
        let Some(last) = self.before.iter().rposition(|message| has_calls(message)) else {
            return Vec::new();
        };
        let start = self.before[..last]
            .iter()
            .rposition(|message| request_in(message).is_some())
            .unwrap_or(0);
        past_calls(&self.before[start..])
    }
}

fn says_again(text: &str) -> bool {
    let text = text.trim().trim_end_matches(['.', '!', ',']).to_lowercase();
    words::AGAIN.contains(&text.as_str())
}

fn past_calls(messages: &[Arc<Message>]) -> Vec<Past<'_>> {
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
                calls.push(Past {
                    name,
                    input,
                    content: without_added(content),
                    is_error,
                    round,
                    claimed: Cell::new(false),
                });
            }
        }
    }
    calls
}

//! The turn: what the user asked for last, and what has been done about it since.
//!
//! The model keeps nothing between two requests; like a real one it finds everything in the conversation. What a harness
//! adds (reminders, notices, notes in brackets) is context and no request.
//! Invariant: only what follows the user's last request counts as progress.

mod earlier;
mod past;

use std::sync::Arc;

use serde_json::Value;

use super::asked::{Asked, element, request_in};
use super::left::Left;
use super::recap::{Done, Recap};
use super::rounds::Rounds;
use super::team::letters::{Letter, letters};
use super::verdict::{Verdict, judge};
use super::words;
use crate::model::{Block, Message, Role};
pub use past::Past;
use past::past_calls;

/// How many messages before the request are searched for what `it` may mean.
const MEMORY: usize = 60;

/// The current turn of a conversation.
pub struct Turn<'a> {
    /// The user's request, then what was scheduled into the running turn.
    pub requests: Vec<String>,
    /// The calls made for it, in order.
    pub calls: Vec<Past<'a>>,
    /// Whether the request only says to go on, and the one before is meant.
    pub resumed: bool,
    /// How many replies it took so far.
    pub rounds: Rounds,
    /// What is known of what is not in the conversation any more.
    pub recap: Recap,
    /// Stands for a call that was made, and of which nothing is left.
    pub forgotten: Past<'a>,
    /// The system prompt.
    pub system: &'a str,
    /// The mail of the whole conversation.
    pub letters: Vec<Letter>,
    /// The message of the conversation behind the request.
    pub start: usize,
    /// What the model said while it worked on the request.
    said: Vec<&'a str>,
    messages: &'a [Arc<Message>],
    before: &'a [Arc<Message>],
}

impl<'a> Turn<'a> {
    /// Reads the turn out of a conversation under a system prompt.
    pub fn read(messages: &'a [Arc<Message>], system: &'a str) -> Self {
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
        Self::since(messages, system, requests, start).again()
    }

    /// The turn of these requests, which ends before the message `start`; what came later counts as work on them.
    pub fn since(
        messages: &'a [Arc<Message>],
        system: &'a str,
        requests: Vec<String>,
        start: usize,
    ) -> Self {
        let (before, since) = messages.split_at(start);
        let recap = recap(before.last(), &requests);
        let before = &before[..before.len().saturating_sub(1)];
        let mut calls: Vec<Past> = recap.done.iter().map(Past::summed_up).collect();
        calls.extend(past_calls(since));
        Self {
            requests,
            calls,
            resumed: false,
            rounds: Rounds::of(since),
            recap,
            forgotten: Past::summed_up(&Done::default()),
            system,
            letters: letters(messages, 0),
            start,
            said: said(since),
            messages,
            before,
        }
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
            let meant = meant.or_else(|| self.request_before());
            self.resumed = meant.is_some();
            self.requests = meant.map_or(self.requests, |text| vec![text]);
        }
        self
    }

    /// The answer to a call, each answer once; for a second try, one that came later than the first. A harness may have
    /// rewritten the arguments: then the next unclaimed call of the same tool is the one that no other step plans, unless
    /// it answers another request.
    pub fn claim(
        &'a self,
        tool: &str,
        input: &Value,
        after: Option<&Past>,
        is_planned: impl Fn(&Past) -> bool,
    ) -> Option<&'a Past<'a>> {
        let late = |past: &Past| after.is_none_or(|first| past.round > first.round);
        let free = || {
            self.calls
                .iter()
                .filter(|past| !past.claimed.get() && past.name == tool && late(past))
        };
        // Of a call that was made again, the one whose result is still there.
        let exact = || free().filter(|past| past.is_of(tool, input));
        let exact = exact()
            .find(|past| past.left != Left::Nothing)
            .or_else(|| exact().next());
        if exact.is_some() {
            // Wrong calls before it were earlier tries of the same.
            let earlier = free().take_while(|past| !past.is_of(tool, input));
            earlier
                .filter(|past| judge(past) == Verdict::BadArgument)
                .for_each(|past| past.claimed.set(true));
        }
        let answers_same = |past: &Past| past.input["request_id"] == input["request_id"];
        let other =
            || free().find(|past| past.done.is_none() && answers_same(past) && !is_planned(past));
        let past = exact.or_else(other)?;
        past.claimed.set(true);
        Some(past)
    }

    /// What was found in a file whose text is gone: the model's own note on it, or the summary's.
    pub fn finding(&self, path: &str) -> Option<&str> {
        let noted = self.said.iter().rev().flat_map(|text| text.lines());
        let noted = noted.filter_map(|line| line.strip_prefix("- "));
        let summed_up = self.recap.findings.iter().map(String::as_str);
        noted
            .chain(summed_up)
            .find_map(|line| line.strip_prefix(path)?.strip_prefix(": "))
    }
}

/// What the summary in front of the request tells, when it is about this request.
fn recap(message: Option<&Arc<Message>>, requests: &[String]) -> Recap {
    let Some(mut recap) = message
        .and_then(|message| summary_in(message))
        .map(Recap::read)
    else {
        return Recap::default();
    };
    if !requests
        .first()
        .is_some_and(|request| recap.is_about(request))
    {
        recap.done.clear();
    }
    recap
}

fn summary_in(message: &Message) -> Option<&str> {
    message.blocks.iter().find_map(|block| match block {
        Block::Text(text) => element(text, "conversation-summary"),
        Block::ToolUse { .. } | Block::ToolResult { .. } | Block::Other(_) => None,
    })
}

/// The texts of the model.
fn said(messages: &[Arc<Message>]) -> Vec<&str> {
    texts(messages, Role::Assistant).collect()
}

fn texts(messages: &[Arc<Message>], role: Role) -> impl Iterator<Item = &str> {
    let said = messages.iter().filter(move |message| message.role == role);
    said.flat_map(|message| &message.blocks)
        .filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            Block::ToolUse { .. } | Block::ToolResult { .. } | Block::Other(_) => None,
        })
}

fn says_again(text: &str) -> bool {
    let text = text.trim().trim_end_matches(['.', '!', ',']).to_lowercase();
    let mut said = text.as_str();
    while let Some(rest) = words::BEFORE_AGAIN
        .iter()
        .find_map(|lead| said.strip_prefix(lead))
    {
        said = rest.trim_start_matches([',', ' ']);
    }
    words::AGAIN.contains(&said)
}

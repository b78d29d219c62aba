//! The turn: what the user asked for last, and what has been done about it since.
//!
//! The model keeps nothing between two requests; like a real one it finds everything in the conversation. What a harness
//! adds (reminders, notices, notes in brackets) is context and no request.
//! Invariant: only what follows the user's last request counts as progress.

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;

use serde_json::Value;

use super::asked::{Asked, element, recalled, request_in, without_added, without_context};
use super::left::Left;
use super::recap::{Done, Recap, one_line};
use super::rounds::Rounds;
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
    /// What the model said while it worked on the request.
    said: Vec<&'a str>,
    messages: &'a [Arc<Message>],
    before: &'a [Arc<Message>],
}

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
    done: Option<Done>,
    /// In which reply of the turn it was made.
    round: usize,
    /// Whether a step has claimed it.
    claimed: Cell<bool>,
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
        let (before, since) = messages.split_at(start);
        let recap = recap(before.last(), &requests);
        let before = &before[..before.len().saturating_sub(1)];
        let mut calls: Vec<Past> = recap.done.iter().map(Past::summed_up).collect();
        calls.extend(past_calls(since));
        let turn = Self {
            requests,
            calls,
            resumed: false,
            rounds: Rounds::of(since),
            recap,
            forgotten: Past::summed_up(&Done::default()),
            system,
            said: said(since),
            messages,
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
            let meant = meant.or_else(|| self.request_before());
            self.resumed = meant.is_some();
            self.requests = meant.map_or(self.requests, |text| vec![text]);
        }
        self
    }

    /// The answer to a call, each answer once; for a second try, one that came later than the first. A harness may have
    /// rewritten the arguments: then the next unclaimed call of the same tool is the one that no other step plans.
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
        let other = || free().find(|past| past.done.is_none() && !is_planned(past));
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

    /// The first thing the user asked for, as far as it is known.
    pub fn first_request(&self) -> Option<String> {
        let known = self.recap_of_all().requests.into_iter().next();
        let said = || {
            self.before
                .iter()
                .find_map(|message| request_in(message).map(Asked::into_text))
        };
        known.or_else(said)
    }

    /// Which request of the user this is; `None` when the first ones are only summed up.
    pub fn number(&self) -> Option<usize> {
        let is_whole = texts(self.messages, Role::User)
            .all(|text| element(text, "conversation-summary").is_none());
        let before = self
            .before
            .iter()
            .filter(|message| request_in(message).is_some());
        is_whole.then(|| before.count() + 1)
    }

    /// The request before this one.
    pub fn request_before(&self) -> Option<String> {
        let said = self
            .before
            .iter()
            .rev()
            .find_map(|message| request_in(message).map(Asked::into_text));
        let known = || {
            let current = self.requests.first().map(|request| one_line(request));
            self.recap_of_all()
                .requests
                .into_iter()
                .rfind(|request| Some(request) != current.as_ref())
        };
        said.or_else(known)
    }

    /// What the user said in this conversation, without what a harness added.
    pub fn said_by_user(&self) -> impl Iterator<Item = String> {
        texts(self.messages, Role::User).map(without_context)
    }

    /// What a harness recalled in this conversation.
    pub fn recalled(&self) -> impl Iterator<Item = &'a str> {
        texts(self.messages, Role::User).flat_map(recalled)
    }

    fn recap_of_all(&self) -> Recap {
        let earlier = self
            .before
            .first()
            .and_then(|message| summary_in(message))
            .map(Recap::read);
        earlier.unwrap_or_else(|| self.recap.clone())
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

    /// The arguments with which a tool was called last in this conversation.
    pub fn last_input(&self, tool: &str) -> Option<Value> {
        let now = self.calls.iter().rev().find(|past| past.name == tool);
        now.map(|past| past.input.as_ref().clone()).or_else(|| {
            let blocks = self
                .before
                .iter()
                .rev()
                .flat_map(|message| message.blocks.iter().rev());
            blocks.into_iter().find_map(|block| match block {
                Block::ToolUse { name, input, .. } if name == tool => Some(input.clone()),
                Block::ToolUse { .. }
                | Block::Text(_)
                | Block::ToolResult { .. }
                | Block::Other(_) => None,
            })
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

impl<'a> Past<'a> {
    /// A call of which only a summary tells.
    fn summed_up(done: &Done) -> Self {
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

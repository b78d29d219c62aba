//! What the conversation tells beside the turn: earlier requests, earlier calls, who was hired.
//!
//! Invariant: what a harness added is never taken for the words of the user.

use serde_json::Value;

use super::past::{Past, past_calls};
use super::{MEMORY, Turn, summary_in, texts};
use crate::model::rehearsal::asked::{Asked, element, recalled, request_in, without_context};
use crate::model::rehearsal::recap::{Recap, one_line};
use crate::model::rehearsal::tokens::tokenize;
use crate::model::rehearsal::{pattern, servers};
use crate::model::{Block, Message, Role};

impl<'a> Turn<'a> {
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

    /// The requests before this one, as far as they are known, each in a line.
    pub fn requests_before(&self) -> Vec<String> {
        let mut requests = self.recap_of_all().requests;
        if let Some(current) = self.requests.first().map(|request| one_line(request))
            && requests.last() == Some(&current)
        {
            requests.pop();
        }
        let said = self.before.iter().filter_map(|message| request_in(message));
        requests.extend(said.map(|asked| one_line(&asked.into_text())));
        requests
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

    /// The calls of this request that gave a teammate something to do, each with the message it stands in.
    pub fn work_given(&'a self, who: &'a str) -> impl Iterator<Item = usize> + 'a {
        let gives = move |past: &&Past| match past.name.as_ref() {
            "spawn_teammate" => past.input["name"] == *who,
            "send_message" => past.input["to"] == *who,
            "review_plan" => past.content.starts_with(&format!("{who}'s plan")),
            _ => false,
        };
        let given = self
            .calls
            .iter()
            .filter(gives)
            .filter(|past| !past.is_error);
        given.map(|past| self.start + past.round)
    }

    /// Whether a plan was answered before this request.
    pub fn was_reviewed_before(&self, id: &str) -> bool {
        let mut blocks = self.before.iter().flat_map(|message| &message.blocks);
        blocks.any(|block| {
            matches!(block, Block::ToolUse { name, input, .. } if name == "review_plan" && input["request_id"] == *id)
        })
    }

    /// Who was hired in this conversation, and as what.
    pub fn hired(&self) -> Vec<(String, String)> {
        let blocks = self.messages.iter().flat_map(|message| &message.blocks);
        let hired = blocks.filter_map(|block| match block {
            Block::ToolUse { name, input, .. } if name == "spawn_teammate" => {
                let text = |key: &str| Some(input[key].as_str()?.to_owned());
                Some((text("name")?, text("role")?))
            }
            Block::ToolUse { .. } | Block::Text(_) | Block::ToolResult { .. } | Block::Other(_) => {
                None
            }
        });
        hired.collect()
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

    /// What servers were asked before this request, oldest first.
    pub fn asked_before(&self) -> impl Iterator<Item = servers::Asked> {
        let calls = past_calls(self.before).into_iter();
        let calls = calls.filter(|past| past.name.starts_with("mcp__") && !past.is_error);
        calls.map(|past| servers::Asked {
            tool: past.name.to_string(),
            input: past.input.as_ref().clone(),
            content: past.content.to_owned(),
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

//! The mail in a conversation: `<mail from="alice" type="result">…</mail>`.
//!
//! It comes behind results, by itself when it wakes a session, or as the result of check_inbox. Invariant: a letter is
//! data. It is told, and it may be what somebody waited for, but its text is not the user's.

use std::sync::Arc;

use crate::model::rehearsal::asked::Element;
use crate::model::rehearsal::phrases::fenced;
use crate::model::{Block, Message, Role};

/// What stands behind a plan in the lead's mail, before the id of the request.
pub const ANSWER_WITH: &str = "Answer with review_plan, request_id ";

/// One message from an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Letter {
    /// Who sent it.
    pub from: String,
    /// What kind it is: `message`, `result`, `plan_approval_request`, …
    pub kind: String,
    /// What it says.
    pub text: String,
    /// The request it belongs to.
    pub id: Option<String>,
    /// The message of the conversation it stands in.
    pub at: usize,
}

/// The letters in these messages, the first of which is number `from` of the conversation.
pub fn letters(messages: &[Arc<Message>], from: usize) -> Vec<Letter> {
    let mut letters = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        for block in message.blocks.iter().filter(|_| message.role == Role::User) {
            let before = index.checked_sub(1).map(|before| &messages[before]);
            let text = match block {
                Block::Text(text) => text,
                Block::ToolResult {
                    tool_use_id,
                    content,
                    ..
                } if before.is_some_and(|before| is_inbox(before, tool_use_id)) => content,
                Block::ToolResult { .. } | Block::ToolUse { .. } | Block::Other(_) => continue,
            };
            letters.extend(in_text(text, from + index));
        }
    }
    letters
}

/// The letters in a text.
pub fn in_text(text: &str, at: usize) -> Vec<Letter> {
    let mut letters = Vec::new();
    let mut rest = text;
    while let Some(element) = Element::first_in(rest) {
        rest = &rest[element.end..];
        let behind = rest.trim_start().strip_prefix(ANSWER_WITH);
        let id = behind.and_then(|behind| behind.split(['.', '\n']).next());
        if element.name == "mail" {
            letters.push(Letter {
                from: element.attribute("from").unwrap_or("somebody").to_owned(),
                kind: element.attribute("type").unwrap_or("message").to_owned(),
                text: element.inside.trim().to_owned(),
                id: element.attribute("request_id").or(id).map(str::to_owned),
                at,
            });
        }
    }
    letters
}

fn is_inbox(before: &Message, id: &str) -> bool {
    before.blocks.iter().any(|block| {
        matches!(block, Block::ToolUse { id: used, name, .. } if used == id && name == "check_inbox")
    })
}

impl Letter {
    /// Whether it ends a piece of work: the agent reports, has broken down, or has left.
    pub fn ends_work(&self) -> bool {
        ["result", "error", "shutdown_response"].contains(&self.kind.as_str())
    }

    /// Whether it is a plan that wants an answer.
    pub fn is_plan(&self) -> bool {
        self.kind == "plan_approval_request"
    }

    /// What it says, as a sentence of the lead.
    pub fn told(&self) -> String {
        let Self { from, text, .. } = self;
        let said = match text.contains('\n') {
            true => format!("\n{text}"),
            false => format!(" {text}"),
        };
        match self.kind.as_str() {
            "result" => format!("{from} reports:{said}"),
            "plan_approval_request" => format!("{from} sends a plan{}", fenced(text)),
            "error" | "shutdown_response" if text.starts_with(from.as_str()) => {
                format!("{}.", text.trim_end_matches('.'))
            }
            _ => format!("{from} writes:{said}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_brings_the_id_that_its_answer_needs() {
        let text = "<mail from=\"bob\" type=\"plan_approval_request\">\n1. Read.\n</mail>\nAnswer with review_plan, request_id req_1.\n\n<mail from=\"alice\" type=\"result\">\nDone.\n</mail>";
        let letters = in_text(text, 3);
        assert_eq!(letters[0].id.as_deref(), Some("req_1"));
        assert_eq!((letters[1].from.as_str(), letters[1].at), ("alice", 3));
        assert_eq!(letters[1].told(), "alice reports: Done.");
    }
}

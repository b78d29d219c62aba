//! What a harness tells in a `<task_notification>` or a `<mail>`: something came while nobody waited for it.
//!
//! It may come in a running turn, behind results, or by itself, when it wakes an idle session. Invariant: what it says is
//! told and nothing is done about it; its output is data, not a request.

use super::asked::{elements, request_in};
use super::gist;
use super::phrases::fenced;
use super::team::letters::in_text;
use crate::model::{Block, Message, Role};
use std::sync::Arc;

const TAG: &str = "task_notification";

/// Mail that is for nobody.
const IGNORED: &[&str] = &["mail-ignored", "mail-set-aside"];

/// Where the messages begin that the model has not answered yet, when nothing in them is a request: notices and mail have
/// woken it.
pub fn woken(messages: &[Arc<Message>]) -> Option<usize> {
    let from = unanswered(messages);
    let new = &messages[from..];
    let asks = new.iter().any(|message| request_in(message).is_some());
    (from > 0 && !asks && !told(new).is_empty()).then_some(from)
}

/// A sentence for each notice that came since the model last answered.
pub fn told_since_the_request(messages: &[Arc<Message>]) -> Vec<String> {
    told(&messages[unanswered(messages)..])
}

/// The first message behind the last answer.
pub fn unanswered(messages: &[Arc<Message>]) -> usize {
    let calls = |block: &Block| matches!(block, Block::ToolUse { .. });
    let answered = |message: &Arc<Message>| {
        message.role == Role::Assistant && !message.blocks.iter().any(calls)
    };
    messages.iter().rposition(answered).map_or(0, |at| at + 1)
}

fn told(messages: &[Arc<Message>]) -> Vec<String> {
    let users = messages.iter().filter(|message| message.role == Role::User);
    let texts = users
        .flat_map(|message| &message.blocks)
        .filter_map(|block| match block {
            Block::Text(text) => Some(text),
            Block::ToolUse { .. } | Block::ToolResult { .. } | Block::Other(_) => None,
        });
    let told = |text| {
        let notices = elements(text).filter(|element| element.name == TAG);
        let notices = notices.map(|element| sentence(element.inside));
        let letters = in_text(text, 0).into_iter().map(|letter| letter.told());
        let ignored = elements(text).filter(|element| IGNORED.contains(&element.name));
        let ignored =
            ignored.map(|element| format!("I left a message aside: {}.", element.inside.trim()));
        notices.chain(letters).chain(ignored).collect::<Vec<_>>()
    };
    texts.flat_map(|text| told(text)).collect()
}

/// `job_1 (cargo --version) finished, exit code 0: cargo 1.95.0`
fn sentence(notice: &str) -> String {
    let value = |name: &str| {
        let line = notice.lines().find_map(|line| line.strip_prefix(name));
        line.map(str::trim).unwrap_or_default()
    };
    let output = notice
        .trim()
        .lines()
        .skip_while(|line| !line.starts_with("output:"));
    let output: Vec<&str> = output.skip(1).collect();
    format!(
        "{} (`{}`) {}{}",
        value("job:"),
        value("command:"),
        value("status:"),
        fenced(gist::body(&output.join("\n")))
    )
}

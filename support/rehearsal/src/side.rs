//! The side calls of a harness: which memories to use, what to remember, what to merge, a summary.
//!
//! A side call is told by what it is given, the tags in its question, and never by a literal of one harness. Invariant: the
//! answer has the shape that was asked for, and nothing in it that was not in the question.

use std::collections::VecDeque;

use serde_json::{Value, json};

use crate::history;
use crate::scene::{FIRST, LAST, is_name, is_note};
use crate::speak::{cut, one_line};
use crate::table;
use crate::types::Request;
use crate::words::{has, set, stems};

/// The answer to a question of the harness itself, told by what it is given: a list, a transcript, a request.
pub(crate) fn side_call(request: &Request) -> Option<String> {
    let message = request.messages.iter().rfind(|message| message.from_user)?;
    let text = message.texts().collect::<Vec<_>>().join("\n");
    let mut blocks = blocks(&text);
    let is_transcript = |block: &str| !paragraphs(block).is_empty();
    let transcript = blocks.iter().copied().position(is_transcript).map(|at| blocks.remove(at));
    let is_list = |block: &str| {
        block
            .lines()
            .all(|line| line.is_empty() || line.starts_with(['-', '[', ' ', ']', '{', '}']))
    };
    let list = blocks.iter().copied().position(is_list).map(|at| blocks.remove(at));
    match (list, blocks.first(), transcript) {
        (Some(memories), Some(asked), _) => Some(chosen(memories, asked)),
        (Some(memories), None, Some(conversation)) => Some(extracted(memories, conversation)),
        (None, _, Some(conversation)) => Some(summarized(conversation)),
        (Some(memories), None, None) => Some(merged(memories)),
        _ if text.trim_start().starts_with('[') => Some(merged(&text)),
        _ if request.system.to_lowercase().contains("title") => Some(one_line(&text, 50)),
        _ => None,
    }
}

/// What stands in tags of any name, one behind the other.
fn blocks(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, open)) = rest.split_once('<') {
        rest = open;
        let Some((name, body)) = open.split_once('>').filter(|(name, _)| is_name(name)) else {
            continue;
        };
        if let Some((inner, behind)) = body.rsplit_once(&format!("</{name}>")) {
            found.push(inner.trim());
            rest = behind;
        }
    }
    found
}

/// Which memories a request needs: those that share a word with it, and matters of style when code is to be written.
fn chosen(memories: &str, asked: &str) -> String {
    let content =
        |text: &str| table::content(text).into_iter().map(|token| token.stem).collect::<Vec<_>>();
    let (wanted, all) = (content(asked), stems(asked));
    let is_code = all.iter().any(|word| has(set("code-stems"), word)) || asked.contains(".py");
    let lines = memories.lines().filter_map(|line| line.strip_prefix("- ")?.split_once(": "));
    let needed = lines.filter(|(slug, description)| {
        let own = stems(&format!("{} {description}", slug.replace('-', " ")));
        own.iter().any(|word| wanted.contains(word))
            || (is_code && own.iter().any(|word| has(set("style-stems"), word)))
    });
    json!(needed.take(5).map(|(slug, _)| slug).collect::<Vec<_>>()).to_string()
}

/// Who says a paragraph of a conversation that is told.
#[derive(Clone, Copy, PartialEq)]
enum Who {
    User,
    Model,
    Call,
    Result,
}

/// The paragraphs of a conversation that is told: who, and what. It begins with the user; a paragraph without a speaker goes
/// on with the one before.
fn paragraphs(conversation: &str) -> Vec<(Who, String)> {
    let mut found: Vec<(Who, String)> = Vec::new();
    let user = conversation.split_once(": ").map_or("", |(head, _)| head);
    for paragraph in conversation.split("\n\n") {
        let said = paragraph.split_once(": ").and_then(|(head, text)| {
            let who = match head.split_once(' ') {
                Some((_, "call")) => Who::Call,
                Some((_, "result")) => Who::Result,
                None if head == user && head.chars().all(char::is_alphabetic) => Who::User,
                None if matches!(head, "Assistant" | "Model" | "Agent" | "AI") => Who::Model,
                _ => return None,
            };
            Some((who, text))
        });
        match (said, found.last_mut()) {
            (Some((who, text)), _) => found.push((who, text.to_owned())),
            (None, Some((_, text))) => text.push_str(&format!("\n\n{paragraph}")),
            (None, None) => {}
        }
    }
    found
}

/// What the user said, without what a harness has put beside it.
fn said(conversation: &str) -> Vec<String> {
    let is_user = |(who, text): &(Who, String)| {
        *who == Who::User && !text.trim_start().starts_with('<') && !is_note(text.trim())
    };
    paragraphs(conversation).into_iter().filter(is_user).map(|(_, text)| text).collect()
}

/// What the user said that is worth knowing later, and is not known yet.
fn extracted(memories: &str, conversation: &str) -> String {
    let mut all: Vec<Value> = Vec::new();
    for text in said(conversation) {
        for sentence in text.split_inclusive(['.', '!', '\n']) {
            let Some(fact) = history::fact(sentence).filter(|fact| !fact.is_empty()) else {
                continue;
            };
            let fact = fact.trim_end_matches('.');
            let words = table::content(fact).into_iter().map(|token| token.low);
            let words = words.filter(|word| !has(set("of-facts"), word));
            let name = words.take(3).collect::<Vec<_>>().join("-");
            let is_known =
                memories.contains(fact) || all.iter().any(|known| known["description"] == fact);
            if !is_known && !name.is_empty() {
                let is_user = fact.starts_with("you") || fact.contains("use ");
                let kind = if is_user { "user" } else { "project" };
                let text = format!("The user said: “{}”", sentence.trim());
                all.push(json!({"name": name, "description": fact, "type": kind, "content": text}));
            }
        }
    }
    Value::from(all).to_string()
}

/// All memories, without those that say the same.
fn merged(memories: &str) -> String {
    let places = memories.find('[').zip(memories.rfind(']'));
    let array = places.and_then(|(from, to)| serde_json::from_str(memories.get(from..=to)?).ok());
    let (all, mut kept): (Vec<Value>, Vec<Value>) = (array.unwrap_or_default(), Vec::new());
    for memory in all {
        if !kept.iter().any(|other| other["content"] == memory["content"]) {
            kept.push(memory);
        }
    }
    Value::from(kept).to_string()
}

/// A summary from which this very brain can go on: what was asked, what was called for it, what was noted.
fn summarized(conversation: &str) -> String {
    let all = paragraphs(conversation);
    let earlier = all.iter().find(|(_, text)| text.contains(FIRST));
    let earlier = earlier.map_or("", |(_, text)| text.as_str());
    let own =
        |prefix: &'static str| earlier.lines().filter_map(move |line| line.strip_prefix(prefix));
    let asked: Vec<String> = said(conversation).iter().map(|text| one_line(text, 300)).collect();
    let first = own(FIRST).next().or(asked.first().map(String::as_str)).unwrap_or_default();
    let current = asked.last().map(String::as_str).or_else(|| own(LAST).next()).unwrap_or_default();
    let mut known: Vec<&str> = own("- asked: ").chain(asked.iter().map(String::as_str)).collect();
    known.dedup();
    let mut lines = vec![format!("{FIRST}{first}")];
    let last = known.iter().skip(known.len().saturating_sub(12));
    lines.extend(last.map(|text| format!("- asked: {text}")));
    lines.push(format!("{LAST}{current}"));
    let is_open = all.last().is_some_and(|(who, _)| *who != Who::Model);
    if is_open {
        let is_last =
            |(who, text): &(Who, String)| *who == Who::User && one_line(text, 300) == current;
        let start = all.iter().rposition(is_last).unwrap_or(0);
        // What an earlier summary tells of the same request still counts; the harness may repeat the request beside it.
        let is_same = asked.len() < 2 && own(LAST).next() == Some(current);
        let done = own("- done: ").filter(|_| is_same);
        lines.extend(done.map(|line| format!("- done: {line}")));
        lines.extend(calls(&all[start..]));
    }
    let users = all.iter().filter(|(who, _)| *who == Who::User);
    let noted = users
        .flat_map(|(_, text)| history::facts_in(text))
        .chain(own("- noted: ").map(str::to_owned));
    lines.extend(noted.map(|fact| format!("- noted: {fact}")));
    let told = all.iter().filter(|(who, _)| *who == Who::Model).flat_map(|(_, text)| text.lines());
    let is_own =
        |line: &str| ["- asked", "- done", "- noted"].iter().any(|head| line.starts_with(head));
    let is_finding = |line: &&str| {
        line.starts_with("The files: ")
            || line.starts_with("- ") && line.contains(": ") && !is_own(line)
    };
    let mut findings: Vec<&str> =
        told.chain(earlier.lines()).filter(|_| is_open).filter(is_finding).collect();
    findings.dedup();
    lines.extend(findings.into_iter().take(60).map(str::to_owned));
    lines.join("\n")
}

/// Calls and their results, each on a line.
fn calls(paragraphs: &[(Who, String)]) -> Vec<String> {
    let (mut lines, mut open, mut is_answered) = (Vec::new(), VecDeque::new(), false);
    for (who, text) in paragraphs {
        match who {
            // A call whose result was cut out of the text, and one that is cut itself, tell nothing.
            Who::Call => {
                if is_answered || text.contains('\n') {
                    open.clear();
                }
                is_answered = false;
                open.extend(Some(text.trim()).filter(|call| !call.contains('\n')));
            }
            Who::Result => {
                is_answered = true;
                let Some(call) = open.pop_front().filter(|call| call.len() < 1_000) else {
                    continue;
                };
                let short = cut(text.trim(), if call.contains("glob") { 1_500 } else { 400 });
                lines.push(format!("- done: {call} → {}", json!(short)));
            }
            Who::User | Who::Model => {}
        }
    }
    lines
}

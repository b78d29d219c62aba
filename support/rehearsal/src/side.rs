//! The side calls of a harness: which memories to use, what to remember, what to merge, a summary.
//!
//! A side call is told by what it is given, the tags in its question, and never by a literal of one harness. Invariant: the
//! answer has the shape that was asked for, and nothing in it that was not in the question.

use serde_json::{Value, json};

use crate::history;
use crate::rank;
use crate::scene::is_name;
use crate::speak::one_line;
use crate::types::{Block, Request};
use crate::words::{Shape, has, tokens};

/// The answer to a question of the harness itself, told by what it is given: a list, a transcript, a request.
pub(crate) fn side_call(request: &Request) -> Option<String> {
    let message = request.messages.iter().rfind(|message| message.from_user)?;
    let texts =
        message.blocks.iter().filter_map(|block| if let Block::Text(text) = block { Some(*text) } else { None });
    let text = texts.collect::<Vec<_>>().join("\n");
    let mut blocks = blocks(&text);
    let is_transcript = |block: &str| !paragraphs(block).is_empty();
    let transcript = blocks.iter().copied().position(is_transcript).map(|at| blocks.remove(at));
    let is_list =
        |block: &str| block.lines().all(|line| line.is_empty() || line.starts_with(['-', '[', ' ', ']', '{', '}']));
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
        let Some((name, body)) = open.split_once('>').filter(|(name, _)| is_name(name)) else { continue };
        if let Some((inner, behind)) = body.rsplit_once(&format!("</{name}>")) {
            found.push(inner.trim());
            rest = behind;
        }
    }
    found
}

/// Which memories a request needs: those that share a word with it, and matters of style when code is to be written.
fn chosen(memories: &str, asked: &str) -> String {
    const STYLE: &str = "tab spac indentation quot styl prefer indent format languag";
    const CODE: &str =
        "python script code function creat writ mak preferenc preference lik told tell remember refactor modul know";
    let stems = |text: &str| {
        tokens(text).into_iter().filter(|token| token.shape != Shape::Mark).map(|token| token.stem).collect::<Vec<_>>()
    };
    let content = |text: &str| rank::content(text).into_iter().map(|token| token.stem).collect::<Vec<_>>();
    let (wanted, all) = (content(asked), stems(asked));
    let is_code = all.iter().any(|word| has(CODE, word)) || asked.contains(".py");
    let lines = memories.lines().filter_map(|line| line.strip_prefix("- ")?.split_once(": "));
    let needed = lines.filter(|(slug, description)| {
        let own = stems(&format!("{} {description}", slug.replace('-', " ")));
        own.iter().any(|word| wanted.contains(word)) || (is_code && own.iter().any(|word| has(STYLE, word)))
    });
    json!(needed.take(5).map(|(slug, _)| slug).collect::<Vec<_>>()).to_string()
}

/// The paragraphs of a conversation that is told: who, and what.
fn paragraphs(conversation: &str) -> Vec<(&str, String)> {
    const SPEAKERS: [&str; 4] = ["User: ", "Assistant: ", "Tool call: ", "Tool result: "];
    let mut found: Vec<(&str, String)> = Vec::new();
    for paragraph in conversation.split("\n\n") {
        match SPEAKERS.iter().find_map(|speaker| Some((*speaker, paragraph.strip_prefix(speaker)?))) {
            Some((speaker, text)) => found.push((speaker.trim_end_matches(": "), text.to_owned())),
            None => {
                if let Some((_, text)) = found.last_mut() {
                    text.push_str("\n\n");
                    text.push_str(paragraph);
                }
            }
        }
    }
    found
}

/// What the user said, without what a harness has put beside it.
fn said(conversation: &str) -> Vec<String> {
    let is_user = |(who, text): &(&str, String)| *who == "User" && !text.trim_start().starts_with('<');
    paragraphs(conversation).into_iter().filter(is_user).map(|(_, text)| text).collect()
}

/// What the user said that is worth knowing later, and is not known yet.
fn extracted(memories: &str, conversation: &str) -> String {
    const GENERAL: &str = "prefer using remember note also not over called than";
    let mut all: Vec<Value> = Vec::new();
    for text in said(conversation) {
        for sentence in text.split_inclusive(['.', '!', '\n']) {
            let Some(fact) = history::fact(sentence).filter(|fact| !fact.is_empty()) else { continue };
            let fact = fact.trim_end_matches('.');
            let words = rank::content(fact).into_iter().map(|token| token.low).filter(|word| !has(GENERAL, word));
            let name = words.take(3).collect::<Vec<_>>().join("-");
            let is_known = memories.contains(fact) || all.iter().any(|known| known["description"] == fact);
            if !is_known && !name.is_empty() {
                let kind = if fact.starts_with("you") || fact.contains("use ") { "user" } else { "project" };
                let content = format!("The user said: “{}”", sentence.trim());
                all.push(json!({"name": name, "description": fact, "type": kind, "content": content}));
            }
        }
    }
    Value::from(all).to_string()
}

/// All memories, without those that say the same.
fn merged(memories: &str) -> String {
    let array = memories.find('[').zip(memories.rfind(']')).and_then(|(from, to)| memories.get(from..=to));
    let all: Vec<Value> = array.and_then(|array| serde_json::from_str(array).ok()).unwrap_or_default();
    let mut kept: Vec<Value> = Vec::new();
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
    let earlier = all.iter().find_map(|(_, text)| text.split_once("summary>")).map_or("", |(_, rest)| rest);
    let own =
        |prefix: &'static str| earlier.lines().filter_map(move |line| line.strip_prefix(prefix)).map(str::to_owned);
    let asked: Vec<String> = said(conversation).iter().map(|text| one_line(text, 300)).collect();
    let first = own("The user asked first: ").next().or_else(|| asked.first().cloned()).unwrap_or_default();
    let current = asked.last().cloned().or_else(|| own("The user asked last: ").next()).unwrap_or_default();
    let mut known: Vec<String> = own("- asked: ").chain(asked.iter().cloned()).collect();
    known.dedup();
    let mut lines = vec![format!("The user asked first: {first}")];
    lines.extend(known.iter().skip(known.len().saturating_sub(12)).map(|text| format!("- asked: {text}")));
    lines.push(format!("The user asked last: {current}"));
    let is_open = all.last().is_some_and(|(who, _)| *who != "Assistant");
    if is_open {
        let is_last = |(who, text): &(&str, String)| *who == "User" && one_line(text, 300) == current;
        let start = all.iter().rposition(is_last).unwrap_or(0);
        let before = own("- done: ").filter(|_| asked.is_empty());
        lines.extend(before.map(|line| format!("- done: {line}")));
        lines.extend(calls(&all[start..]));
    }
    let users = all.iter().filter(|(who, _)| *who == "User");
    let noted = users.flat_map(|(_, text)| history::facts_in(text)).chain(own("- noted: "));
    lines.extend(noted.map(|fact| format!("- noted: {fact}")));
    let told = all.iter().filter(|(who, _)| *who == "Assistant").flat_map(|(_, text)| text.lines());
    let is_own = |line: &str| ["- asked", "- done", "- noted"].iter().any(|head| line.starts_with(head));
    let is_finding =
        |line: &&str| line.starts_with("The files: ") || line.starts_with("- ") && line.contains(": ") && !is_own(line);
    let mut findings: Vec<&str> = told.chain(earlier.lines()).filter(|_| is_open).filter(is_finding).collect();
    findings.dedup();
    lines.extend(findings.into_iter().take(60).map(str::to_owned));
    lines.join("\n")
}

/// Calls and their results, each on a line.
fn calls(paragraphs: &[(&str, String)]) -> Vec<String> {
    let mut calls: Vec<(String, Option<String>)> = Vec::new();
    for (who, text) in paragraphs {
        match *who {
            "Tool call" => calls.push((text.trim().to_owned(), None)),
            "Tool result" => {
                if let Some((_, result)) = calls.iter_mut().find(|(_, result)| result.is_none()) {
                    *result = Some(text.trim().to_owned());
                }
            }
            _ => {}
        }
    }
    let line = |(call, result): (String, Option<String>)| {
        let result = result?;
        let short = crate::speak::cut(&result, if call.contains("glob") { 1_500 } else { 400 });
        (!call.contains('\n') && call.len() < 1_000).then(|| format!("- done: {call} → {}", json!(short)))
    };
    calls.into_iter().filter_map(line).collect()
}

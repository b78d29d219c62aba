//! The side calls of a harness: which memories to use, what to remember, what to merge, a summary.
//!
//! A side call is told by what it is given, the tags in its question, and never by a literal of one harness. Invariant: the
//! answer has the shape that was asked for, and nothing in it that was not in the question.

use serde_json::{Value, json};

use crate::history;
use crate::speak::one_line;
use crate::types::{Block, Request};
use crate::words::{Shape, has, tokens};

/// The answer to a question of the harness itself, told by what it is given.
pub(crate) fn side_call(request: &Request) -> Option<String> {
    let text = request
        .messages
        .iter()
        .rev()
        .find(|message| message.from_user)?
        .blocks
        .iter()
        .filter_map(|block| if let Block::Text(text) = block { Some(*text) } else { None })
        .collect::<Vec<_>>()
        .join("\n");
    let part = |tag: &str| {
        let (_, rest) = text.split_once(&format!("<{tag}>"))?;
        Some(rest.rsplit_once(&format!("</{tag}>")).map_or(rest, |(inner, _)| inner).trim())
    };
    match (part("memories"), part("request"), part("conversation")) {
        (Some(memories), Some(asked), _) => {
            Some(chosen(memories.split("</memories>").next().unwrap_or(memories), asked))
        }
        (Some(memories), None, Some(conversation)) => Some(extracted(memories, conversation)),
        (None, None, Some(conversation)) => Some(summarized(conversation)),
        (Some(memories), None, None) => Some(merged(memories)),
        _ if text.trim_start().starts_with('[') && request.system.contains("memories") => Some(merged(&text)),
        _ if request.system.to_lowercase().contains("title") => Some(one_line(&text, 50)),
        _ => None,
    }
}

/// Which memories a request needs: those that share a word with it, and matters of style when code is to be written.
fn chosen(memories: &str, asked: &str) -> String {
    const STYLE: &str = "tab spac indentation quot styl prefer indent format languag";
    const CODE: &str =
        "python script code function creat writ mak preferenc preference lik told tell remember refactor modul know";
    let stems = |text: &str| {
        tokens(text).into_iter().filter(|token| token.shape != Shape::Mark).map(|token| token.stem).collect::<Vec<_>>()
    };
    let content = |text: &str| crate::rank::content(text).into_iter().map(|token| token.stem).collect::<Vec<_>>();
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

/// What the user said that is worth knowing later, and is not known yet.
fn extracted(memories: &str, conversation: &str) -> String {
    let mut all: Vec<Value> = Vec::new();
    let said = paragraphs(conversation)
        .into_iter()
        .filter(|(who, text)| *who == "User" && !text.trim_start().starts_with('<'));
    for sentence in
        said.flat_map(|(_, text)| text.split_inclusive(['.', '!', '\n']).map(str::to_owned).collect::<Vec<_>>())
    {
        let Some(fact) = history::fact(&sentence).filter(|fact| !fact.is_empty()) else { continue };
        let fact = fact.trim_end_matches('.');
        let words: Vec<String> = crate::rank::content(fact)
            .into_iter()
            .map(|token| token.low)
            .filter(|word| {
                !["prefer", "using", "remember", "note", "also", "not", "over", "called", "than"]
                    .contains(&word.as_str())
            })
            .take(3)
            .collect();
        let is_known = memories.contains(fact) || all.iter().any(|known| known["description"] == fact);
        if !is_known && !words.is_empty() {
            let kind = if fact.starts_with("you") || fact.contains("use ") { "user" } else { "project" };
            all.push(json!({"name": words.join("-"), "description": fact, "type": kind, "content": format!("The user said: “{}”", sentence.trim())}));
        }
    }
    Value::from(all).to_string()
}

/// All memories, without those that say the same.
fn merged(memories: &str) -> String {
    let array = memories
        .find('[')
        .zip(memories.rfind(']'))
        .and_then(|(from, to)| serde_json::from_str::<Vec<Value>>(&memories[from..=to]).ok());
    let mut kept: Vec<Value> = Vec::new();
    for memory in array.unwrap_or_default() {
        if !kept.iter().any(|other| other["content"] == memory["content"]) {
            kept.push(memory);
        }
    }
    Value::from(kept).to_string()
}

/// A summary from which this very brain can go on: what was asked, what was called for it, what was noted.
fn summarized(conversation: &str) -> String {
    let all = paragraphs(conversation);
    let earlier = all
        .iter()
        .find_map(|(_, text)| text.split_once("<conversation-summary>").or_else(|| text.split_once("summary>")))
        .map_or("", |(_, rest)| rest);
    let own =
        |prefix: &'static str| earlier.lines().filter_map(move |line| line.strip_prefix(prefix)).map(str::to_owned);
    let asked: Vec<(usize, String)> = all
        .iter()
        .enumerate()
        .filter(|(_, (who, text))| *who == "User" && !text.trim_start().starts_with('<'))
        .map(|(at, (_, text))| (at, one_line(text, 300)))
        .collect();
    let first = own("The user asked first: ")
        .next()
        .or_else(|| asked.first().map(|(_, text)| text.clone()))
        .unwrap_or_default();
    let current =
        asked.last().map(|(_, text)| text.clone()).or_else(|| own("The user asked last: ").next()).unwrap_or_default();
    let mut lines = vec![format!("The user asked first: {first}")];
    let mut known: Vec<String> = own("- asked: ").collect();
    known.extend(asked.iter().map(|(_, text)| text.clone()));
    known.dedup();
    let from = known.len().saturating_sub(12);
    lines.extend(known[from..].iter().map(|text| format!("- asked: {text}")));
    lines.push(format!("The user asked last: {current}"));
    let start = asked.last().map_or(0, |(at, _)| *at);
    let is_open = all.last().is_some_and(|(who, _)| *who != "Assistant");
    if is_open {
        if asked.is_empty() {
            lines.extend(own("- done: ").map(|line| format!("- done: {line}")));
        }
        lines.extend(calls(&all[start..]));
    }
    let noted: Vec<String> = all
        .iter()
        .filter(|(who, _)| *who == "User")
        .flat_map(|(_, text)| text.split_inclusive(['.', '!', '\n']))
        .filter_map(history::fact)
        .filter(|fact| !fact.is_empty())
        .chain(own("- noted: "))
        .collect();
    lines.extend(noted.into_iter().map(|fact| format!("- noted: {fact}")));
    let said =
        all.iter().filter(|(who, _)| *who == "Assistant").flat_map(|(_, text)| text.lines()).chain(earlier.lines());
    let findings = said.filter(|line| {
        is_open
            && (line.starts_with("The files: ")
                || line.starts_with("- ")
                    && line.contains(": ")
                    && !["- asked", "- done", "- noted"].iter().any(|head| line.starts_with(head)))
    });
    let mut findings: Vec<String> = findings.map(str::to_owned).collect();
    findings.dedup();
    lines.extend(findings.into_iter().take(60));
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

//! Summarizes a conversation so that the agent can go on without it.
//!
//! Invariant: the user's first request and every call of the current one stay known, also when the conversation begins
//! with a summary itself.

use super::transcript::{Paragraph, Speaker, paragraphs};
use crate::model::rehearsal::asked::{element, without_context};
use crate::model::rehearsal::gist;
use crate::model::rehearsal::likeness::{self, shared};
use crate::model::rehearsal::recap::{Done, Recap, one_line};
use crate::model::rehearsal::words;

/// The longest finding, in characters.
const MAX_FINDING: usize = 120;

/// The summary, as plain text.
pub fn answer(question: &str) -> String {
    let conversation = super::inside(question, "conversation").unwrap_or(question);
    let mut recap = Recap::default();
    // Results follow the calls of their reply, in order.
    let mut open: Vec<Done> = Vec::new();
    let paragraphs = paragraphs(conversation);
    for Paragraph { speaker, text } in paragraphs.iter().copied() {
        match speaker {
            Speaker::User => heard(&mut recap, text),
            Speaker::Assistant => noted(&mut recap, text),
            Speaker::Call => {
                open.push(Done::read(text));
                recap.did(Done::read(text));
            }
            Speaker::Result if open.is_empty() => {}
            Speaker::Result => recap.findings_of(&open.remove(0), text),
        }
    }
    if paragraphs
        .last()
        .is_some_and(|last| last.speaker == Speaker::Assistant)
    {
        recap.answered();
    }
    let mut summary = recap.write();
    if summary.is_empty() {
        summary = format!("The conversation so far: {}", one_line(conversation));
    }
    match super::inside(question, "focus").map(str::trim) {
        Some(focus) if !focus.is_empty() => format!("{summary}\n{}", on_focus(focus, conversation)),
        _ => summary,
    }
}

/// The user said something: an earlier summary, a request, or both.
fn heard(recap: &mut Recap, text: &str) {
    // A transcript makes closing tags harmless.
    let text = &text.replace("<\\/", "</");
    if let Some(earlier) = element(text, "conversation-summary") {
        *recap = Recap::read(earlier);
    }
    let own = without_context(text);
    if !own.trim().is_empty() && !own.trim_start().starts_with('[') {
        recap.asked(own.trim());
    }
}

/// The model noted what it found in a file: `- a.md: Tea timer.`
fn noted(recap: &mut Recap, text: &str) {
    let lines = text.lines().filter_map(|line| line.strip_prefix("- "));
    for line in lines.filter(|line| line.contains(": ")) {
        recap.found(short(line));
    }
}

impl Recap {
    /// What a result says about the file or the command.
    fn findings_of(&mut self, call: &Done, result: &str) {
        let field = |name: &str| call.input.get(name).and_then(|value| value.as_str());
        let body = gist::body(result);
        if body.is_empty() || body.starts_with("[old result") {
            return;
        }
        let failed = result.len() < 600
            && [words::DENIED, words::MISSING]
                .concat()
                .iter()
                .any(|word| body.contains(word));
        match (field("path"), field("command")) {
            (Some(path), _) if failed => {
                self.found(short(&format!(
                    "{path}: {} failed: {}",
                    call.name,
                    gist::first_sentence(body)
                )));
            }
            (Some(path), _) if call.name == "read_file" => {
                self.found(short(&format!("{path}: {}", gist::gist(path, body))));
            }
            (None, Some(command)) => {
                let first = body.lines().next().unwrap_or_default();
                self.found(short(&format!("`{}`: {first}", one_line(command))));
            }
            (_, _) => {}
        }
    }
}

fn short(line: &str) -> String {
    match line.char_indices().nth(MAX_FINDING) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// What the conversation says about what the user wants kept: lines with its words.
fn on_focus(focus: &str, conversation: &str) -> String {
    let wanted = likeness::words(focus);
    let lines = conversation
        .lines()
        .map(str::trim)
        .filter(|line| shared(&wanted, &likeness::words(line)) > 0);
    let mut text = format!("To keep in mind: {}", one_line(focus));
    for line in lines.take(8) {
        text.push_str(&format!("\n* {}", short(line)));
    }
    text
}

//! Extracts what is worth remembering from the last messages.
//!
//! Invariant: only the user's own words are a source, and nothing is extracted that the index has.

use serde_json::Value;

use super::transcript::{Paragraph, Speaker, paragraphs};
use crate::model::rehearsal::asked::without_context;
use crate::model::rehearsal::facts::facts;

/// The new memories, as a JSON array.
pub fn answer(question: &str) -> String {
    let index = super::inside(question, "memories").unwrap_or_default();
    let conversation = super::inside(question, "conversation").unwrap_or(question);
    let said: Vec<String> = paragraphs(conversation)
        .into_iter()
        .filter(|Paragraph { speaker, .. }| *speaker == Speaker::User)
        .map(|paragraph| without_context(paragraph.text))
        .collect();
    let known = |line: &str| line.trim_start().starts_with("- ");
    let new = facts(&said.join("\n")).into_iter().filter(|fact| {
        !index
            .lines()
            .filter(|line| known(line))
            .any(|line| fact.is_in(line))
    });
    new.map(|fact| fact.to_json())
        .collect::<Value>()
        .to_string()
}

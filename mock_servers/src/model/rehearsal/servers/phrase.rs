//! The words of a wish, and the parts of them that are meant for an argument.
//!
//! Invariant: what a phrase gives is what the user typed, without the words that only lead to it.

use super::names::Servers;
use crate::model::rehearsal::tokens::{Break, Token, tokenize};
use crate::model::rehearsal::words;

/// Words that stand for something nobody has named.
const ANYTHING: &[&str] = &[
    "something",
    "anything",
    "whatever",
    "stuff",
    "things",
    "sample",
    "example",
    "random",
    "interesting",
];

/// Words at the end that are no part of what is meant.
const TAILS: &[&str] = &[
    "please", "now", "it", "there", "them", "again", "instead", "too", "you", "me", "in", "on",
    "with", "for", "tool",
];

/// A wish without the words for the server it is for.
pub struct Phrase<'a> {
    text: &'a str,
    /// Its words.
    pub tokens: Vec<Token<'a>>,
}

impl<'a> Phrase<'a> {
    /// The words for a server are left out.
    pub fn new(text: &'a str, server: &str) -> Self {
        let mut tokens = tokenize(text);
        let servers = Servers {
            names: vec![server.to_owned()],
            ..Servers::default()
        };
        let is_noun = |token: &Token| token.is_any(&["server", "servers", "mcp"]);
        let names = |token: &Token| !token.quoted && servers.named(token.text).is_some();
        let documents =
            |token: &Token| server == "docs" && token.is_any(&["documentation", "manual"]);
        let mut at = 0;
        while at < tokens.len() {
            if !(is_noun(&tokens[at]) || names(&tokens[at]) || documents(&tokens[at])) {
                at += 1;
                continue;
            }
            let leads = |token: &&Token| {
                token.is_any(words::FILLERS)
                    || is_noun(token)
                    || token.is_any(&[
                        "in", "on", "of", "from", "via", "using", "with", "at", "through",
                    ])
            };
            let from = at - tokens[..at].iter().rev().take_while(leads).count();
            // `search the docs`: the verb stays.
            tokens.drain(from..=at);
            at = from;
        }
        let asks = [
            "use", "ask", "have", "let", "tell", "call", "with", "using", "via",
        ];
        if let [first, second, ..] = &tokens[..]
            && first.is_any(&asks)
            && second.is("to")
        {
            tokens.drain(..2);
        }
        Self { text, tokens }
    }

    /// The quotations.
    pub fn quoted(&self) -> impl Iterator<Item = &str> {
        self.tokens
            .iter()
            .filter(|token| token.quoted)
            .map(|token| token.text)
    }

    /// What stands behind the first of these words that is there, up to one of the others.
    pub fn behind(&self, marks: &[&str], ends: &[&str]) -> Option<String> {
        let at = marks
            .iter()
            .find_map(|mark| self.tokens.iter().position(|token| token.is(mark)))?;
        self.from(at + 1, ends)
    }

    /// The words from a place on, up to one of these.
    pub fn from(&self, from: usize, ends: &[&str]) -> Option<String> {
        let skipped = self.tokens[from.min(self.tokens.len())..].iter();
        let from = from
            + skipped
                .take_while(|token| {
                    token.is_any(&["the", "a", "an", "is", "that", "to", "of", "as"])
                })
                .count();
        let first = self.tokens.get(from)?;
        if first.quoted {
            return Some(first.text.to_owned());
        }
        let end = (from + 1..self.tokens.len()).find(|at| {
            let token = &self.tokens[*at];
            let least = if ends.is_empty() {
                Break::Stop
            } else {
                Break::Comma
            };
            token.quoted || token.is_any(ends) || token.before >= least
        });
        self.typed(from, end.unwrap_or(self.tokens.len()))
    }

    /// The words of a range, as they were typed, without those that are no part of what is meant.
    pub fn typed(&self, from: usize, mut to: usize) -> Option<String> {
        while to > from && self.tokens[to - 1].is_any(TAILS) {
            to -= 1;
        }
        let mut text = String::new();
        for (at, token) in self.tokens[from..to].iter().enumerate() {
            let before = self.tokens[from..to].get(at.wrapping_sub(1));
            // Words that were next to each other stay as they were typed.
            let between = before.map_or("", |before| {
                if before.end <= token.start {
                    &self.text[before.end..token.start]
                } else {
                    ""
                }
            });
            text.push_str(if between.len() > 1 { " " } else { between });
            let is_last = at + 1 == to - from;
            text.push_str(if is_last {
                token.text
            } else {
                &self.text[token.start..token.end]
            });
        }
        let text =
            text.trim_matches(|c: char| c.is_whitespace() || words::PUNCTUATION.contains(&c));
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Whether these words stand for something that nobody has named.
    pub fn names_nothing(text: &str) -> bool {
        let tokens = tokenize(text);
        let idle = |token: &Token| {
            token.is_any(ANYTHING) || token.is_any(words::FILLERS) || token.is_any(words::PRONOUNS)
        };
        tokens
            .iter()
            .all(|token| idle(token) || token.is("else") || token.is("useful"))
            || tokens.first().is_some_and(|token| token.is_any(ANYTHING))
    }
}

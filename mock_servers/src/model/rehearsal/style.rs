//! How the user wants code to be written: tabs or spaces, single or double quotes.
//!
//! A preference may be said in this conversation, recalled in a note or listed in the system prompt; the words are the
//! same. Invariant: only a statement counts, never a question, and `not`, `never` or `over` turn a word around.

use super::asked;
use super::sentences::{is_question, sentences};
use super::turn::Turn;

/// What is known about the user's taste.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// What a block is indented with.
    pub indent: Option<Indent>,
    /// What a string stands in.
    pub quotes: Option<Quotes>,
}

/// What a block is indented with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indent {
    /// One tab a level.
    Tabs,
    /// So many spaces a level.
    Spaces(usize),
}

/// What a string stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quotes {
    /// `'`
    Single,
    /// `"`
    Double,
}

/// Words that make a sentence with tabs or quotes in it one about taste.
const CUES: &[&str] = &[
    "prefer",
    "prefers",
    "preferred",
    "preference",
    "favor",
    "favour",
    "like",
    "likes",
    "love",
    "want",
    "wants",
    "use",
    "uses",
    "using",
    "always",
    "never",
    "indent",
    "indented",
    "indentation",
    "style",
    "hate",
    "dislike",
    "person",
    "stick",
    "switch",
    "go",
    "rather",
    "quotes",
    "over",
];

/// Words that turn what follows them around.
const NEGATIONS: &[&str] = &[
    "not", "no", "never", "over", "than", "instead", "without", "avoid", "don't", "don’t", "hate",
    "hates", "dislike", "dislikes", "against", "nor", "isn't", "stop",
];

/// How many words a negation reaches.
const REACH: usize = 3;

impl Style {
    /// What one sentence says.
    pub fn of(sentence: &str) -> Self {
        let lower = sentence.to_lowercase();
        let about = ["tab", "space", "quot"]
            .iter()
            .any(|word| lower.contains(word));
        if !about || is_question(sentence) {
            return Self::default();
        }
        let words: Vec<&str> = lower
            .split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '’')))
            .filter(|word| !word.is_empty())
            .collect();
        let cue = |word: &&str| CUES.contains(word) || NEGATIONS.contains(word);
        if words.first() == Some(&"there") || !words.iter().any(cue) {
            return Self::default();
        }
        Self {
            indent: indent(&words),
            quotes: quotes(&words),
        }
    }

    /// What a text says; a later sentence wins.
    pub fn of_text(text: &str) -> Self {
        let mut style = Self::default();
        sentences(text).for_each(|sentence| style.learn(Self::of(sentence)));
        style
    }

    /// Takes over what was said later.
    pub fn learn(&mut self, later: Self) {
        self.indent = later.indent.or(self.indent);
        self.quotes = later.quotes.or(self.quotes);
    }

    /// What a turn shows: the index in the system prompt, then recalled notes, then the user's own words.
    pub fn known(turn: &Turn) -> Self {
        let mut style = Self::default();
        asked::index(turn.system).for_each(|line| style.learn(Self::of_text(line)));
        turn.recalled()
            .for_each(|note| style.learn(Self::of_text(note)));
        turn.said_by_user()
            .for_each(|text| style.learn(Self::of_text(&text)));
        style
    }
}

fn indent(words: &[&str]) -> Option<Indent> {
    let named = |word: &str| match word {
        "tab" | "tabs" => Some(true),
        "space" | "spaces" => Some(false),
        _ => None,
    };
    let width = || {
        let at = words
            .iter()
            .position(|word| matches!(*word, "space" | "spaces"))?;
        words[..at]
            .last()?
            .parse()
            .ok()
            .filter(|width| (1..=8).contains(width))
    };
    Some(match wanted(words, named)? {
        true => Indent::Tabs,
        false => Indent::Spaces(width().unwrap_or(4)),
    })
}

fn quotes(words: &[&str]) -> Option<Quotes> {
    if !words.iter().any(|word| word.starts_with("quot")) {
        return None;
    }
    let named = |word: &str| match word {
        "single" => Some(true),
        "double" => Some(false),
        _ => None,
    };
    Some(if wanted(words, named)? {
        Quotes::Single
    } else {
        Quotes::Double
    })
}

/// Which of two things is wanted: the first that is named without a negation, else the other of the one refused.
fn wanted(words: &[&str], named: impl Fn(&str) -> Option<bool>) -> Option<bool> {
    let mut refused = None;
    for (at, word) in words.iter().enumerate() {
        let Some(which) = named(word) else { continue };
        let before = &words[at.saturating_sub(REACH)..at];
        // `tabs over spaces`: the negation belongs to the second, not to what stands before it.
        let since = before
            .iter()
            .rposition(|word| named(word).is_some())
            .map_or(0, |at| at + 1);
        if !before[since..].iter().any(|word| NEGATIONS.contains(word)) {
            return Some(which);
        }
        refused = refused.or(Some(which));
    }
    refused.map(|which| !which)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_in_many_words_is_understood() {
        use Indent::{Spaces, Tabs};
        for (text, indent) in [
            (
                "I prefer using tabs for indentation, not spaces.",
                Some(Tabs),
            ),
            ("please use tabs, never spaces", Some(Tabs)),
            ("from now on indent with tabs", Some(Tabs)),
            ("Don't use spaces for indentation", Some(Tabs)),
            ("I like tabs over spaces", Some(Tabs)),
            ("never use tabs", Some(Spaces(4))),
            ("use 2 spaces instead of tabs", Some(Spaces(2))),
            ("I hate tabs", Some(Spaces(4))),
            ("should I use tabs or spaces?", None),
            ("what is the use of tabs", None),
            ("close all tabs", None),
        ] {
            assert_eq!(Style::of(text).indent, indent, "{text}");
        }
    }

    #[test]
    fn quotes_are_told_apart() {
        for (text, quotes) in [
            (
                "I also prefer single quotes over double quotes for strings.",
                Some(Quotes::Single),
            ),
            ("use double quotes, not single ones", Some(Quotes::Double)),
            ("Never use double quotes", Some(Quotes::Single)),
            ("a single file", None),
        ] {
            assert_eq!(Style::of(text).quotes, quotes, "{text}");
        }
    }
}

//! Chooses the memories a request needs.
//!
//! Words in common decide. A request for code needs what is known about style although it names none of it.
//! Invariant: at most five slugs, all of them offered.

use crate::model::rehearsal::likeness::{shared, words};
use serde_json::Value;

/// The most memories that are chosen.
const MOST: usize = 5;

/// Words of a request for code.
const CODE: &[&str] = &[
    "python",
    "py",
    "rust",
    "code",
    "function",
    "module",
    "script",
    "program",
    "class",
    "refactor",
    "package",
    "implement",
    "javascript",
    "typescript",
];

/// Words of a memory about the style of code.
const STYLE: &[&str] = &[
    "indentation",
    "indent",
    "tab",
    "space",
    "quote",
    "style",
    "format",
    "naming",
    "preference",
    "prefer",
    "hint",
    "docstring",
    "convention",
    "code",
    "lint",
];

/// Words of a request for what is known.
const KNOWN: &[&str] = &[
    "preference",
    "prefer",
    "remember",
    "recall",
    "memory",
    "memorie",
    "know",
    "told",
    "tell",
];

/// The slugs, as a JSON array.
pub fn answer(question: &str) -> String {
    let memories = super::inside(question, "memories").unwrap_or_default();
    let request = super::inside(question, "request").unwrap_or(question);
    let asked = words(request);
    let needs = |list: &[&str]| asked.iter().any(|word| list.contains(&word.as_str()));
    let file = |word: &String| {
        ["py", "rs", "js", "ts", "rb", "sh"]
            .iter()
            .any(|ext| word == ext)
    };
    let for_code = needs(CODE) || named_extensions(request).any(|ext| file(&ext));
    let (for_known, for_name) = (needs(KNOWN), asked.iter().any(|word| word == "name"));
    let mut scored: Vec<(usize, &str)> = memories
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- ")?.split_once(':'))
        .map(|(slug, description)| {
            let about = words(&format!("{} {description}", slug.replace('-', " ")));
            let is_style = about.iter().any(|word| STYLE.contains(&word.as_str()));
            let is_name = for_name && about.iter().any(|word| word == "name");
            let extra = 2 * usize::from(for_code && is_style)
                + usize::from(for_known)
                + 2 * usize::from(is_name);
            (shared(&about, &asked) + extra, slug.trim())
        })
        .filter(|(score, _)| *score > 0)
        .collect();
    // The sort is stable: of equals, the one that stands first in the index is chosen.
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored
        .into_iter()
        .take(MOST)
        .map(|(_, slug)| slug)
        .collect::<Value>()
        .to_string()
}

/// `py` of `test.py`.
fn named_extensions(request: &str) -> impl Iterator<Item = String> {
    let words = request
        .split_whitespace()
        .map(|word| word.trim_end_matches(['.', ',', '?', '!', '"', '\'', '`']));
    words.filter_map(|word| Some(word.rsplit_once('.')?.1.to_lowercase()))
}

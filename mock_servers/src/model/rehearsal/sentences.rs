//! Sentences of the user's words, and whether one is a question.
//!
//! Invariant: a dot inside a name or a number ends no sentence.

/// Words that open a question or ask for something.
const ASKING: &[&str] = &[
    "am", "are", "can", "could", "did", "do", "does", "have", "how", "is", "may", "shall",
    "should", "was", "were", "what", "what's", "when", "where", "which", "who", "why", "will",
    "would",
];

/// The sentences of a text, each trimmed and without its end mark, except a question's.
pub fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .flat_map(in_line)
        .map(str::trim)
        .filter(|sentence| !sentence.is_empty())
}

/// Whether a sentence asks.
pub fn is_question(sentence: &str) -> bool {
    let lower = sentence.trim().to_lowercase();
    let first = lower
        .split(|c: char| c.is_whitespace() || c == ',')
        .next()
        .unwrap_or("");
    let command = lower.starts_with("do not ") || lower.starts_with("don't ");
    lower.ends_with('?') || ASKING.contains(&first) && !command
}

fn in_line(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let text = rest?;
        let end = text.char_indices().find(|(at, c)| {
            let behind = &text[at + c.len_utf8()..];
            *c == ';'
                || matches!(c, '.' | '!' | '?')
                    && (behind.is_empty() || behind.starts_with([' ', '"', '”']))
        });
        let Some((at, mark)) = end else {
            rest = None;
            return Some(text);
        };
        rest = Some(&text[at + mark.len_utf8()..]).filter(|behind| !behind.is_empty());
        Some(&text[..if mark == '?' { at + 1 } else { at }])
    })
}

//! Words in common: how memories are chosen when no model can be asked.
//!
//! Invariant: a memory that shares no word with the request is not chosen.

use std::cmp::Reverse;
use std::collections::HashSet;

/// Words that say nothing about what a request is about.
const EMPTY: [&str; 32] = [
    "about", "and", "are", "but", "called", "can", "did", "does", "file", "files", "for", "from",
    "has", "have", "how", "into", "not", "please", "tell", "that", "the", "them", "then", "this",
    "use", "was", "what", "when", "which", "with", "you", "your",
];
/// Words with this beginning in common are one word in two forms: prefer, preferences.
const STEM_CHARS: usize = 5;

/// What belongs to the texts that share words with the request, the most words first.
pub fn closest<T>(request: &str, texts: impl IntoIterator<Item = (String, T)>) -> Vec<T> {
    let wanted = words(request);
    let texts = texts.into_iter();
    let mut scored: Vec<(usize, T)> = texts
        .map(|(text, it)| (words(&text).intersection(&wanted).count(), it))
        .filter(|(shared, _)| *shared > 0)
        .collect();
    scored.sort_by_key(|(shared, _)| Reverse(*shared));
    scored.into_iter().map(|(_, it)| it).collect()
}

fn words(text: &str) -> HashSet<String> {
    text.to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() > 2 && !EMPTY.contains(word))
        .map(|word| word.chars().take(STEM_CHARS).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_with_most_words_in_common_comes_first() {
        let texts = [
            "deploys happen on mondays",
            "prefers tabs for indentation",
            "the user prefers tabs in python",
        ];
        let chosen = |request| closest(request, texts.map(str::to_owned).into_iter().zip(0..));
        assert_eq!(chosen("What Python indentation do I prefer: tabs?"), [1, 2]);
        assert_eq!(chosen("what is the weather"), [0; 0]);
    }
}

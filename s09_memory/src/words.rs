//! Words in common: how memories are chosen when no model can be asked.
//!
//! Invariant: a memory that shares no word with the request is not chosen.

use std::collections::HashSet;

/// Words that say nothing about what a request is about.
const EMPTY: [&str; 32] = [
    "about", "and", "are", "but", "called", "can", "did", "does", "file", "files", "for", "from",
    "has", "have", "how", "into", "not", "please", "tell", "that", "the", "them", "then", "this",
    "use", "was", "what", "when", "which", "with", "you", "your",
];
/// Words with this beginning in common are one word in two forms: prefer, preferences.
const STEM_CHARS: usize = 5;

/// The places of the texts that share the most words with the request, at most `limit`, the best first.
pub fn closest<'a>(
    request: &str,
    texts: impl IntoIterator<Item = &'a str>,
    limit: usize,
) -> Vec<usize> {
    let wanted = words(request);
    let shared = |text: &str| words(text).intersection(&wanted).count();
    let mut scored: Vec<(usize, usize)> = texts
        .into_iter()
        .enumerate()
        .map(|(place, text)| (shared(text), place))
        .filter(|(shared, _)| *shared > 0)
        .collect();
    scored.sort_by_key(|(shared, place)| (std::cmp::Reverse(*shared), *place));
    scored
        .into_iter()
        .take(limit)
        .map(|(_, place)| place)
        .collect()
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
        let chosen = |request, limit| closest(request, texts, limit);
        assert_eq!(
            chosen("What Python indentation do I prefer: tabs?", 5),
            [1, 2]
        );
        assert_eq!(chosen("What Python indentation do I prefer: tabs?", 1), [1]);
        assert_eq!(chosen("what is the weather", 5), [0usize; 0]);
    }
}

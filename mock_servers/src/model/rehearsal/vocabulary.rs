//! The words of the table, numbered, so that matching a pattern compares numbers and not letters.
//!
//! A request is matched against hundreds of patterns, some at every word of it. Each word is looked up once, when the
//! request is cut into words.
//! Invariant: two words have one number when they are the same in any case; a word that no pattern has has none.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::{intents, words};

/// The number of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Word(u16);

impl Word {
    /// The number of a word in any case, if a pattern has it.
    pub fn of(text: &str) -> Option<Self> {
        let known = &VOCABULARY.numbers;
        if text.len() > VOCABULARY.longest {
            return None;
        }
        match text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            true => known.get(text.to_ascii_lowercase().as_str()),
            false => known.get(text),
        }
        .copied()
    }

    /// Whether it carries nothing.
    pub fn is_filler(self) -> bool {
        usize::from(self.0) < words::FILLERS.len()
    }
}

struct Vocabulary {
    numbers: HashMap<&'static str, Word>,
    longest: usize,
}

static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(|| {
    let mut numbers = HashMap::new();
    let patterns = intents::all().flat_map(|intent| intent.says.iter().chain(intent.also));
    let of_patterns = patterns.flat_map(|pattern| pattern.split([' ', '|']));
    // The fillers come first: their numbers are the small ones.
    for word in words::FILLERS.iter().copied().chain(of_patterns) {
        let next = Word(numbers.len() as u16);
        numbers.entry(word).or_insert(next);
    }
    let longest = numbers.keys().map(|word| word.len()).max();
    Vocabulary {
        longest: longest.unwrap_or_default(),
        numbers,
    }
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_has_one_number_in_any_case() {
        assert!(
            words::FILLERS
                .iter()
                .all(|word| Word::of(word).is_some_and(Word::is_filler))
        );
        assert_eq!(Word::of("Create"), Word::of("create"));
        assert_ne!(Word::of("create"), Word::of("delete"));
        assert!(Word::of("create").is_some_and(|word| !word.is_filler()));
        assert_eq!(Word::of("xyzzy"), None);
    }
}

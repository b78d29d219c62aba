//! How much two texts have in common, by their words.
//!
//! Memories are chosen, compared and merged by what they are about; a real model reads them, this one counts words.
//! Invariant: case, order and small words make no difference.

/// Words that say nothing about what a text is about.
const EMPTY: &[&str] = &[
    "about", "also", "and", "any", "are", "been", "but", "called", "can", "could", "did", "does",
    "ever", "file", "for", "from", "has", "have", "how", "into", "its", "just", "like", "may",
    "not", "now", "our", "out", "please", "said", "say", "shall", "should", "some", "than", "that",
    "the", "their", "them", "then", "there", "these", "they", "this", "those", "use", "user",
    "uses", "using", "was", "were", "what", "when", "where", "which", "who", "will", "with",
    "would", "you", "your",
];

/// The shortest beginning that two forms of a word must share: `indent`, `indentation`.
const STEM: usize = 5;

/// The words a text is about: lower case, each once, in order.
pub fn words(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let parts = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    for part in parts.map(str::to_lowercase) {
        if part.chars().count() < 3 || EMPTY.contains(&part.as_str()) {
            continue;
        }
        let singular = part
            .strip_suffix('s')
            .filter(|stem| stem.len() > 2 && !stem.ends_with('s'));
        let word = singular.unwrap_or(&part).to_owned();
        if !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

/// How many of the first words are among the second.
pub fn shared(words: &[String], others: &[String]) -> usize {
    let same = |word: &String, other: &String| {
        let (short, long) = if word.len() < other.len() {
            (word, other)
        } else {
            (other, word)
        };
        word == other || short.len() >= STEM && long.starts_with(short.as_str())
    };
    words
        .iter()
        .filter(|word| others.iter().any(|other| same(word, other)))
        .count()
}

/// Whether two texts say nearly the same: four fifths of the words of the longer one are in the shorter.
pub fn alike(text: &str, other: &str) -> bool {
    let (words, others) = (words(text), words(other));
    let (short, long) = if words.len() < others.len() {
        (words, others)
    } else {
        (others, words)
    };
    !short.is_empty() && shared(&long, &short) * 5 >= long.len() * 4
}

/// Words that no name needs.
const NAMELESS: &[&str] = &[
    "always", "never", "prefer", "love", "hate", "project", "future", "http", "https", "www",
];

/// The first words a text is about, as a name: `dark-mode-editor`.
pub fn kebab(text: &str) -> String {
    let parts = text
        .split(|c: char| !c.is_ascii_alphanumeric())
        .map(str::to_lowercase);
    let telling = |word: &String| {
        word.len() > 2 && !EMPTY.contains(&word.as_str()) && !NAMELESS.contains(&word.as_str())
    };
    let named: Vec<String> = parts.filter(telling).take(3).collect();
    if named.is_empty() {
        "note".to_owned()
    } else {
        named.join("-")
    }
}

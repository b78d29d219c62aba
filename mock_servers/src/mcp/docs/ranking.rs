//! Ranking: which passages answer a query best, by BM25.
//!
//! A word counts the more the fewer passages have it, and the more often a passage has it, ever less with each time and
//! less in a long passage. Invariant: the same query has the same results, in the same order.

use std::collections::HashMap;

use super::Hit;
use super::corpus::Passage;

/// How soon more of the same word stops counting, and how much a passage's length matters: the constants of the textbooks.
const K: f64 = 1.2;
const B: f64 = 0.75;
/// A word in a title counts as this many in the text.
const TITLE: usize = 3;
/// How long an excerpt is, in characters.
const EXCERPT: usize = 240;

/// The passages and where their words are.
pub struct Index {
    passages: Vec<Passage>,
    /// The number of words of each passage.
    lengths: Vec<f64>,
    average: f64,
    /// For each word the passages that have it, and how often.
    postings: HashMap<String, HashMap<usize, f64>>,
}

impl Index {
    pub fn new(passages: Vec<Passage>) -> Self {
        let mut postings: HashMap<String, HashMap<usize, f64>> = HashMap::new();
        let mut lengths = Vec::new();
        for (number, passage) in passages.iter().enumerate() {
            let title = words(&passage.title);
            let titles = title.iter().cycle().take(TITLE * title.len());
            let mut length = 0.0;
            for word in titles.cloned().chain(words(&passage.text)) {
                *postings.entry(word).or_default().entry(number).or_default() += 1.0;
                length += 1.0;
            }
            lengths.push(length);
        }
        let average = lengths.iter().sum::<f64>() / lengths.len() as f64;
        Self {
            passages,
            lengths,
            average,
            postings,
        }
    }

    /// How many passages there are.
    pub fn len(&self) -> usize {
        self.passages.len()
    }

    /// The best passages, at most `most`; of equals the earlier first.
    pub fn search(&self, query: &str, most: usize) -> Vec<Hit> {
        let words = words(query);
        let mut scores: HashMap<usize, f64> = HashMap::new();
        for word in &words {
            let Some(posting) = self.postings.get(word) else {
                continue;
            };
            for (&number, &times) in posting {
                *scores.entry(number).or_default() += self.score(number, times, posting.len());
            }
        }
        let mut ranked = scores.into_iter().collect::<Vec<_>>();
        ranked.sort_by(|(a, one), (b, other)| other.total_cmp(one).then(a.cmp(b)));
        ranked.truncate(most);
        let best = ranked.into_iter().map(|(number, _)| &self.passages[number]);
        best.map(|passage| hit(passage, &words)).collect()
    }

    /// What one word adds to a passage that has it `times` times, when `spread` passages have it.
    fn score(&self, number: usize, times: f64, spread: usize) -> f64 {
        let (all, spread) = (self.passages.len() as f64, spread as f64);
        let rarity = (1.0 + (all - spread + 0.5) / (spread + 0.5)).ln();
        let length = 1.0 - B + B * self.lengths[number] / self.average;
        rarity * times * (K + 1.0) / (times + K * length)
    }
}

/// The words of a text: lower case, and without the `s` of a plural.
fn words(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric());
    let parts = parts.filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let word = part.to_lowercase();
            match word.strip_suffix('s') {
                Some(stem) if stem.len() > 2 && !stem.ends_with('s') => stem.to_owned(),
                _ => word,
            }
        })
        .collect()
}

fn hit(passage: &Passage, query: &[String]) -> Hit {
    Hit {
        title: passage.title.clone(),
        path: passage.path,
        excerpt: excerpt(&passage.text, query),
    }
}

/// The part of `text` that begins with the sentence that has the most words of the query.
fn excerpt(text: &str, query: &[String]) -> String {
    let mut best = (0, 0);
    let mut start = 0;
    for sentence in text.split_inclusive(". ") {
        let words = words(sentence);
        let found = query.iter().filter(|word| words.contains(word)).count();
        if found > best.0 {
            best = (found, start);
        }
        start += sentence.len();
    }
    let from = &text[best.1..];
    match from.char_indices().nth(EXCERPT) {
        Some((end, _)) => {
            let cut = from[..end].rfind(' ').unwrap_or(end);
            format!("{} …", &from[..cut])
        }
        None => from.to_owned(),
    }
}

//! Which rows are near a request: BM25 over the words and shapes of their examples.
//!
//! The words of a request rarely are those of an example, so a row is the sum of its examples. The nearest row is only a
//! guess; coverage decides (`understand`). Invariant: the same words give the same order, on every machine.

use std::collections::HashMap;
use std::collections::HashSet;
use std::sync::OnceLock;

use crate::table::ROWS;
use crate::words::{Shape, Token, has, set, stem, tokens};

const K1: f32 = 1.2;
const B: f32 = 0.5;

struct Index {
    /// For each word, the rows that have it and how often.
    rows: HashMap<String, Vec<(usize, f32)>>,
    lengths: Vec<f32>,
    average: f32,
    vocabularies: Vec<HashSet<String>>,
}

/// The word or shape by which a token is looked up.
fn term(token: &Token) -> String {
    match token.shape {
        Shape::Word => token.stem.clone(),
        Shape::Path => "{path}".into(),
        Shape::Quoted => "{quoted}".into(),
        Shape::Code => "{quoted}".into(),
        Shape::Number => "{number}".into(),
        Shape::Key => "{key}".into(),
        Shape::Signature | Shape::Mark => String::new(),
    }
}

fn index() -> &'static Index {
    static INDEX: OnceLock<Index> = OnceLock::new();
    INDEX.get_or_init(|| {
        let mut index = Index {
            rows: HashMap::new(),
            lengths: Vec::new(),
            average: 0.0,
            vocabularies: Vec::new(),
        };
        for (at, row) in ROWS.iter().enumerate() {
            let mut counts: HashMap<String, f32> = HashMap::new();
            for example in &row.examples {
                for word in example
                    .split(|c: char| c.is_whitespace() || matches!(c, ',' | ':' | '(' | ')'))
                    .filter(|word| !word.is_empty())
                {
                    let word = word.strip_suffix("'s").unwrap_or(word).to_lowercase();
                    let term = if word.starts_with('{') { word.clone() } else { stem(&word) };
                    *counts.entry(term).or_default() += 1.0;
                }
            }
            let vocabulary: HashSet<String> = counts
                .keys()
                .cloned()
                .chain(row.says.split(' ').chain(row.verbs.split(' ')).map(stem))
                .collect();
            index.vocabularies.push(vocabulary);
            index.lengths.push(counts.values().sum());
            for (term, count) in counts {
                index.rows.entry(term).or_default().push((at, count));
            }
        }
        index.average = index.lengths.iter().sum::<f32>() / index.lengths.len() as f32;
        index
    })
}

/// The rows, the nearest first; those that share nothing with the request are left out.
pub fn nearest(tokens: &[Token]) -> Vec<usize> {
    scored(tokens).into_iter().map(|(row, _)| row).collect()
}

/// The rows that are nearly as close as the nearest: what is worth offering.
pub fn close(tokens: &[Token]) -> Vec<usize> {
    let content: Vec<Token> = tokens
        .iter()
        .filter(|token| token.shape == Shape::Word && !token.is_filler)
        .cloned()
        .collect();
    let all = scored(&content);
    let least = all.first().map_or(0.0, |(_, best)| best * 0.6).max(2.5);
    all.into_iter().take_while(|(_, score)| *score >= least).map(|(row, _)| row).collect()
}

fn scored(tokens: &[Token]) -> Vec<(usize, f32)> {
    let index = index();
    let mut scores = vec![0.0_f32; ROWS.len()];
    let mut seen: Vec<String> = Vec::new();
    for token in tokens {
        let term = term(token);
        let Some(rows) = index.rows.get(&term).filter(|_| !seen.contains(&term)) else { continue };
        // A filler says little about what is wanted.
        let weight = if token.is_filler { 0.2 } else { 1.0 };
        let rarity =
            (1.0 + (ROWS.len() as f32 - rows.len() as f32 + 0.5) / (rows.len() as f32 + 0.5)).ln();
        for (row, count) in rows {
            let length = 1.0 - B + B * index.lengths[*row] / index.average;
            scores[*row] += weight * rarity * count * (K1 + 1.0) / (count + K1 * length);
        }
        seen.push(term);
    }
    let mut order: Vec<(usize, f32)> =
        scores.into_iter().enumerate().filter(|(_, score)| *score > 0.0).collect();
    order.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    order
}

/// Whether a row knows this word. What is quoted is nobody's word.
pub fn knows(row: usize, token: &Token) -> bool {
    let vocabulary = &index().vocabularies[row];
    !matches!(token.shape, Shape::Quoted | Shape::Code | Shape::Signature)
        && (vocabulary.contains(&token.stem)
            || token.shape != Shape::Word && vocabulary.contains(&stem(&token.low)))
}

/// Whether any row knows this word: then it is no name.
pub fn is_known(token: &Token) -> bool {
    index().rows.contains_key(&token.stem)
}

/// Whether a word is a verb with which a clause may begin.
pub fn is_verb(low: &str) -> bool {
    static VERBS: OnceLock<HashSet<String>> = OnceLock::new();
    VERBS
        .get_or_init(|| {
            let firsts = ROWS
                .iter()
                .flat_map(|row| &row.examples)
                .filter_map(|example| example.split([' ', ',', ':']).next());
            let more = set("frame-verbs").split(' ');
            firsts
                .filter(|word| {
                    !has(set("no-verbs"), word)
                        && !has(set("fillers"), word)
                        && !word.starts_with('{')
                })
                .chain(more)
                .map(str::to_owned)
                .collect()
        })
        .contains(low)
}

/// The tokens of a text without marks.
pub fn content(text: &str) -> Vec<Token> {
    tokens(text)
        .into_iter()
        .filter(|token| token.shape != Shape::Mark && !token.is_filler)
        .collect()
}

//! BM25F: the ranking function of full-text search, over weighted fields.
//!
//! Robertson and Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond* (2009), section 3.6. A word's frequency is
//! the sum over the fields of weight × count, each count divided by how long the field is beside the average
//! (`1 - b + b × length / average`); it then saturates with k1. The weight of a word is its idf,
//! `ln(1 + (N - n + 0.5) / (n + 0.5))`. With a single field of weight 1 it is Okapi BM25 with document-length normalisation.
//! A synonym counts as the word itself at a share of its frequency, a larger one where no document has the word; a document
//! that has both counts the better one, once.
//! Invariant: the same documents and the same query give the same scores, whatever the order of a hash table.

use std::collections::{BTreeSet, HashMap};

use super::synonyms::Synonyms;
use super::tokens;

/// How fast a repeated word stops counting.
const K1: f32 = 1.5;
/// How much a long field is held against its words.
const B: f32 = 0.75;
/// The share of a synonym's frequency; and where no document has the word itself, so that nothing exact is to be preferred.
const SYNONYM: f32 = 0.2;
const DIALECT: f32 = 0.5;

/// Weighted fields of documents, by word.
pub struct Bm25 {
    /// The number of each stem.
    stems: HashMap<String, usize>,
    /// For each stem the documents that have it, with its normalised frequency there.
    postings: Vec<Vec<(u32, f32)>>,
    documents: usize,
}

impl Bm25 {
    /// Indexes documents. `texts` hands out the texts of one, each with the number of its field in `weights`.
    pub fn new<T, const FIELDS: usize>(
        documents: &[T],
        weights: [f32; FIELDS],
        texts: impl Fn(&T, &mut dyn FnMut(usize, &str)),
    ) -> Self {
        let mut stems = HashMap::new();
        // Most words were seen before: their stem is looked up, not made.
        let mut seen: HashMap<String, Option<usize>> = HashMap::new();
        let mut number = |word: &str| {
            seen.get(word).copied().unwrap_or_else(|| {
                let next = stems.len();
                let stem = (!tokens::is_stop_word(word)).then(|| tokens::stem(word));
                let number = stem.map(|stem| *stems.entry(stem).or_insert(next));
                seen.insert(word.to_owned(), number);
                number
            })
        };
        // The words of all documents in one row, each with its field; and how many each document has there.
        let mut row: Vec<(usize, usize)> = Vec::new();
        let mut lengths = Vec::with_capacity(documents.len());
        for document in documents {
            let mut length = [0_usize; FIELDS];
            texts(document, &mut |field, text| {
                tokens::split(text, |word| {
                    if let Some(stem) = number(word) {
                        row.push((field, stem));
                        length[field] += 1;
                    }
                });
            });
            lengths.push(length);
        }
        let count = documents.len().max(1) as f32;
        let averages: [f32; FIELDS] = std::array::from_fn(|field| {
            let words: usize = lengths.iter().map(|length| length[field]).sum();
            (words as f32 / count).max(f32::MIN_POSITIVE)
        });
        let mut postings: Vec<Vec<(u32, f32)>> = vec![Vec::new(); stems.len()];
        let mut row = row.into_iter();
        for (document, length) in (0..).zip(lengths) {
            let counted: [f32; FIELDS] = std::array::from_fn(|field| {
                weights[field] / (1.0 - B + B * length[field] as f32 / averages[field])
            });
            for (field, stem) in row.by_ref().take(length.iter().sum()) {
                match postings[stem].last_mut() {
                    Some((last, frequency)) if *last == document => *frequency += counted[field],
                    _ => postings[stem].push((document, counted[field])),
                }
            }
        }
        Self {
            stems,
            postings,
            documents: documents.len(),
        }
    }

    fn postings(&self, stem: &str) -> &[(u32, f32)] {
        self.stems.get(stem).map_or(&[], |number| &self.postings[*number])
    }

    /// The inverse document frequency of a stem; that of one which no document has is the highest.
    pub fn idf(&self, stem: &str) -> f32 {
        let with = self.postings(stem).len() as f32;
        (1.0 + (self.documents as f32 - with + 0.5) / (with + 0.5)).ln()
    }

    /// True if some document has the stem.
    pub fn knows(&self, stem: &str) -> bool {
        self.stems.contains_key(stem)
    }

    /// Scores every document for the stems of a query.
    pub fn scores(&self, query: &BTreeSet<String>, synonyms: &Synonyms) -> Vec<Scored> {
        let mut scored = vec![Scored::default(); self.documents];
        // The frequency of the word at hand in each document, and the documents where it is above 0.
        let mut frequencies = vec![0.0_f32; self.documents];
        let mut found = Vec::new();
        for word in query {
            let others = synonyms.of(word).filter(|other| !query.contains(*other));
            let known: Vec<&str> = others.filter(|other| self.knows(other)).collect();
            let spellings = std::iter::once((word.as_str(), 1.0));
            let synonym = if self.knows(word) { SYNONYM } else { DIALECT };
            for (spelling, share) in spellings.chain(known.iter().map(|other| (*other, synonym))) {
                for &(document, frequency) in self.postings(spelling) {
                    let best = &mut frequencies[document as usize];
                    if *best == 0.0 {
                        found.push(document as usize);
                    }
                    *best = best.max(share * frequency);
                }
            }
            // A word that no document has is as rare as the rarest of its synonyms.
            let rarest = known.iter().map(|other| self.idf(other)).reduce(f32::max);
            let idf = rarest.filter(|_| !self.knows(word)).unwrap_or_else(|| self.idf(word));
            for document in found.drain(..) {
                let frequency = std::mem::take(&mut frequencies[document]);
                scored[document].score += idf * frequency * (K1 + 1.0) / (frequency + K1);
                scored[document].matched += idf;
            }
        }
        scored
    }
}

/// What a query found in one document.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scored {
    /// The BM25F score.
    pub score: f32,
    /// The sum of the idf of the query's words that the document has, or a synonym of them.
    pub matched: f32,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Bm25, Synonyms};
    use crate::index::tokens::stems;

    fn scores(documents: &[&str], query: &str, synonyms: &Synonyms) -> Vec<f32> {
        let query: BTreeSet<String> = stems(query).into_iter().collect();
        let index = Bm25::new(documents, [1.0], |text, each| each(0, text));
        let scored = index.scores(&query, synonyms);
        scored.iter().map(|scored| scored.score).collect()
    }

    #[test]
    fn with_one_field_it_is_okapi_bm25_worked_out_by_hand() {
        // Three documents of 2, 4 and 3 words: the average is 3. "cat" stands in two of them, n = 2:
        // idf = ln(1 + (3 - 2 + 0.5) / (2 + 0.5)) = ln 1.6 = 0.470004.
        // First: tf 1, norm 1.5 × (0.25 + 0.75 × 2/3) = 1.125, so 0.470004 × 2.5 / 2.125 = 0.552946.
        // Second: tf 2, norm 1.5 × (0.25 + 0.75 × 4/3) = 1.875, so 0.470004 × 5 / 3.875 = 0.606456.
        let found =
            scores(&["cat dog", "cat cat bird fish", "dog bird fish"], "cat", &Synonyms::default());
        for (found, expected) in found.iter().zip([0.552_946, 0.606_456, 0.0]) {
            assert!((found - expected).abs() < 1e-5, "{found} is not {expected}");
        }
    }

    #[test]
    fn a_synonym_counts_less_than_the_word_and_both_count_once() {
        let synonyms = Synonyms::default().with("groups: [[folder, directory]]").unwrap();
        let documents = ["folder here", "directory here", "folder directory", "nothing here"];
        let found = scores(&documents, "folder", &synonyms);
        assert!(found[0] > found[1] && found[1] > 0.0, "{found:?}");
        assert_eq!(found[0], found[2]);
        assert_eq!(found[3], 0.0);
        // A word that no document has is found by its synonym alone.
        assert!(scores(&["directory", "file"], "folder", &synonyms)[0] > 0.0);
    }
}

//! Slugs: the file names of memories.
//!
//! A model chooses the name, and it can be anything: a path, the name of the index, empty. Invariant: a slug consists of
//! a–z, 0–9 and hyphens, names no existing file, and is never the index, even on a file system that ignores case.

use std::iter;

const MAX_CHARS: usize = 60;

/// A slug for this name that is not taken.
pub fn slug(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let stem = stem(name);
    let numbered = (2u64..).map(|number| format!("{stem}-{number}"));
    let mut slugs = iter::once(stem.clone()).chain(numbered);
    slugs
        .find(|slug| slug != "memory" && !is_taken(slug))
        .expect("a folder holds fewer files than there are numbers")
}

/// The letters and digits of a name; `note` when it has none.
fn stem(name: &str) -> String {
    let name = name.to_lowercase();
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let mut stem = words.join("-");
    stem.truncate(MAX_CHARS);
    match stem.trim_end_matches('-') {
        "" => "note".to_owned(),
        stem => stem.to_owned(),
    }
}

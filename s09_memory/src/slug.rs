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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_any_kind_gets_a_safe_slug_that_is_not_taken() {
        for (name, expected) in [
            ("Tabs & Spaces", "tabs-spaces"),
            ("MEMORY", "memory-2"),
            ("MEMORY.md", "memory-md"),
            ("../x", "x"),
            ("/etc/passwd", "etc-passwd"),
            ("", "note-3"),
            ("\u{1f980}", "note-3"),
            ("a\nb\0c", "a-b-c"),
        ] {
            let is_taken = |slug: &str| ["note", "note-2"].contains(&slug);
            assert_eq!(slug(name, is_taken), expected, "{name:?}");
        }
        assert_eq!(slug(&"x".repeat(500), |_| false).len(), MAX_CHARS);
    }
}

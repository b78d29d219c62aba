//! Slugs: the file names of memories.
//!
//! A model chooses the name, and a name can be anything: a path, the name of the index, nothing at all. Invariant: a slug
//! is made of a–z, 0–9 and hyphens, is no file that is there, and is never the index, whatever the file system thinks of
//! upper case.

const MAX_CHARS: usize = 60;
/// The slug of a name that leaves nothing.
const NAMELESS: &str = "note";
/// Slugs that are somebody else's file.
const RESERVED: [&str; 1] = ["memory"];

/// A slug for this name that is not taken.
pub fn slug(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let stem = stem(name);
    let is_free = |slug: &String| !RESERVED.contains(&slug.as_str()) && !is_taken(slug);
    if is_free(&stem) {
        return stem;
    }
    let mut numbered = (2u64..).map(|number| format!("{stem}-{number}"));
    numbered
        .find(is_free)
        .expect("a folder holds fewer files than there are numbers")
}

fn stem(name: &str) -> String {
    let mut stem = String::new();
    for c in name.to_lowercase().chars() {
        match c {
            'a'..='z' | '0'..='9' => stem.push(c),
            _ if stem.is_empty() || stem.ends_with('-') => {}
            _ => stem.push('-'),
        }
    }
    stem.truncate(MAX_CHARS);
    match stem.trim_end_matches('-') {
        "" => NAMELESS.to_owned(),
        stem => stem.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_any_kind_gets_a_safe_slug() {
        for (name, expected) in [
            ("tabs", "tabs"),
            ("Tabs & Spaces", "tabs-spaces"),
            ("memory", "memory-2"),
            ("MEMORY", "memory-2"),
            ("MEMORY.md", "memory-md"),
            ("../x", "x"),
            ("/etc/passwd", "etc-passwd"),
            ("", "note"),
            (".", "note"),
            ("\u{1f980}", "note"),
            ("a\nb\0c", "a-b-c"),
        ] {
            assert_eq!(slug(name, |_| false), expected, "{name:?}");
        }
        assert_eq!(slug(&"x".repeat(500), |_| false).len(), MAX_CHARS);
    }

    #[test]
    fn a_slug_that_is_taken_is_numbered() {
        let taken = ["note", "note-2", "memory-2"];
        let is_taken = |slug: &str| taken.contains(&slug);
        assert_eq!(slug("", is_taken), "note-3");
        assert_eq!(slug("Memory", is_taken), "memory-3");
    }
}

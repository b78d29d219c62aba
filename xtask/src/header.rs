//! The `//!` header that every Rust file opens with.
//!
//! Its first sentence is what `cargo x diff` shows of a new file, so it must be there and must be a sentence.
//! Invariant: a header is read as rustdoc reads it, one paragraph up to an empty line.

/// The lines of the header, without `//!`.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end())
}

/// The first sentence of the header: up to the first `.`, `?` or `!` that ends a word, within the first paragraph.
pub fn first_sentence(text: &str) -> Option<String> {
    let paragraph = lines(text).take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    let end = paragraph.match_indices(['.', '?', '!']).map(|(at, _)| at + 1).find(|&end| {
        let rest = &paragraph[end..];
        rest.is_empty() || rest.starts_with(' ')
    })?;
    Some(paragraph[..end].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sentence_ends_at_its_full_stop() {
        let text = "//! Mailboxes: one `.jsonl` file per\n//! agent. A second sentence.\n//!\n//! More.\nuse x;\n";

        assert_eq!(first_sentence(text).unwrap(), "Mailboxes: one `.jsonl` file per agent.");
        assert_eq!(first_sentence("//! glob: which files?\n").unwrap(), "glob: which files?");
        assert_eq!(first_sentence("//! A title\n//!\n//! A sentence.\n"), None);
        assert_eq!(first_sentence("use x;\n"), None);
    }
}

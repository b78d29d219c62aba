//! Cuts of the compactor: a text without its middle.
//!
//! Invariant: a text without its middle says how much is missing.

use kit::{first_chars, grouped};

/// The text, cut in the middle when it has more characters than that: beginning and end tell the most.
pub fn without_middle(text: &str, most: usize) -> String {
    // A text of few bytes has few characters; most texts are not counted.
    if text.len() <= most || first_chars(text, most).len() == text.len() {
        return text.to_owned();
    }
    let count = text.chars().count();
    let head = first_chars(text, most / 2);
    let tail_chars = most - most / 2;
    let tail = &text[first_chars(text, count - tail_chars).len()..];
    let missing = grouped((count - most) as u64);
    format!("{head}\n[… {missing} characters left out …]\n{tail}")
}

/// Beginning and end of a text that has more characters than that.
pub fn ends(text: &str, most: usize) -> String {
    const GAP: &str = " … ";
    let count = text.chars().count();
    if count <= most + GAP.len() {
        return text.to_owned();
    }
    let tail = count - (most - most / 2);
    let tail = &text[first_chars(text, tail).len()..];
    format!("{}{GAP}{tail}", first_chars(text, most / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_splits_no_character_and_says_what_is_missing() {
        let text = "ä".repeat(1_000);
        let cut = without_middle(&text, 10);
        assert_eq!(cut, "äääää\n[… 990 characters left out …]\näääää");
        assert_eq!(without_middle(&text, 1_000), text);
        assert_eq!(ends(&text, 5), "ää … äää");
        assert_eq!(ends("nearly fits", 8), "nearly fits");
    }
}

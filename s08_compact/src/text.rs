//! Texts of the compactor: cuts that split no character.
//!
//! Invariant: a text without its middle says how much is missing.

use kit::{first_chars, grouped};

/// Beginning and end of a text with more characters than `most`, and how many are missing between them.
pub fn ends(text: &str, most: usize) -> Option<(&str, usize, &str)> {
    // A text of few bytes has few characters; most texts are not counted.
    if text.len() <= most {
        return None;
    }
    let missing = text.chars().count().saturating_sub(most);
    let begin = first_chars(text, most / 2);
    let end = &text[first_chars(text, most / 2 + missing).len()..];
    (missing > 0).then_some((begin, missing, end))
}

/// The text, cut in the middle when it has more characters than that: beginning and end tell the most.
pub fn without_middle(text: &str, most: usize) -> String {
    match ends(text, most) {
        Some((begin, missing, end)) => {
            let missing = grouped(missing as u64);
            format!("{begin}\n[… {missing} characters left out …]\n{end}")
        }
        None => text.to_owned(),
    }
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
        assert_eq!(first_chars("aäb", 2), "aä");
        assert_eq!(first_chars("a", 2), "a");
        assert_eq!(ends(&text, 5), Some(("ää", 995, "äää")));
    }
}

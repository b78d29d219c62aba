//! Texts of the compactor: numbers a reader can take in, cuts that split no character.
//!
//! Invariant: a text without its middle says how much is missing.

/// A number in groups of three: `48,210`.
pub fn grouped(number: impl TryInto<u64>) -> String {
    let digits = number.try_into().unwrap_or(u64::MAX).to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `1 result`, `12 results`.
pub fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(count as u64))
}

/// The first characters of a text.
pub fn first_chars(text: &str, most: usize) -> &str {
    let end = text.char_indices().nth(most).map(|(at, _)| at);
    &text[..end.unwrap_or(text.len())]
}

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
    fn numbers_are_grouped_by_three() {
        for (number, expected) in [(0, "0"), (999, "999"), (1_000, "1,000"), (48_210, "48,210")] {
            assert_eq!(grouped(number), expected);
        }
        assert_eq!(grouped(1_234_567_u64), "1,234,567");
        assert_eq!(counted(1, "result"), "1 result");
        assert_eq!(counted(1_200, "result"), "1,200 results");
    }

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

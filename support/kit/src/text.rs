//! Texts for a reader: numbers in groups, one line, and cuts that split no character.
//!
//! Invariant: a text that was cut is never longer than asked for, and shows the cut.

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

/// The text in at most this many characters; of a longer one the last is `…`.
pub fn cut(text: &str, most: usize) -> String {
    if first_chars(text, most).len() == text.len() {
        return text.to_owned();
    }
    let kept = first_chars(text, most.saturating_sub(1)).trim_end();
    format!("{kept}…")
}

/// The text in one line: white space and control characters between two words become a space.
pub fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let words = words.filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
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
    fn a_cut_splits_no_character_and_shows() {
        assert_eq!(first_chars("aäb", 2), "aä");
        assert_eq!(first_chars("a", 2), "a");
        assert_eq!(cut("äöü", 3), "äöü");
        assert_eq!(cut("äöüß", 3), "äö…");
        assert_eq!(cut("one two", 5), "one…");
    }

    #[test]
    fn a_text_becomes_one_line_without_control_characters() {
        assert_eq!(one_line(" a\n\n  b\r\nc\u{1b}[2J\t"), "a b c [2J");
    }
}

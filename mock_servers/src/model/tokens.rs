//! The token rule: what the mock charges for a text.
//!
//! Usage must be honest enough to reason about: a longer prompt costs more, and the same prefix costs the same twice.
//! Invariant: the count depends on the content alone, never on white space between JSON tokens or on `cache_control`.

use serde_json::Value;

/// Four bytes of UTF-8 are a token, and a begun one counts.
///
/// A text block counts its text; a tool call its name and its arguments as compact JSON; a tool result what is in it; an
/// image 1,600 and a document its text, or 3,000; any other block its compact JSON; a tool its name, its description and its
/// schema. Nothing else counts.
pub fn tokens(text: &str) -> u32 {
    u32::try_from(text.len().div_ceil(BYTES_PER_TOKEN)).unwrap_or(u32::MAX)
}

/// The tokens of a JSON value, written compactly.
pub fn json_tokens(value: &Value) -> u32 {
    tokens(&value.to_string())
}

/// How many bytes a token has.
pub const BYTES_PER_TOKEN: usize = 4;

/// The longest prefix of `text` that costs at most `budget` tokens.
pub fn first_tokens(text: &str, budget: u32) -> &str {
    let mut end = text.len().min(budget as usize * BYTES_PER_TOKEN);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_bytes_are_a_token_and_a_begun_one_counts() {
        for (text, expected) in [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("ééé", 2)] {
            assert_eq!(tokens(text), expected, "{text}");
        }
    }

    #[test]
    fn white_space_between_json_tokens_is_free() {
        let loose: Value = serde_json::from_str("{ \"a\" :  [ 1 ] }").expect("valid JSON");
        assert_eq!(json_tokens(&loose), tokens(r#"{"a":[1]}"#));
    }

    #[test]
    fn a_cut_never_splits_a_character() {
        assert_eq!(first_tokens("abcdefgh", 1), "abcd");
        assert_eq!(first_tokens("aaaé", 1), "aaa");
        assert_eq!(first_tokens("short", 9), "short");
    }
}

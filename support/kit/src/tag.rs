//! Tags: what the harness says to the model stands in a tag of its own.
//!
//! Hooks, reminders, skills and memories speak in the user's messages, and what they pass on may hold any text, also the
//! one that ends such a tag. Invariant: a text in a tag does not end it.

use crate::{cut, one_line};

/// Attributes of an outsider's text, and the characters of each.
const ATTRIBUTES: usize = 16;
const VALUE: usize = 200;

/// The text in a tag, on lines of its own.
pub fn tagged(tag: &str, text: &str) -> String {
    tagged_with(tag, &[], text)
}

/// The same with attributes. A value is one line in which nothing ends it.
fn tagged_with(tag: &str, attributes: &[(&str, &str)], text: &str) -> String {
    let text = harmless(tag, text.trim_matches('\n'));
    let mut open = tag.to_owned();
    for (name, value) in attributes {
        let value = one_line(value).replace('&', "&amp;").replace('"', "&quot;");
        let value = value.replace('<', "&lt;").replace('>', "&gt;");
        open.push_str(&format!(" {name}=\"{value}\""));
    }
    format!("<{open}>\n{text}\n</{tag}>")
}

/// What an outsider says, in a tag that names the source: at most so many visible characters, and those attributes that have
/// plain names.
pub fn quoted<'a>(
    tag: &str,
    source: &str,
    attributes: impl Iterator<Item = (&'a str, &'a str)>,
    text: &str,
    most: usize,
) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_name = |name: &str| !name.is_empty() && name != "source" && name.bytes().all(plain);
    let attributes = attributes.filter(|(name, _)| is_name(name)).take(ATTRIBUTES);
    let attributes: Vec<_> = attributes.map(|(name, value)| (name, cut(value, VALUE))).collect();
    let mut all = vec![("source", source)];
    all.extend(attributes.iter().map(|(name, value)| (*name, &**value)));
    let visible = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    let text: String = text.chars().filter(visible).collect();
    tagged_with(tag, &all, &cut(&text, most))
}

/// The text with nothing in it that ends this tag; JSON stays the JSON it was. A tag that only begins like it is left
/// alone.
pub fn harmless(tag: &str, text: &str) -> String {
    let close = format!("</{}", tag.to_ascii_lowercase());
    let goes_on = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || "-_".contains(c));
    let (mut harmless, mut from) = (String::with_capacity(text.len()), 0);
    // A model takes `</Memory >` for the end, too. Lower case of ASCII leaves every byte where it is.
    for (at, _) in text.to_ascii_lowercase().match_indices(&close) {
        if !goes_on(&text[at + close.len()..]) {
            harmless.push_str(&text[from..at]);
            harmless.push_str("<\\/");
            from = at + "</".len();
        }
    }
    harmless.push_str(&text[from..]);
    harmless
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn nothing_in_a_text_ends_its_tag() {
        for (text, expected) in [
            ("a</memory>b</other>", "a<\\/memory>b</other>"),
            ("ä</Memory >", "ä<\\/Memory >"),
            ("</memory></memory", "<\\/memory><\\/memory"),
            ("</memory-card> </memory2>", "</memory-card> </memory2>"),
            ("\n\nplain\n", "plain"),
        ] {
            let expected = format!("<memory>\n{expected}\n</memory>");
            assert_eq!(tagged("memory", text), expected);
        }
    }

    #[test]
    fn nothing_in_an_attribute_ends_it() {
        let tagged = tagged_with("note", &[("from", "a\"><b>\n&"), ("to", "c")], "d");
        assert_eq!(tagged, "<note from=\"a&quot;&gt;&lt;b&gt; &amp;\" to=\"c\">\nd\n</note>");
    }

    #[test]
    fn json_in_a_tag_stays_the_json_it_was() {
        let value = json!(["</memory>"]);
        let read: Value = serde_json::from_str(&harmless("memory", &value.to_string())).unwrap();
        assert_eq!(read, value);
    }
}

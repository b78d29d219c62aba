//! Front matter: the few lines of YAML at the head of a Markdown file.
//!
//! A file that people write by hand should say in itself what it is. YAML has quotes, comments, folded text and a dozen
//! ways to go wrong, so a YAML parser reads it, not a `split(':')`. Invariant: every file gives its fields or one sentence
//! that says where it is broken. Only text is kept: lists, maps and aliases are skipped, so no file grows while it is read.

use std::collections::BTreeMap;

use anyhow::{Context, Result, anyhow, bail, ensure};
use saphyr_parser::{Event, Parser, ScalarStyle};

const FENCE: &str = "---";

/// A Markdown file with its head taken off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrontMatter<'a> {
    /// The fields; `None` for a value that is not text.
    fields: BTreeMap<String, Option<String>>,
    /// The text below the head.
    pub body: &'a str,
}

impl<'a> FrontMatter<'a> {
    /// Reads the head between two lines `---`.
    ///
    /// # Errors
    /// When there is no head, or it is not a YAML map.
    pub fn read(text: &'a str) -> Result<Self> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut lines = text.split_inclusive('\n');
        let first = lines.next().unwrap_or_default();
        ensure!(first.trim_end() == FENCE, "it has no front matter; its first line must be `---`");
        let mut end = first.len();
        let fence = lines
            .find(|line| {
                end += line.len();
                line.trim_end() == FENCE
            })
            .context("its front matter does not end; close it with a line `---`")?;
        Ok(Self {
            fields: fields(&text[first.len()..end - fence.len()])?,
            body: text[end..].trim(),
        })
    }

    /// The text of a field as it is written, so that `1.10` stays what it is. A field that is blank, null, a list or a map
    /// has none.
    pub fn text(&self, field: &str) -> Option<String> {
        self.fields.get(field)?.clone()
    }
}

/// The parser's error in words that do not assume the YAML grammar.
fn plain(info: &str) -> &str {
    match info {
        "mapping values are not allowed in this context" => {
            "a value that holds `: ` must stand in quotes"
        }
        other => other,
    }
}

/// The fields of a YAML map.
fn fields(yaml: &str) -> Result<BTreeMap<String, Option<String>>> {
    let mut fields = BTreeMap::new();
    // How many maps and lists are open, and the key whose value comes next.
    let (mut depth, mut key) = (0, None);
    for event in Parser::new_from_str(yaml) {
        // The file has one line above the YAML.
        let (event, _) = event.map_err(|error| {
            anyhow!("line {}: {}", error.marker().line() + 1, plain(error.info()))
        })?;
        let text = match event {
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => continue,
            Event::MappingStart(..) if depth == 0 => {
                depth = 1;
                continue;
            }
            Event::MappingEnd if depth == 1 => break,
            _ if depth == 0 => bail!("its front matter must be lines of the form `name: value`"),
            Event::MappingStart(..) | Event::SequenceStart(..) => {
                depth += 1;
                continue;
            }
            Event::MappingEnd | Event::SequenceEnd => {
                depth -= 1;
                None
            }
            Event::Alias(_) => None,
            Event::Scalar(text, style, ..) => {
                let is_null = style == ScalarStyle::Plain && ["~", "null"].contains(&&*text);
                Some(text.into_owned()).filter(|text| !is_null && !text.trim().is_empty())
            }
        };
        if depth > 1 {
            continue;
        }
        match key.take() {
            None => key = Some(text),
            Some(None) => {}
            Some(Some(name)) => {
                ensure!(!fields.contains_key(&name), "`{name}` stands there twice");
                fields.insert(name, text);
            }
        }
    }
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_may_be_written_in_every_way_of_yaml() {
        let description = |value: &str| {
            let text = format!("---\r\nname: a\ndescription: {value}\n---\r\nbody\n");
            let read = FrontMatter::read(&text).unwrap();
            assert_eq!(read.body, "body");
            read.text("description")
        };
        for value in [
            "\"Reads a: file\"",
            "'Reads a: file'",
            ">-\n  Reads\n  a: file",
            "|-\n  Reads a: file",
        ] {
            assert_eq!(description(value).as_deref(), Some("Reads a: file"), "{value}");
        }
        for value in ["7", "1.10", "007", "true", "1e3", "0x1f"] {
            assert_eq!(description(value).as_deref(), Some(value));
        }
        assert_eq!(description("'null'").as_deref(), Some("null"));
        for value in ["", "~", "null", "''", "\"  \"", "[a, b]", "{a: b}"] {
            assert_eq!(description(value), None, "{value}");
        }
    }

    #[test]
    fn other_fields_may_hold_anything_and_nothing_of_it_is_kept() {
        let mut text = "\u{feff}---\nmeta:\n  name: inner\n  tags: [a, {b: 1}, 'no']\n? [x]\n: y\na: &a [x, x]\n".to_owned();
        for (this, before) in ('b'..='z').zip('a'..='y') {
            text += &format!("{this}: &{this} [*{before}, *{before}]\n");
        }
        text += "name: outer\n---\n";
        let read = FrontMatter::read(&text).unwrap();
        assert_eq!(read.text("name").as_deref(), Some("outer"));
        assert_eq!(read.fields.values().flatten().count(), 1);
    }

    #[test]
    fn a_broken_head_is_one_sentence_that_says_where() {
        let deep = format!("---\na: {}\n---\n", "[".repeat(10_000));
        for (text, why) in [
            (&*deep, "recursion limit exceeded"),
            ("# Title\n", "its first line must be `---`"),
            ("", "its first line must be `---`"),
            ("---\nname: a\n", "close it with a line `---`"),
            ("---\n- a\n---\n", "`name: value`"),
            ("---\njust text\n---\n", "`name: value`"),
            ("---\nname: a\nname: b\n---\n", "`name` stands there twice"),
            ("---\nname: a\ndescription: Use this: now\n---\n", "line 3: a value"),
        ] {
            let error = format!("{:#}", FrontMatter::read(text).unwrap_err());
            assert!(error.contains(why) && !error.contains('\n'), "{error}");
        }
    }
}

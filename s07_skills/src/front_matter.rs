//! Front matter: the few lines of YAML at the head of a Markdown file.
//!
//! A file that people write by hand should say in itself what it is. YAML has quotes, comments, folded text and a dozen
//! ways to go wrong, so a YAML parser reads it, not a `split(':')`. Invariant: every file gives its fields or one sentence
//! that says where it is broken; aliases are not expanded, so no file grows while it is read.

use anyhow::{Context, Result, anyhow, bail, ensure};
use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

const FENCE: &str = "---";

/// The most lists and maps inside each other.
const MAX_DEPTH: usize = 32;

/// A Markdown file with its head taken off.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontMatter<'a> {
    /// The fields of the head. An alias is null here.
    pub fields: Map<String, Value>,
    /// The text below the head.
    pub body: &'a str,
}

impl<'a> FrontMatter<'a> {
    /// Reads the head between two lines `---`.
    ///
    /// # Errors
    /// When there is no head, or it is no YAML map.
    pub fn read(text: &'a str) -> Result<Self> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut lines = text.split_inclusive('\n');
        let first = lines.next().unwrap_or_default();
        ensure!(
            first.trim_end() == FENCE,
            "it has no front matter; its first line must be `---`"
        );
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

    /// The text of a field; one that is blank, null, a list or a map has none.
    pub fn text(&self, field: &str) -> Option<String> {
        match self.fields.get(field)? {
            Value::String(text) if text.trim().is_empty() => None,
            Value::String(text) => Some(text.clone()),
            Value::Bool(_) | Value::Number(_) => Some(self.fields[field].to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }
}

/// A list or a map that is not yet complete; a map with the key whose value comes next.
enum Open {
    List(Vec<Value>),
    Map(Map<String, Value>, Option<String>),
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

/// The YAML map as JSON.
fn fields(yaml: &str) -> Result<Map<String, Value>> {
    let mut open: Vec<Open> = Vec::new();
    for event in Parser::new_from_str(yaml) {
        // The file has one line above the YAML.
        let (event, _) = event.map_err(|error| {
            anyhow!(
                "line {}: {}",
                error.marker().line() + 1,
                plain(error.info())
            )
        })?;
        ensure!(
            open.len() < MAX_DEPTH,
            "its front matter is nested too deeply"
        );
        let value = match event {
            Event::MappingStart(..) => {
                open.push(Open::Map(Map::new(), None));
                continue;
            }
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                continue;
            }
            Event::MappingEnd | Event::SequenceEnd => match open.pop() {
                Some(Open::Map(map, _)) if open.is_empty() => return Ok(map),
                Some(Open::Map(map, _)) => Value::Object(map),
                Some(Open::List(list)) => Value::Array(list),
                None => Value::Null,
            },
            Event::Scalar(text, style, ..) => scalar(&text, style),
            Event::Alias(_) => Value::Null,
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => continue,
        };
        match open.last_mut() {
            Some(Open::List(list)) => list.push(value),
            Some(Open::Map(map, key)) => put(map, key, value)?,
            None => bail!("its front matter must be lines of the form `name: value`"),
        }
    }
    Ok(Map::new())
}

/// Takes a key, or the value of the key before it.
fn put(map: &mut Map<String, Value>, key: &mut Option<String>, value: Value) -> Result<()> {
    match (key.take(), value) {
        (None, Value::String(name)) => *key = Some(name),
        (None, other) => *key = Some(other.to_string()),
        (Some(name), value) => {
            ensure!(!map.contains_key(&name), "`{name}` stands there twice");
            map.insert(name, value);
        }
    }
    Ok(())
}

/// A number, true, false or null where it is written as JSON writes it; everything else is text, so that `1.10` stays what
/// it is.
fn scalar(text: &str, style: ScalarStyle) -> Value {
    if style != ScalarStyle::Plain {
        return text.into();
    }
    if text == "~" {
        return Value::Null;
    }
    let read = serde_json::from_str::<Value>(text).ok();
    let as_written = |value: &Value| {
        let written = value.to_string();
        written == text
    };
    read.filter(as_written).unwrap_or_else(|| text.into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn description(value: &str) -> Option<String> {
        let text = format!("---\nname: a\ndescription: {value}\n---\nbody\n");
        let read = FrontMatter::read(&text).unwrap();
        assert_eq!(read.body, "body");
        read.text("description")
    }

    fn error(text: &str) -> String {
        format!("{:#}", FrontMatter::read(text).unwrap_err())
    }

    #[test]
    fn a_value_may_be_written_in_every_way_of_yaml() {
        for value in [
            "\"Reads a: file\"",
            "'Reads a: file'",
            ">-\n  Reads\n  a: file",
            "|-\n  Reads a: file",
        ] {
            assert_eq!(
                description(value).as_deref(),
                Some("Reads a: file"),
                "{value}"
            );
        }
        assert_eq!(description("of # 3").as_deref(), Some("of"));
        for value in ["7", "1.10", "007", "true", "1e3", "0x1f"] {
            assert_eq!(description(value).as_deref(), Some(value));
        }
    }

    #[test]
    fn no_value_is_no_field() {
        for value in ["", "~", "null", "''", "\"  \"", "[a, b]", "{a: b}"] {
            assert_eq!(description(value), None, "{value}");
        }
        assert_eq!(description("'null'").as_deref(), Some("null"));
    }

    #[test]
    fn other_fields_may_hold_anything() {
        let text =
            "---\nmeta:\n  name: inner\n  tags: [a, {b: 1}, 'no']\n? [x]\n: y\nname: outer\n---\n";
        let read = FrontMatter::read(text).unwrap();
        let expected = json!({
            "meta": {"name": "inner", "tags": ["a", {"b": 1}, "no"]}, "[\"x\"]": "y", "name": "outer",
        });
        assert_eq!(Value::Object(read.fields), expected);
    }

    #[test]
    fn windows_line_ends_and_a_byte_order_mark_do_not_matter() {
        let read = FrontMatter::read("\u{feff}---\r\nname: a\r\n---\r\n\r\nbody\r\n").unwrap();
        assert_eq!(
            (read.text("name").as_deref(), read.body),
            (Some("a"), "body")
        );
    }

    #[test]
    fn a_broken_head_is_one_sentence_that_says_where() {
        assert!(error("# Title\n").contains("its first line must be `---`"));
        assert!(error("").contains("its first line must be `---`"));
        assert!(error("---\nname: a\n").contains("close it with a line `---`"));
        assert!(error("---\n- a\n---\n").contains("`name: value`"));
        assert!(error("---\njust text\n---\n").contains("`name: value`"));
        assert!(error("---\nname: a\nname: b\n---\n").contains("`name` stands there twice"));
        let colon = error("---\nname: a\ndescription: Use this: now\n---\n");
        assert!(colon.starts_with("line 3: "), "{colon}");
        assert!(!colon.contains('\n'), "{colon}");
    }

    #[test]
    fn aliases_are_not_expanded() {
        let mut yaml = "---\na: &a [x, x]\n".to_owned();
        for (this, before) in ('b'..='z').zip('a'..='y') {
            yaml.push_str(&format!("{this}: &{this} [*{before}, *{before}]\n"));
        }
        let read = format!("{yaml}name: small\n---\n");
        let read = FrontMatter::read(&read).unwrap();
        assert_eq!(read.text("name").as_deref(), Some("small"));
        assert!(Value::Object(read.fields).to_string().len() < 1_000);
    }

    #[test]
    fn deep_nesting_is_refused() {
        let deep = format!("---\na:\n  {}b\n---\n", "- ".repeat(10_000));
        assert!(error(&deep).contains("nested too deeply"));
    }
}

//! Whether what a tool says of itself may be shown to a model.
//!
//! A description is read by the model, so it can carry instructions: *tool poisoning*, *shadowing* of another tool, *rug pulls*
//! (Invariant Labs, *MCP Security Notification: Tool Poisoning Attacks*, 2025). A description that informs speaks of the tool in
//! the third person; one that attacks speaks to the model, of the user behind the user's back, or of other tools. Each such
//! sign has a weight, and two points together make a tool suspicious. What a tool only cites as an example counts nothing.
//! Invariant: a tool changed since it was trusted, or suspicious and not trusted, is neither found nor called.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};
use serde::Serialize;
use serde_json::Value;

/// Points that make a description suspicious.
const SUSPICIOUS: u32 = 2;

/// What a description gave away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sign {
    /// What the sign means.
    pub category: &'static str,
    /// The words that gave it away.
    pub words: String,
}

/// The category in which a tool may name its siblings.
const OTHER_TOOL: &str = "speaks of another tool";

/// Examples that a description cites are what the tool works on, not what the model is told.
const CITED: &str = r#"\b(such as|like|e\.g\.,?|for example,?|including) ['"‘“`][^'"’”`]{0,120}['"’”`]|\bsuch as [~/.\w]+( (and|or) [~/.\w]+)*"#;

/// A sign of the table.
struct Known {
    category: &'static str,
    points: u32,
    regex: Regex,
}

fn table() -> Vec<Known> {
    let lines = include_str!("../data/signs.txt").lines();
    let mut category = "";
    let mut table = Vec::new();
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.split_once(' ').map(|(points, pattern)| (points.parse(), pattern)) {
            Some((Ok(points), pattern)) => table.push(Known {
                category,
                points,
                regex: regex(pattern),
            }),
            _ => category = line,
        }
    }
    table
}

fn regex(pattern: &str) -> Regex {
    let mut builder = RegexBuilder::new(pattern);
    builder.case_insensitive(true).multi_line(true);
    builder.build().expect("the table's expressions are compiled by a test")
}

/// What is suspicious in a text that a server wrote; empty when it may be shown. A tool may speak of its `siblings`, the other
/// tools of its server.
pub fn signs(text: &str, siblings: &BTreeSet<&str>) -> Vec<Sign> {
    static TABLE: LazyLock<(Regex, Vec<Known>)> = LazyLock::new(|| (regex(CITED), table()));
    let (cited, table) = &*TABLE;
    let mut points = 0;
    let mut signs = Vec::new();
    if let Some(hidden) = text.chars().find(|c| is_hidden(*c)) {
        points += SUSPICIOUS;
        signs.push(Sign {
            category: "hidden Unicode",
            words: format!("U+{:04X}", u32::from(hidden)),
        });
    }
    if let Some(encoded) = encoded(text) {
        points += SUSPICIOUS;
        signs.push(Sign {
            category: "an encoded payload",
            words: encoded.chars().take(24).collect(),
        });
    }
    let own = cited.replace_all(text, "such as …");
    for known in table {
        let category = known.category;
        let mut found = known.regex.find_iter(&own).map(|found| found.as_str().trim());
        let names_sibling = |words: &str| siblings.iter().any(|name| words.contains(name));
        if let Some(words) = found.find(|words| category != OTHER_TOOL || !names_sibling(words)) {
            points += known.points;
            signs.push(Sign {
                category,
                words: words.to_owned(),
            });
        }
    }
    if points < SUSPICIOUS { Vec::new() } else { signs }
}

/// What a model may read of a tool beside its name.
pub const READ: [&str; 5] = ["title", "description", "inputSchema", "outputSchema", "annotations"];

/// All texts that a model may read of a tool: each is a sentence, and so are names and values of its schema.
pub fn text(whole: &Value) -> String {
    fn add(value: &Value, text: &mut String) {
        match value {
            Value::String(one) => *text += &format!("{one}. "),
            Value::Array(items) => items.iter().for_each(|item| add(item, text)),
            Value::Object(members) => members.iter().for_each(|(key, member)| {
                *text += &format!("{key}. ");
                add(member, text);
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let mut text = String::new();
    READ.iter().for_each(|key| add(&whole[*key], &mut text));
    text
}

/// What a server says of a tool, its descriptions and titles without the characters that a person does not see.
pub fn cleaned(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(cleaned).collect(),
        Value::Object(members) => {
            let clean = |(key, member): (&String, &Value)| match member {
                Value::String(text) if matches!(&**key, "description" | "title") => {
                    let text: String = text.chars().filter(|c| !is_hidden(*c)).collect();
                    (key.clone(), text.into())
                }
                member => (key.clone(), cleaned(member)),
            };
            members.iter().map(clean).collect()
        }
        other => other.clone(),
    }
}

/// Words of a text that are names of a program: of two parts at least, `send_mail` or `sendMail`.
pub fn names(text: &str) -> impl Iterator<Item = &str> {
    static NAME: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"[A-Za-z0-9]+([_-][A-Za-z0-9]+)+|[a-z]+([A-Z][a-z0-9]+)+").expect("it is one")
    });
    NAME.find_iter(text).map(|found| found.as_str())
}

/// Characters that a person does not see and a model reads: zero width, direction, tags, and controls but white space.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{00ad}'
        | '\u{e0000}'..='\u{e007f}' | '\u{fff9}'..='\u{fffb}' | '\u{180e}')
        || c.is_control() && !c.is_whitespace()
}

/// A long run of base64 or hexadecimal digits, as no sentence has one.
fn encoded(text: &str) -> Option<&str> {
    let is_digit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
    let mut runs = text.split(|c| !is_digit(c));
    runs.find(|run| {
        let has = |is: fn(&char) -> bool| run.chars().any(|c| is(&c));
        let base64 = has(char::is_ascii_uppercase)
            && has(char::is_ascii_lowercase)
            && has(char::is_ascii_digit);
        let hex = run.chars().all(|c| c.is_ascii_hexdigit());
        run.len() >= 40 && (base64 || hex) && run.matches('/').count() < 4
    })
}

//! An entry: one memory as files, questions and answers hold it.
//!
//! A model wrote it, so every field is checked. Invariant: an entry has a content, and its name and its description are one
//! bounded line each.

use kit::{cut, one_line};
use serde::{Deserialize, Serialize};
use serde_json::Value;

const NAME_CHARS: usize = 80;
const DESCRIPTION_CHARS: usize = 300;

/// One memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// What it is called. Two memories of one name are one memory.
    pub name: String,
    /// What it is about, in one line: the index shows it.
    pub description: String,
    /// What kind of knowledge it is.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// What is remembered.
    pub content: String,
}

/// What kind of knowledge a memory holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Who the user is and what they prefer.
    User,
    /// What they said about the work: do this again, never do that.
    Feedback,
    /// What is the case in this project.
    #[default]
    Project,
    /// Where something is found.
    Reference,
}

impl Kind {
    /// The kind of this name.
    pub fn called(name: &str) -> Option<Self> {
        serde_json::from_value(name.trim().to_lowercase().into()).ok()
    }
}

impl Entry {
    /// The memory that a model has written as JSON; `None` without a name or a content. An unknown type becomes
    /// [`Kind::Project`].
    pub fn read(value: &Value) -> Option<Self> {
        let text = |field: &str| value[field].as_str().unwrap_or_default().trim();
        let (name, content) = (cut(&one_line(text("name")), NAME_CHARS), text("content"));
        let is_memory = !name.is_empty() && !content.is_empty();
        is_memory.then(|| Self {
            name,
            description: description(text("description"), content),
            kind: Kind::called(text("type")).unwrap_or_default(),
            content: content.to_owned(),
        })
    }
}

/// A description as one line; without one, the beginning of the content stands for it.
pub fn description(written: &str, content: &str) -> String {
    let line = Some(one_line(written)).filter(|line| !line.is_empty());
    cut(&line.unwrap_or_else(|| one_line(content)), DESCRIPTION_CHARS)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_model_wrote_becomes_bounded_lines_or_nothing() {
        let long = "x".repeat(10_000);
        let written = json!({"name": "two\nlines\u{7}", "type": "preference", "description": long, "content": " a\nb\n"});
        let expected = Entry {
            name: "two lines".into(),
            description: "x".repeat(DESCRIPTION_CHARS - 1) + "…",
            kind: Kind::Project,
            content: "a\nb".into(),
        };
        assert_eq!(Entry::read(&written), Some(expected));
        let short = Entry::read(&json!({"name": "a", "description": 7, "content": "b\nc"}));
        assert_eq!(short.unwrap().description, "b c");
        for nothing in [json!([]), json!("text"), json!({"name": "x"}), json!({"content": "x"})] {
            assert_eq!(Entry::read(&nothing), None);
        }
    }
}

//! An entry: one memory as files, questions and answers hold it.
//!
//! A model wrote it, so nothing about it is sure. Invariant: an entry that was tidied has a content, and a name and a
//! description of one bounded line each.

use kit::{cut, one_line};
use serde::{Deserialize, Serialize};
use serde_json::Value;

const NAME_CHARS: usize = 80;
const DESCRIPTION_CHARS: usize = 300;
/// How many words of a description make a name for a memory that has none.
const WORDS_OF_NAME: usize = 5;

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
    /// The memory that a model has written as JSON. What it forgot is taken from the rest; a kind that there is not counts as
    /// [`Kind::Project`]. `None` when nothing is to be remembered.
    pub fn read(value: &Value) -> Option<Self> {
        let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default();
        let or = |text: String, other: &dyn Fn() -> String| {
            if text.is_empty() { other() } else { text }
        };
        let description = one_line(text("description"));
        let content = or(text("content").trim().to_owned(), &|| description.clone());
        if content.is_empty() {
            return None;
        }
        let description = or(description, &|| one_line(&content));
        let words = || description.split(' ').take(WORDS_OF_NAME);
        let name = or(one_line(text("name")), &|| {
            words().collect::<Vec<_>>().join(" ")
        });
        Some(Self {
            name: cut(&name, NAME_CHARS),
            description: cut(&description, DESCRIPTION_CHARS),
            kind: Kind::called(text("type")).unwrap_or_default(),
            content,
        })
    }
}

/// What stands for the description of a memory that has none.
pub fn description_of(content: &str) -> String {
    cut(&one_line(content), DESCRIPTION_CHARS)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_model_forgot_is_taken_from_what_is_there() {
        let long = "x".repeat(10_000);
        let cut = "x".repeat(DESCRIPTION_CHARS - 1) + "…";
        for (written, name, description, content) in [
            (
                json!({"name": null, "type": "preference", "content": "Deploys happen on\nMondays at nine.\n"}),
                "Deploys happen on Mondays at",
                "Deploys happen on Mondays at nine.",
                "Deploys happen on\nMondays at nine.",
            ),
            (
                json!({"name": "a", "description": "b", "content": " "}),
                "a",
                "b",
                "b",
            ),
            (
                json!({"name": "two\nlines\u{7}", "description": long, "content": long}),
                "two lines",
                &cut,
                &long,
            ),
        ] {
            let expected = Entry {
                name: name.into(),
                description: description.into(),
                kind: Kind::Project,
                content: content.into(),
            };
            assert_eq!(Entry::read(&written), Some(expected));
        }
        for nothing in [json!([]), json!("text"), json!({"name": "x"})] {
            assert_eq!(Entry::read(&nothing), None);
        }
    }
}

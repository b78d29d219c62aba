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
        let entry = Self {
            name: text("name").to_owned(),
            description: text("description").to_owned(),
            kind: Kind::called(text("type")).unwrap_or_default(),
            content: text("content").to_owned(),
        };
        entry.tidied()
    }

    /// The entry as it is kept: what is missing is taken from what is there. `None` when nothing is.
    fn tidied(self) -> Option<Self> {
        let (name, description) = (one_line(&self.name), one_line(&self.description));
        let content = self.content.trim();
        let content = if content.is_empty() {
            description.as_str()
        } else {
            content
        };
        if content.is_empty() {
            return None;
        }
        let description = if description.is_empty() {
            description_of(content)
        } else {
            description.clone()
        };
        let name = if name.is_empty() {
            let words: Vec<&str> = description.split(' ').take(WORDS_OF_NAME).collect();
            words.join(" ")
        } else {
            name
        };
        Some(Self {
            name: cut(&name, NAME_CHARS),
            content: content.to_owned(),
            description: cut(&description, DESCRIPTION_CHARS),
            kind: self.kind,
        })
    }
}

/// What stands for the description of a memory that has none.
pub fn description_of(content: &str) -> String {
    cut(&one_line(content), DESCRIPTION_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, description: &str, content: &str) -> Entry {
        Entry {
            name: name.into(),
            description: description.into(),
            kind: Kind::User,
            content: content.into(),
        }
    }

    #[test]
    fn what_is_missing_is_taken_from_what_is_there() {
        let tidied = entry("", "", "Deploys happen on\nMondays at nine.\n").tidied();
        let expected = entry(
            "Deploys happen on Mondays at",
            "Deploys happen on Mondays at nine.",
            "Deploys happen on\nMondays at nine.",
        );
        assert_eq!(tidied, Some(expected));
        assert_eq!(entry("a", "b", " ").tidied(), Some(entry("a", "b", "b")));
        assert_eq!(entry("a", "", "").tidied(), None);
    }

    #[test]
    fn what_a_model_wrote_is_read_as_far_as_it_makes_sense() {
        let written =
            serde_json::json!({"name": null, "type": "preference", "content": "Indent with tabs."});
        let read = Entry::read(&written).unwrap();
        assert_eq!(
            (read.name.as_str(), read.kind),
            ("Indent with tabs.", Kind::Project)
        );
        for nothing in ["[]", "\"text\"", "{\"name\": \"x\"}"] {
            assert_eq!(Entry::read(&serde_json::from_str(nothing).unwrap()), None);
        }
    }

    #[test]
    fn names_and_descriptions_are_one_line_and_bounded() {
        let long = "x".repeat(10_000);
        let tidied = entry("two\nlines\u{7}", &long, &long).tidied().unwrap();
        assert_eq!(tidied.name, "two lines");
        assert_eq!(tidied.description.chars().count(), DESCRIPTION_CHARS);
        assert_eq!(tidied.content, long, "a memory is not cut in silence");
    }
}

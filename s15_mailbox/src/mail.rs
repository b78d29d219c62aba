//! A message from one agent to another.
//!
//! Later chapters send requests and answers in the same envelope. Invariant: a field nobody here knows is kept.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The name of the agent the user talks to.
pub const LEAD: &str = "lead";

/// One message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mail {
    /// Its id, given when it is sent.
    pub id: String,
    /// Who sent it.
    pub from: String,
    /// Whose mailbox it goes to.
    pub to: String,
    /// What kind it is: `message`, `result`, `error`, `returned`, or a later chapter's own.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it says.
    pub content: String,
    /// When it was sent, in milliseconds since 1970.
    #[serde(default)]
    pub ts: u64,
    /// Values of its kind, such as the id of a request.
    #[serde(default)]
    pub metadata: Map<String, Value>,
    /// Fields of other versions.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Mail {
    /// A message of this kind.
    pub fn new(from: &str, to: &str, kind: &str, content: impl Into<String>) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            id: String::new(),
            from: from.to_owned(),
            to: to.to_owned(),
            kind: kind.to_owned(),
            content: content.into(),
            ts: now.as_millis() as u64,
            metadata: Map::new(),
            extra: Map::new(),
        }
    }

    /// The same message with one more value in its metadata.
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.to_owned(), value.into());
        self
    }

    /// A text of the metadata.
    pub fn text_of(&self, key: &str) -> Option<&str> {
        self.metadata.get(key)?.as_str()
    }

    /// The message as its reader's model sees it: whole, and in a tag that its content cannot close.
    pub fn shown(&self) -> String {
        let content = kit::harmless("mail", self.content.trim());
        format!("<mail from=\"{}\" type=\"{}\">\n{}\n</mail>", self.from, self.kind, content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_fields_are_kept() {
        let line = r#"{"id":"1","from":"a","to":"b","type":"message","content":"hi","ts":1,"metadata":{"k":1},"priority":2}"#;
        let mail: Mail = serde_json::from_str(line).unwrap();
        assert_eq!(serde_json::to_string(&mail).unwrap(), line);
    }
}

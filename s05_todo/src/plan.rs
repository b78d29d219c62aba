//! A plan: what is to be done, what is being done, what is done.
//!
//! The model sends a list, and a list may be wrong. Invariant: every item of a plan says what is to be done, and at most
//! one of them is in progress.

use std::fmt;

use anyhow::{Result, bail};
use schemars::JsonSchema;
use serde::Deserialize;

/// How far an item is. The model reads these names in the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Pending,
    InProgress,
    Completed,
}

/// One item of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Item {
    /// What is to be done, in a few words.
    pub content: String,
    /// How far it is. At most one item is in_progress: what you are doing now.
    pub status: Status,
}

/// The items, in the order in which they are to be done.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Plan(Vec<Item>);

impl Plan {
    /// A plan of these items.
    ///
    /// # Errors
    /// Names the items that are wrong: those without a text, and two in progress.
    pub fn new(mut items: Vec<Item>) -> Result<Self> {
        let mut now = None;
        for (index, item) in items.iter_mut().enumerate() {
            // A line of a checklist is one line.
            item.content = item.content.split_whitespace().collect::<Vec<_>>().join(" ");
            if item.content.is_empty() {
                bail!("todos[{index}]: the content is empty; say what is to be done");
            }
            if item.status == Status::InProgress
                && let Some(first) = now.replace(index)
            {
                bail!("todos[{first}] and todos[{index}] are both in_progress; do one at a time");
            }
        }
        Ok(Self(items))
    }

    /// The items, in order.
    pub fn items(&self) -> &[Item] {
        &self.0
    }

    /// Whether something is left to do.
    pub fn is_open(&self) -> bool {
        self.completed() < self.0.len()
    }

    /// How far it is, in one line.
    pub fn progress(&self) -> String {
        let total = self.0.len();
        let now = self.0.iter().find(|item| item.status == Status::InProgress);
        match (self.completed(), now) {
            _ if total == 0 => "the plan is empty".to_owned(),
            (done, Some(now)) => format!("{done} of {total} completed; now: {}", now.content),
            (done, None) if done == total => format!("{done} of {total} completed"),
            (done, None) => format!("{done} of {total} completed; none in progress"),
        }
    }

    fn completed(&self) -> usize {
        let completed = |item: &&Item| item.status == Status::Completed;
        self.0.iter().filter(completed).count()
    }
}

/// A checklist.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|item| writeln!(f, "{item}"))
    }
}

/// A line of a checklist.
impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = match self.status {
            Status::Pending => "[ ]",
            Status::InProgress => "[>]",
            Status::Completed => "[x]",
        };
        write!(f, "{mark} {}", self.content)
    }
}

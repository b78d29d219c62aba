//! A task as it is stored on disk.
//!
//! Later chapters, and later versions of this program, give a task fields of their own. Invariant: a field nobody here
//! knows is kept when the task is written again.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The version of the file format that this program writes.
pub(crate) const VERSION: u32 = 1;

/// The progress of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Nobody works on it.
    #[default]
    Pending,
    /// Its owner works on it.
    InProgress,
    /// It is done.
    Completed,
}

/// One task of the board.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// The version of the format it was written in.
    pub version: u32,
    /// Its id: a number in the order of creation, and a part nobody can guess.
    pub id: String,
    /// What is to be done, in a few words.
    pub subject: String,
    /// What is to be done, in full.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Its progress.
    #[serde(default)]
    pub status: Status,
    /// Who has claimed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// The session of the owner, so that a task whose owner is gone is not stuck.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The ids of the tasks that must be completed first.
    #[serde(default)]
    pub blocked_by: Vec<String>,
    /// Fields of other chapters and versions.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

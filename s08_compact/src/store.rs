//! What was taken out of a conversation, as files in the state folder.
//!
//! A result that was moved and messages that were left out or summarized can still be read: by the model, by you. Invariants: a
//! name is never used twice, not by two processes either; a file appears whole or not at all; only its owner reads it.

use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use kit::make_state_folder;
use s01_loop::Message;
use s02_tools::Workspace;

/// The folders `outputs`, of moved results, and `transcripts`, of what was left out or summarized.
#[derive(Clone)]
pub struct Store(Workspace);

impl Store {
    /// The folders of this workspace. They are made when something is kept.
    pub fn new(ws: &Workspace) -> Self {
        Self(ws.clone())
    }

    /// Keeps a result; returns the path as the model may use it.
    pub fn keep_output(&self, tool: &str, text: &str) -> Result<String> {
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || "_-".contains(*c);
        let name: String = tool.chars().filter(is_plain).take(40).collect();
        self.keep("outputs", &format!("{name}.txt"), text)
    }

    /// Keeps messages, one a line; returns the path as the model may use it.
    pub fn keep_transcript<'a>(
        &self,
        messages: impl IntoIterator<Item = &'a Message>,
    ) -> Result<String> {
        let lines = messages.into_iter().map(|message| [message.wire(), "\n"]);
        let lines: String = lines.flatten().collect();
        self.keep("transcripts", "conversation.jsonl", &lines)
    }

    /// Writes to a temporary file, which only its owner may read, and renames it to an unused name. The time in the name
    /// keeps a listing in order.
    fn keep(&self, folder: &str, name: &str, text: &str) -> Result<String> {
        let folder = self.0.state(folder);
        let keeping = || format!("keeping {name} in {}", folder.display());
        make_state_folder(&folder).with_context(keeping)?;
        let mut builder = tempfile::Builder::new();
        let file = builder.prefix(".write-").tempfile_in(&folder);
        let mut file = file.with_context(keeping)?;
        file.write_all(text.as_bytes()).with_context(keeping)?;
        let time = SystemTime::now().duration_since(UNIX_EPOCH);
        let path = folder.join(format!("{}-{name}", time.unwrap_or_default().as_nanos()));
        file.persist_noclobber(&path).with_context(keeping)?;
        Ok(self.0.shown(&path))
    }
}

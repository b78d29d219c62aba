//! What was taken out of a conversation, as files in the state folder.
//!
//! A result that was moved and messages that were left out or summarized can still be read: by the model, by you. Invariants: a
//! name is never used twice, not by two processes either; a file appears whole or not at all; only its owner reads it.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use kit::make_state_folder;
use s01_loop::Message;
use s02_tools::Workspace;

/// The folder of moved results.
const OUTPUTS: &str = "outputs";

/// The folder of what was left out or summarized.
const TRANSCRIPTS: &str = "transcripts";

/// The two folders.
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
        self.keep(OUTPUTS, &name, "txt", text)
    }

    /// Keeps messages, one a line; returns the path as the model may use it.
    pub fn keep_transcript<'a>(
        &self,
        messages: impl IntoIterator<Item = &'a Message>,
    ) -> Result<String> {
        let mut lines = String::new();
        for message in messages {
            lines.push_str(message.wire());
            lines.push('\n');
        }
        self.keep(TRANSCRIPTS, "conversation", "jsonl", &lines)
    }

    fn keep(&self, folder: &str, name: &str, extension: &str, text: &str) -> Result<String> {
        let folder = self.0.state(folder);
        let attempt = || format!("keeping {name} in {}", folder.display());
        let path = write_new(&folder, name, extension, text).with_context(attempt)?;
        Ok(self.0.shown(&path))
    }
}

/// Writes a file under a new name: whole, beside it, and then moved to a name that nobody has. The time in it keeps a
/// listing in order. A temporary file may be read by its owner alone, and so may what becomes of it.
fn write_new(folder: &Path, name: &str, extension: &str, text: &str) -> Result<PathBuf> {
    make_state_folder(folder)?;
    let mut file = tempfile::Builder::new()
        .prefix(".write-")
        .tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let millis = since.unwrap_or_default().as_millis();
    let mut copy = 1;
    loop {
        let path = folder.join(format!("{millis}-{copy}-{name}.{extension}"));
        match file.persist_noclobber(&path) {
            Ok(_) => return Ok(path),
            Err(taken) if taken.error.kind() == ErrorKind::AlreadyExists => {
                (file, copy) = (taken.file, copy + 1);
            }
            Err(other) => return Err(other.error.into()),
        }
    }
}

//! What was typed in earlier sessions, for the arrow keys.
//!
//! Invariants: the file appears with the first line and not before, readable by its owner only, in the program's folder;
//! two sessions add to it side by side; a file that cannot be read is set aside, not overwritten.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;

use anyhow::{Context, Result};
use rustyline::error::ReadlineError;

use crate::Program;
use crate::editor::LineEditor;

/// Reads the history, if there is one.
pub fn load(program: &Program, editor: &mut LineEditor) {
    let file = program.folder.join("history");
    if let Err(ReadlineError::Io(error)) = editor.load_history(&file)
        && error.kind() == io::ErrorKind::InvalidData
    {
        // If it cannot be moved, adding to it will fail and say so.
        let _ = fs::rename(&file, program.folder.join("history.damaged"));
    }
}

/// Writes down what was added.
///
/// # Errors
/// When it cannot be kept beyond this session.
pub fn keep(program: &Program, editor: &mut LineEditor) -> Result<()> {
    let folder = &program.folder;
    (program.make_folder)(folder).with_context(|| format!("creating {}", folder.display()))?;
    let file = folder.join("history");
    // Made here: rustyline would empty a file that another session has made meanwhile.
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(&file)
        .with_context(|| format!("creating {}", file.display()))?;
    editor
        .append_history(&file)
        .with_context(|| format!("writing {}", file.display()))
}

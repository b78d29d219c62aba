//! What was typed in earlier sessions, for the arrow keys.
//!
//! Invariants: the file appears with the first line and not before, readable by its owner only, in a folder that git
//! ignores; two sessions add to it side by side; a file that cannot be read is set aside, not overwritten; and whatever
//! goes wrong is said once and stops nobody.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rustyline::error::ReadlineError;

use crate::Program;
use crate::editor::LineEditor;

/// The history of one working directory.
pub struct History {
    folder: PathBuf,
    make_folder: fn(&Path) -> io::Result<()>,
    file: PathBuf,
    /// Whether the file is there and can be added to.
    ready: bool,
    given_up: bool,
}

impl History {
    /// Reads the history in this folder, if there is one.
    pub fn open(program: &Program, editor: &mut LineEditor) -> Self {
        let folder = &program.folder;
        let file = folder.join("history");
        let loaded = editor.load_history(&file);
        if let Err(ReadlineError::Io(error)) = &loaded
            && error.kind() == io::ErrorKind::InvalidData
        {
            // If it cannot be moved, adding to it will fail and say so.
            let _ = fs::rename(&file, folder.join("history.damaged"));
        }
        Self {
            folder: folder.clone(),
            make_folder: program.make_folder,
            file,
            ready: false,
            given_up: false,
        }
    }

    /// Adds a line.
    ///
    /// # Errors
    /// When it cannot be kept beyond this session; the first time only.
    pub fn add(&mut self, editor: &mut LineEditor, line: &str) -> Result<()> {
        let is_new = editor.add_history_entry(line)?;
        if line.trim().is_empty() || !is_new || self.given_up {
            return Ok(());
        }
        let kept = self.keep(editor);
        self.given_up = kept.is_err();
        kept
    }

    fn keep(&mut self, editor: &mut LineEditor) -> Result<()> {
        if !self.ready {
            (self.make_folder)(&self.folder)
                .with_context(|| format!("creating {}", self.folder.display()))?;
            create(&self.file)?;
            self.ready = true;
        }
        editor
            .append_history(&self.file)
            .with_context(|| format!("writing {}", self.file.display()))
    }
}

/// Creates the file, for its owner only, unless it is there.
fn create(path: &Path) -> Result<()> {
    let created = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    match created {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(error).with_context(|| format!("creating {}", path.display()))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

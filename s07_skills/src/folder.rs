//! A folder of skills: one subfolder each, with a SKILL.md in it.
//!
//! Whether something has changed must be cheap to find out, for it is asked before every request. Invariant: what cannot
//! be read is one sentence, and never keeps the others from being read.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use s02_tools::MAX_READ;

use crate::skill::Skill;
use crate::skills::SKILL_FILE;

/// What the system says of one SKILL.md. A file that is written anew, in place or moved into its place, has another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    path: PathBuf,
    inode: u64,
    bytes: u64,
    changed: (i64, i64),
}

/// What a folder holds, without reading a file: sorted by path, so that two looks can be compared.
///
/// # Errors
/// When the folder is there and cannot be read.
pub(crate) fn stamps(folder: &Path) -> Result<Vec<Stamp>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let paths = entries.flatten().map(|entry| entry.path().join(SKILL_FILE));
    let mut stamps: Vec<Stamp> = paths.filter_map(stamp).collect();
    stamps.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(stamps)
}

/// A folder without a SKILL.md is no skill; one whose SKILL.md cannot be looked at is a broken one.
fn stamp(path: PathBuf) -> Option<Stamp> {
    let (inode, bytes, changed) = match fs::metadata(&path) {
        Ok(file) => (file.ino(), file.len(), (file.ctime(), file.ctime_nsec())),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            // A link to nowhere is there, and broken.
            fs::symlink_metadata(&path).ok()?;
            (0, 0, (0, 0))
        }
        Err(_) => (0, 0, (0, 0)),
    };
    Some(Stamp {
        path,
        inode,
        bytes,
        changed,
    })
}

impl Stamp {
    /// The SKILL.md.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the skill.
    ///
    /// # Errors
    /// Says in one sentence what is wrong with the file.
    pub(crate) fn read(&self) -> Result<Skill> {
        let found = fs::metadata(&self.path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => anyhow::anyhow!("it is a link to nowhere"),
            _ => error.into(),
        })?;
        // Reading a named pipe would block.
        ensure!(found.is_file(), "it is not a regular file");
        ensure!(
            found.len() <= MAX_READ as u64,
            "it has more than {MAX_READ} bytes; put the details into files beside it"
        );
        let text = String::from_utf8(fs::read(&self.path)?)
            .ok()
            .context("it is not UTF-8 text")?;
        Skill::read(&text, self.path.parent())
    }
}

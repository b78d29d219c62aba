//! The lock on a session: which process may write its file.
//!
//! Two processes in one folder must not write one conversation in turn. The operating system drops the lock with its
//! process, so a crash leaves none behind. Invariant: whoever holds a session has locked the file that has its name now,
//! and no deleted one.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Held while a process has a session open. Its file goes with it.
#[derive(Debug)]
pub(crate) struct Hold {
    path: PathBuf,
    _file: File,
}

impl Hold {
    /// Takes the hold, unless another process has it.
    ///
    /// # Errors
    /// When the folder cannot be written to.
    pub(crate) fn take(path: PathBuf) -> Result<Option<Self>> {
        let locking = || format!("locking {}", path.display());
        loop {
            let mut options = OpenOptions::new();
            let file = options.create(true).append(true).open(&path);
            let file = file.with_context(locking)?;
            match file.try_lock() {
                Ok(()) if is_at(&file, &path) => return Ok(Some(Self { path, _file: file })),
                // Its holder has left, and has taken it away, since we opened it.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error).with_context(locking),
            }
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // While it is locked still, so that nobody's file is taken away but ours.
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether the open file is the one of this name.
fn is_at(file: &File, path: &Path) -> bool {
    let inode = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let named = fs::metadata(path).map(inode);
    file.metadata().map(inode).is_ok_and(|open| named.is_ok_and(|named| named == open))
}

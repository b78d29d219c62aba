//! The lock of a folder that several agents write to: one of them at a time.
//!
//! Reading, deciding and writing must be one step: two agents may change one folder at the same moment. The lock is the
//! operating system's (`flock`), so a killed process releases it. Invariant: a folder has one holder at a time, among all
//! threads and processes; readers take no lock, because files are replaced whole.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::make_state_folder;

/// The name of the lock file in the folder. It stays there, empty: removing it would let a second holder in.
const LOCK_FILE: &str = ".lock";
/// How long [`FolderLock::take`] waits, and how often it tries. Writing takes milliseconds, so a longer holder hangs.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(5);

/// The right to write to a folder of the state, released on drop. Await nothing slow while you hold it.
#[derive(Debug)]
pub struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Takes the lock of this folder if it is free; creates a missing folder.
    ///
    /// # Errors
    /// When the folder cannot be written to.
    pub fn if_free(folder: &Path) -> Result<Option<Self>> {
        let file = open(folder)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error).with_context(|| locking(folder)),
        }
    }

    /// Takes the lock of this folder, waiting at most a few seconds; creates a missing folder. The wait does not block the
    /// thread and ends when the future is dropped.
    ///
    /// # Errors
    /// When somebody else keeps it, or the folder cannot be written to.
    pub async fn take(folder: &Path) -> Result<Self> {
        let mut waited = Duration::ZERO;
        while waited < PATIENCE {
            if let Some(lock) = Self::if_free(folder)? {
                return Ok(lock);
            }
            tokio::time::sleep(PAUSE).await;
            waited += PAUSE;
        }
        bail!("another agent keeps {} locked; end it if it hangs", folder.join(LOCK_FILE).display())
    }

    /// Takes the lock of this folder, however long that takes; creates a missing folder. It blocks the thread, so call it
    /// from blocking tools, for folders that are locked only while a file is written.
    ///
    /// # Errors
    /// When the folder cannot be written to.
    pub fn wait(folder: &Path) -> Result<Self> {
        let file = open(folder)?;
        file.lock().with_context(|| locking(folder))?;
        Ok(Self { _file: file })
    }
}

fn open(folder: &Path) -> Result<File> {
    make_state_folder(folder).with_context(|| format!("creating {}", folder.display()))?;
    let mut options = File::options();
    let options = options.create(true).append(true);
    let file = options.open(folder.join(LOCK_FILE));
    file.with_context(|| locking(folder))
}

fn locking(folder: &Path) -> String {
    format!("locking {}", folder.join(LOCK_FILE).display())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::thread;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_waits_too_long_is_told_what_is_in_the_way() {
        let dir = tempfile::tempdir().unwrap();
        let held = FolderLock::if_free(dir.path()).unwrap();
        assert!(held.is_some());
        assert!(FolderLock::if_free(dir.path()).unwrap().is_none());
        let error = FolderLock::take(dir.path()).await.unwrap_err().to_string();
        assert!(error.ends_with(".lock locked; end it if it hangs"), "{error}");
        drop(held);
        assert!(FolderLock::take(dir.path()).await.is_ok());
    }

    #[test]
    fn threads_that_wait_come_one_after_the_other() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, count) = (dir.path().join("new"), dir.path().join("count"));
        fs::write(&count, "0").unwrap();
        let add = || {
            for _ in 0..50 {
                let _lock = FolderLock::wait(&folder).unwrap();
                let read: u32 = fs::read_to_string(&count).unwrap().parse().unwrap();
                fs::write(&count, (read + 1).to_string()).unwrap();
            }
        };
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(add);
            }
        });
        assert_eq!(fs::read_to_string(&count).unwrap(), "200");
    }
}

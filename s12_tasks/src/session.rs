//! A session: one run of the program, and whether it still runs.
//!
//! A task outlives the run that claimed it. Names and process ids are reused, so they cannot tell whether the owner is
//! alive; a file lock can, because the operating system releases it with the process. Invariant: a session counts as alive exactly
//! while its process holds the lock on its file.

use std::fs::{self, File, OpenOptions};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result};
use kit::{fresh_suffix, is_safe_name, make_state_folder};
use s02_tools::Workspace;

/// This run of the program. Clones are the same run.
#[derive(Clone, Debug)]
pub struct Session {
    folder: PathBuf,
    /// The id and the locked file, once somebody has asked for the id. A std lock: nothing is awaited under it.
    held: Arc<Mutex<Option<(String, File)>>>,
}

impl Session {
    /// A session of this workspace. Nothing is written until somebody asks for its id.
    pub fn new(ws: &Workspace) -> Self {
        Self {
            folder: ws.state("sessions"),
            held: Arc::default(),
        }
    }

    /// Its id.
    ///
    /// # Errors
    /// When its file cannot be written.
    pub fn id(&self) -> Result<String> {
        let mut held = self.held.lock().unwrap();
        if let Some((id, _)) = &*held {
            return Ok(id.clone());
        }
        let id = fresh_suffix();
        let path = self.folder.join(&id);
        let opening = || format!("writing the session file {}", path.display());
        make_state_folder(&self.folder).with_context(opening)?;
        let file =
            OpenOptions::new().create_new(true).write(true).open(&path).with_context(opening)?;
        file.lock().with_context(opening)?;
        *held = Some((id.clone(), file));
        Ok(id)
    }

    /// True if this is the id of this session. Asking does not create one.
    pub fn is_own(&self, id: &str) -> bool {
        matches!(&*self.held.lock().unwrap(), Some((own, _)) if own == id)
    }

    /// True if the session of this id still runs. The file of an ended session is removed.
    pub fn is_alive(&self, id: &str) -> bool {
        if !is_safe_name(id, 64) {
            return false;
        }
        if self.is_own(id) {
            return true;
        }
        let path = self.folder.join(id);
        let Ok(file) = File::open(&path) else {
            return false;
        };
        // Shared, so that two who ask at the same time do not take each other for the owner.
        match file.try_lock_shared() {
            Ok(()) => {
                let _ = fs::remove_file(&path);
                false
            }
            Err(_) => true,
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // The last clone takes the file away; the lock goes with the process in any case.
        if Arc::strong_count(&self.held) == 1
            && let Some((id, _)) = &*self.held.lock().unwrap()
        {
            let _ = fs::remove_file(self.folder.join(id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_alive_until_it_ends() {
        let dir = tempfile::tempdir().unwrap();
        let ws = Workspace::at(dir.path()).unwrap();
        let (one, other) = (Session::new(&ws), Session::new(&ws));
        assert!(!ws.state("sessions").exists(), "nothing is written before it is needed");
        let id = one.id().unwrap();
        assert_eq!(id, one.id().unwrap());
        assert!(one.is_alive(&id) && other.is_alive(&id));
        drop(one);
        assert!(!other.is_alive(&id));
        assert!(!other.is_alive("../../etc/passwd"));
    }
}

//! A named pipe that holds a command up, so that a test says when it goes on and sees when it has ended.
//!
//! `cat gate` waits until somebody opens the pipe for writing; `exec 3> gate` keeps it open until its process is gone.
//! Invariant: nothing waits for a clock.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// Longer than anything takes that a test waits for; only a failure waits so long.
const PATIENCE: Duration = Duration::from_secs(30);

/// A named pipe.
pub struct Gate(PathBuf);

impl Gate {
    /// A pipe called `gate` in this directory.
    pub fn new(dir: &Path) -> Self {
        Self::make(&dir.join("gate"))
    }

    /// A pipe at this path.
    ///
    /// # Panics
    /// When it cannot be made.
    #[track_caller]
    pub fn make(path: &Path) -> Self {
        let made = Command::new("mkfifo").arg(path).status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo");
        Self(path.to_owned())
    }

    /// Waits until a command reads the pipe, and lets it go on when the file is dropped.
    ///
    /// # Panics
    /// When the pipe is gone.
    pub fn open(&self) -> File {
        let opened = File::options().write(true).open(&self.0);
        opened.expect("the pipe is there")
    }

    /// Sees from now on who holds the pipe open for writing.
    pub fn watch(&self) -> Watch {
        let (sender, receiver) = channel();
        let path = self.0.clone();
        thread::spawn(move || {
            let mut pipe = File::open(path).expect("the pipe is there");
            let _ = sender.send(());
            let _ = pipe.read_to_end(&mut Vec::new());
            let _ = sender.send(());
        });
        Watch(receiver)
    }
}

/// Hears when a process has opened a pipe for writing, and again when every process that had has closed it.
pub struct Watch(Receiver<()>);

impl Watch {
    /// Waits for the next of the two.
    ///
    /// # Panics
    /// With `what` when it does not come within half a minute.
    #[track_caller]
    pub fn wait_for(&self, what: &str) {
        self.0.recv_timeout(PATIENCE).expect(what);
    }
}

//! The binary on a real terminal, and on a pipe where that makes a difference.
//!
//! What a user does at a prompt exists on a terminal only: editing, Ctrl-C, a question in the middle of a line. So
//! these tests press keys and read the screen. Invariant: nothing here waits for a clock.

mod interrupts;
mod pipes;
mod typing;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use mock_servers::model::{Block, MockModel, Reply, Request};
use testkit::{Class, Terminal};

/// The chapter with this model, on a terminal that shows its first prompt.
fn session(model: &MockModel) -> (Class, Terminal) {
    let class = Class::new(env!("CARGO_BIN_EXE_s01_loop")).model(model);
    let mut terminal = class.terminal(80, 24);
    terminal.wait_for("s01 >>");
    (class, terminal)
}

/// A model that will say these words, one reply each.
fn model(replies: impl IntoIterator<Item = Reply>) -> MockModel {
    MockModel::scripted(replies)
}

/// The text that ends the last message of a request.
fn last_text(request: &Request) -> &str {
    let last = request.messages.last().expect("a request has messages");
    match last.blocks.last() {
        Some(Block::Text(text)) => text,
        other => panic!("the last message ends with {other:?}"),
    }
}

/// A named pipe that holds a command up: whoever reads it waits until the test opens it for writing, and whoever has it
/// open for writing keeps the test waiting for its end.
struct Gate {
    path: PathBuf,
}

impl Gate {
    fn new(folder: &Path) -> Self {
        let path = folder.join("gate");
        let made = Command::new("mkfifo").arg(&path).status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo");
        Self { path }
    }

    /// Lets the command that reads the pipe go on.
    fn open(&self) {
        File::options()
            .write(true)
            .open(&self.path)
            .expect("somebody reads the pipe");
    }

    /// Tells when a process has opened the pipe for writing, and again when every process that had has closed it.
    fn watch(&self) -> Receiver<()> {
        let (sender, receiver) = channel();
        let path = self.path.clone();
        std::thread::spawn(move || {
            let mut pipe = File::open(path).expect("the pipe exists");
            let _ = sender.send(());
            let _ = pipe.read_to_end(&mut Vec::new());
            let _ = sender.send(());
        });
        receiver
    }
}

/// Longer than anything here takes; only a failure waits so long.
const PATIENCE: Duration = Duration::from_secs(30);

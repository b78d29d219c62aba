//! The board through its public handle: rules, damaged files, and many processes at once.

mod processes;
mod rules;

use s02_tools::Workspace;
use s12_tasks::{Board, NewTask, Task};
use tempfile::TempDir;

/// A board in a folder of its own.
struct Desk {
    dir: TempDir,
    ws: Workspace,
    board: Board,
}

impl Desk {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let ws = Workspace::at(dir.path()).unwrap();
        let board = Board::open(&ws);
        Self { dir, ws, board }
    }

    /// The same folder in another run of the program.
    fn another_session(&self) -> Board {
        Board::open(&self.ws)
    }

    fn task(&self, subject: &str, blocked_by: &[&str]) -> Task {
        self.try_task(subject, blocked_by).unwrap()
    }

    fn try_task(&self, subject: &str, blocked_by: &[&str]) -> anyhow::Result<Task> {
        self.board.create(NewTask {
            subject: subject.into(),
            blocked_by: blocked_by.iter().map(|&name| name.to_owned()).collect(),
            ..NewTask::default()
        })
    }
}

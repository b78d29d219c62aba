//! A board in a folder of its own. The chapter's tests and its exercises work at one.

use std::path::PathBuf;

use s02_tools::Workspace;
use s12_tasks::{Board, NewTask, Task};
use tempfile::TempDir;

pub struct Desk {
    pub dir: TempDir,
    pub ws: Workspace,
    pub board: Board,
}

impl Desk {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let ws = Workspace::at(dir.path()).unwrap();
        let board = Board::open(&ws);
        Self { dir, ws, board }
    }

    /// The same folder in another run of the program.
    pub fn another_session(&self) -> Board {
        Board::open(&self.ws)
    }

    /// Puts a task on the board, blocked by tasks of these ids or subjects.
    pub fn task(&self, subject: &str, blocked_by: &[&str]) -> Task {
        self.try_task(subject, blocked_by).unwrap()
    }

    pub fn try_task(&self, subject: &str, blocked_by: &[&str]) -> anyhow::Result<Task> {
        self.board.create(NewTask {
            subject: subject.into(),
            blocked_by: blocked_by.iter().map(|&name| name.to_owned()).collect(),
            ..NewTask::default()
        })
    }

    /// Where a task lies.
    pub fn file(&self, task: &Task) -> PathBuf {
        self.ws.state("tasks").join(format!("{}.json", task.id))
    }

    /// Claims and completes a task.
    pub fn done(&self, task: &Task) {
        self.board.claim(&task.id, "lead").unwrap();
        self.board.complete(&task.id, "lead").unwrap();
    }
}

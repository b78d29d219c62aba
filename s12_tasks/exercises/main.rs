//! The exercises of this chapter; `cargo x check s12` runs them.
//!
//! Each file is a task with its tests, and beside it lies one way to solve it, as a patch. Invariant: a test compiles
//! before its exercise is solved, fails then, and passes afterwards.

mod ex1_a_task_by_its_subject;
mod ex2_what_is_urgent;
mod ex3_blockers_added_later;

use std::path::PathBuf;

use s02_tools::Workspace;
use s12_tasks::{Board, NewTask, Task};
use tempfile::TempDir;

/// A board in a folder of its own.
struct Desk {
    board: Board,
    dir: TempDir,
}

impl Desk {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let board = Board::open(&Workspace::at(dir.path()).unwrap());
        Self { board, dir }
    }

    /// Puts a task on the board, blocked by tasks of these subjects.
    fn task(&self, subject: &str, blocked_by: &[&str]) -> Task {
        let blocked_by = blocked_by.iter().map(|&name| name.to_owned());
        let new = NewTask {
            subject: subject.to_owned(),
            blocked_by: blocked_by.collect(),
            ..NewTask::default()
        };
        self.board.create(new).unwrap()
    }

    /// Where a task lies.
    fn file(&self, task: &Task) -> PathBuf {
        let folder = self.dir.path().join(".harness/tasks");
        folder.join(format!("{}.json", task.id))
    }

    /// Claims and completes a task.
    fn done(&self, task: &Task) {
        self.board.claim(&task.id, "lead").unwrap();
        self.board.complete(&task.id, "lead").unwrap();
    }
}

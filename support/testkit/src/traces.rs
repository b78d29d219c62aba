//! What a program leaves behind when it is started and left again: nothing.
//!
//! Folders, children and threads are for somebody who has asked for something. Invariant: what cannot be seen on this
//! system is not held against the program.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use super::{Class, Key};

/// The main thread, the one that reads the keyboard, and the mock model's.
const THREADS: usize = 3;

/// Starts the binary on a terminal, looks around at its prompt, and leaves it: in both ways no file is there, and
/// nothing but the program ran.
///
/// # Panics
/// When there is something.
#[track_caller]
pub fn leaves_no_trace(exe: impl AsRef<Path>) {
    leaves_none(|| Class::new(&exe));
}

#[track_caller]
pub(crate) fn leaves_none(fresh: impl Fn() -> Class) {
    for key in [Key::Enter, Key::CtrlD] {
        let class = fresh();
        let mut terminal = class.terminal(80, 24);
        terminal.wait_for(" >>");
        assert_eq!(files(&class), [""; 0], "at the prompt");
        let (threads, children) = at_work(terminal.child());
        assert_eq!(children, "", "children at the prompt");
        assert!(threads <= THREADS, "{threads} threads at the prompt");
        let terminal = match key {
            Key::Enter => terminal.type_line("q"),
            key => terminal.press(key),
        };
        assert_eq!(terminal.wait_exit(), 0);
        assert_eq!(files(&class), [""; 0], "after the end");
        class.nothing_runs_there();
    }
}

impl Class {
    /// Asserts that no process works in the workspace; a killed one may take a moment to go.
    ///
    /// # Panics
    /// When one does after five seconds.
    #[track_caller]
    pub fn nothing_runs_there(&self) {
        let directory = self.dir().canonicalize().expect("it is there");
        let began = Instant::now();
        while !processes_in(&directory).is_empty() && began.elapsed().as_secs() < 5 {
            thread::yield_now();
        }
        assert_eq!(processes_in(&directory), [""; 0], "after the end");
    }
}

/// What lies in the workspace and the home.
fn files(class: &Class) -> Vec<String> {
    let home = class.dir().with_file_name(super::HOME);
    let entries = [class.dir(), home].map(|dir| fs::read_dir(dir).expect("it is there"));
    let entries = entries.into_iter().flatten();
    entries.map(|entry| entry.expect("it can be read").path().display().to_string()).collect()
}

/// How many threads a process has, and its children.
fn at_work(process: u32) -> (usize, String) {
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else {
        return (0, String::new());
    };
    let children = |thread: PathBuf| fs::read_to_string(thread.join("children")).ok();
    let children: Vec<Option<String>> =
        threads.flatten().map(|thread| children(thread.path())).collect();
    (children.len(), children.into_iter().flatten().collect())
}

/// The processes that run in this directory.
fn processes_in(dir: &Path) -> Vec<String> {
    let Ok(processes) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let is_in = |process: &PathBuf| {
        fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(dir))
    };
    let processes = processes.flatten().map(|process| process.path());
    let command = |process: PathBuf| fs::read_to_string(process.join("cmdline"));
    // A zombie has none.
    let found = processes.filter(is_in).flat_map(command);
    found.filter(|command| !command.is_empty()).collect()
}

//! Conversations with a spoke, kept by the hub: a question can go on where an earlier one ended.
//!
//! The hub sends what was said before along, so every kind of spoke can have threads, and one that was restarted has lost
//! nothing. Invariants: two working directories never share a thread, not even when one is a copy of the other; a thread is
//! asked one question at a time; a file that cannot be read is named, never taken for empty.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kit::FolderLock;
use serde::{Deserialize, Serialize};

use crate::context::tokens;

/// How long a thread is remembered after its last answer.
const KEPT: SignedDuration = SignedDuration::from_hours(24);
/// How many questions of a thread are remembered.
const TURNS: usize = 40;

/// How often a lock is tried again, and after how long.
const TRIES: usize = 4;
const MOMENT: Duration = Duration::from_millis(5);

/// Where threads are kept.
#[derive(Clone, Debug)]
pub struct Threads {
    folder: PathBuf,
    project: PathBuf,
}

/// A thread that is being asked.
pub struct Thread {
    path: PathBuf,
    kept: Kept,
    _lock: FolderLock,
}

#[derive(Default, Deserialize, Serialize)]
struct Kept {
    /// The directory that it belongs to.
    project: PathBuf,
    turns: Vec<Turn>,
}

/// A question and its answer.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Turn {
    /// When it was answered.
    pub at: Timestamp,
    /// As the spoke was given it, its context included.
    pub question: String,
    /// As the spoke gave it.
    pub answer: String,
}

impl Threads {
    /// Those of a working directory, below its state folder.
    pub fn of(project: &Path, state: &Path) -> Self {
        let project = fs::canonicalize(project).unwrap_or_else(|_| project.to_owned());
        Self {
            folder: state.join("threads"),
            project,
        }
    }

    /// Begins or continues the thread of this name with a spoke.
    ///
    /// # Errors
    /// When the name is none, the thread is being asked, or its file cannot be read.
    pub fn open(&self, spoke: &str, name: &str, now: Timestamp) -> Result<Thread, String> {
        if !kit::is_safe_name(name, 64) {
            return Err(format!("thread: {name:?} is no name; a-z, 0-9, - and _, at most 64"));
        }
        let folder = self.folder.join(spoke).join(name);
        let mut lock = FolderLock::if_free(&folder);
        for _ in 0..TRIES {
            // A program that is being started holds every file for a moment, this one too.
            if !matches!(lock, Ok(None)) {
                break;
            }
            std::thread::sleep(MOMENT);
            lock = FolderLock::if_free(&folder);
        }
        let lock = lock.map_err(|error| format!("thread: {error:#}"))?;
        let lock = lock.ok_or_else(|| {
            format!("the thread {name} with {spoke} waits for an answer; ask again then")
        })?;
        let path = folder.join("turns.json");
        let wrong = |why: &dyn std::fmt::Display| {
            format!(
                "the thread {name} cannot be read: {}: {why}; remove the file to begin anew",
                path.display()
            )
        };
        let mut kept: Kept = match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text).map_err(|error| wrong(&error))?,
            Err(error) if error.kind() == ErrorKind::NotFound => Kept::default(),
            Err(error) => return Err(wrong(&error)),
        };
        let is_old = kept.turns.last().is_some_and(|last| now.duration_since(last.at) > KEPT);
        if is_old || kept.project != self.project {
            kept = Kept {
                project: self.project.clone(),
                turns: Vec::new(),
            };
        }
        Ok(Thread {
            path,
            kept,
            _lock: lock,
        })
    }
}

impl Thread {
    /// The latest turns that fit into a budget of tokens, and how many do not.
    pub fn latest(&self, budget: usize) -> (&[Turn], usize) {
        let (turns, mut left) = (&self.kept.turns, budget);
        let fits = |turn: &&Turn| {
            let size = tokens(&turn.question) + tokens(&turn.answer);
            let rest = left.checked_sub(size);
            left = rest.unwrap_or(left);
            rest.is_some()
        };
        let from = turns.len() - turns.iter().rev().take_while(fits).count();
        (&turns[from..], from)
    }

    /// Keeps a turn.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep(mut self, turn: Turn) -> Result<(), String> {
        self.kept.turns.push(turn);
        let excess = self.kept.turns.len().saturating_sub(TURNS);
        self.kept.turns.drain(..excess);
        let text = serde_json::to_vec(&self.kept).expect("strings are JSON");
        kit::write_whole(&self.path, &text)
            .map_err(|error| format!("{}: {error:#}", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(hour: i64, question: &str) -> Turn {
        let at = Timestamp::from_second(hour * 3600).unwrap();
        Turn {
            at,
            question: question.to_owned(),
            answer: "yes".to_owned(),
        }
    }

    fn questions(threads: &Threads, hour: i64) -> Vec<String> {
        let now = Timestamp::from_second(hour * 3600).unwrap();
        let thread = threads.open("gpt", "plan", now).unwrap();
        thread.latest(10_000).0.iter().map(|turn| turn.question.clone()).collect()
    }

    #[test]
    fn a_thread_remembers_forty_turns_for_a_day() {
        let dir = tempfile::tempdir().unwrap();
        let threads = Threads::of(dir.path(), dir.path());
        for at in 0..45 {
            let thread = threads.open("gpt", "plan", Timestamp::UNIX_EPOCH).unwrap();
            thread.keep(turn(0, &at.to_string())).unwrap();
        }
        let kept = questions(&threads, 24);
        assert_eq!((kept.len(), kept[0].as_str(), kept[39].as_str()), (40, "5", "44"));
        assert!(questions(&threads, 25).is_empty());
        assert!(
            threads.open("fable", "plan", Timestamp::UNIX_EPOCH).unwrap().kept.turns.is_empty()
        );
        let thread = threads.open("gpt", "plan", Timestamp::UNIX_EPOCH).unwrap();
        let busy = threads.open("gpt", "plan", Timestamp::UNIX_EPOCH).err().unwrap();
        assert_eq!(busy, "the thread plan with gpt waits for an answer; ask again then");
        let (latest, left_out) = thread.latest(4);
        assert_eq!((latest.len(), left_out), (2, 38));
    }

    #[test]
    fn a_copy_of_a_directory_begins_its_own_threads() {
        let (dir, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let threads = Threads::of(dir.path(), &dir.path().join("state"));
        threads.open("gpt", "plan", Timestamp::UNIX_EPOCH).unwrap().keep(turn(0, "a")).unwrap();
        let state = copy.path().join("state");
        fs::create_dir_all(state.join("threads/gpt/plan")).unwrap();
        let file = "threads/gpt/plan/turns.json";
        fs::copy(dir.path().join("state").join(file), state.join(file)).unwrap();
        assert!(questions(&Threads::of(copy.path(), &state), 0).is_empty());
        assert_eq!(questions(&threads, 0), ["a"]);
    }

    #[test]
    fn a_damaged_file_and_a_path_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let threads = Threads::of(dir.path(), dir.path());
        let error = |name: &str| threads.open("gpt", name, Timestamp::UNIX_EPOCH).err().unwrap();
        assert!(error("../x").starts_with("thread: \"../x\" is no name"));
        let file = dir.path().join("threads/gpt/plan/turns.json");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "{").unwrap();
        assert!(error("plan").ends_with("remove the file to begin anew"));
    }
}

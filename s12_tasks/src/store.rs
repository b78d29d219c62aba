//! The files of the board: one JSON file a task.
//!
//! Invariants: a file is whole or absent, whatever kills the writer (written to a temporary file and renamed); a file that
//! cannot be read is set aside and named, and harms no other.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use kit::{FolderLock, fresh_suffix, is_safe_name, make_state_folder, write_whole};
use s02_tools::Workspace;

use crate::task::Task;

const DAMAGED: &str = "damaged";

/// The folder of the tasks.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// All tasks, and the malformed files.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// In the order of creation.
    pub tasks: Vec<Task>,
    /// A sentence for each file that was set aside.
    pub damaged: Vec<String>,
}

impl Store {
    pub fn new(ws: &Workspace) -> Self {
        Self {
            folder: ws.state("tasks"),
        }
    }

    /// Waits for the lock under which tasks are changed.
    pub fn lock(&self) -> Result<FolderLock> {
        FolderLock::wait(&self.folder)
    }

    /// An id that sorts after all existing ids. Call it under the lock.
    pub fn fresh_id(&self, tasks: &[Task]) -> String {
        let numbers = tasks.iter().map(|task| number(&task.id));
        let last = numbers.filter(|number| *number < u64::MAX).max();
        // Randomness makes an id unique: two processes may give one number at once.
        format!("{:04}-{}", last.unwrap_or(0) + 1, fresh_suffix())
    }

    /// The task of this id.
    pub fn read(&self, id: &str) -> Result<Option<Task>> {
        if !is_safe_name(id, 64) {
            return Ok(None);
        }
        let path = self.path(id);
        match fs::read(&path) {
            Ok(bytes) => match parse(&bytes, id) {
                Ok(task) => Ok(Some(task)),
                Err(error) => bail!("{}", self.set_aside(&path, &error)),
            },
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("reading {}", path.display())),
        }
    }

    /// All tasks there are. A missing folder is an empty board.
    pub fn read_all(&self) -> Result<Found> {
        let reading = || format!("reading {}", self.folder.display());
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Found::default()),
            Err(error) => return Err(error).with_context(reading),
        };
        let mut found = Found::default();
        for entry in entries {
            let path = entry.with_context(reading)?.path();
            let Some(id) = id_of(&path) else { continue };
            match fs::read(&path).map(|bytes| parse(&bytes, &id)) {
                Ok(Ok(task)) => found.tasks.push(task),
                Ok(Err(error)) => found.damaged.push(self.set_aside(&path, &error)),
                // Somebody has taken it away since the folder was read.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => {
                    found.damaged.push(format!("{} cannot be read: {error}", path.display()))
                }
            }
        }
        found.tasks.sort_by(|a, b| (number(&a.id), &a.id).cmp(&(number(&b.id), &b.id)));
        Ok(found)
    }

    /// Writes a task. Call it under the lock.
    pub fn write(&self, task: &Task) -> Result<()> {
        let mut json = serde_json::to_vec_pretty(task).context("a task is JSON")?;
        json.push(b'\n');
        write_whole(&self.path(&task.id), &json)
            .with_context(|| format!("writing the task {}", task.id))
    }

    fn path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }

    /// Moves a damaged file away and returns a sentence about it.
    fn set_aside(&self, path: &Path, error: &anyhow::Error) -> String {
        let name = path.file_name().unwrap_or_default();
        let shown = format!("tasks/{}", name.display());
        let aside = self.folder.join(DAMAGED);
        let moved = make_state_folder(&aside).and_then(|()| fs::rename(path, aside.join(name)));
        match moved {
            Ok(()) => format!("{shown} is no task ({error:#}); it was moved to tasks/{DAMAGED}/"),
            Err(_) => format!("{shown} is no task ({error:#}) and cannot be moved away"),
        }
    }
}

/// The number in an id, by which tasks sort.
fn number(id: &str) -> u64 {
    let digits = id.split('-').next().unwrap_or_default();
    digits.parse().unwrap_or(u64::MAX)
}

/// The id in the name of a task's file; other files lie there, too.
fn id_of(path: &Path) -> Option<String> {
    let id = path.file_name()?.to_str()?.strip_suffix(".json")?;
    is_safe_name(id, 64).then(|| id.to_owned())
}

fn parse(bytes: &[u8], id: &str) -> Result<Task> {
    let task: Task = serde_json::from_slice(bytes)?;
    if task.id != id {
        bail!("it says its id is {:?}", task.id);
    }
    Ok(task)
}

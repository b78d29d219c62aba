//! The folder of the memory, and what is read from it.
//!
//! Memories are files, so that a person can read, mend and delete them, and a second process finds them. Reading takes no
//! lock: every file is replaced as a whole. Invariants: the index is never taken for a memory; a file that cannot be read
//! is named and left alone.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result, ensure};
use s02_tools::Workspace;

use crate::entry::Entry;
use crate::file::File;
use crate::index::{self, INDEX_FILE};
use crate::swap::{self, Texts};

/// The folder of the memories, in the state folder.
pub const MEMORY_DIR: &str = "memory";

/// With this many memories and more, consolidation is worth a side call.
pub const CONSOLIDATE_AT: usize = 10;

/// A larger file was not written as a memory.
const MAX_FILE: u64 = 100_000;

/// A folder of memories. Clones share what they have read.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) folder: PathBuf,
    /// The folder as the user should see it.
    shown: String,
    /// What was read last. Every turn reads the folder, and parsing costs more than reading; a file with the same text
    /// is not parsed again. A std lock: nothing is awaited while it is held.
    last: Arc<Mutex<Memories>>,
}

/// Memories by their slugs.
type Memories = BTreeMap<String, Arc<Stored>>;

/// A memory with its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// What the file holds.
    pub file: File,
    /// The file as it stands there.
    pub text: String,
}

impl Stored {
    /// The memory.
    pub fn entry(&self) -> &Entry {
        &self.file.entry
    }
}

/// What is in the folder.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The memories by their slugs.
    pub memories: Memories,
    /// A sentence for each file that cannot be read.
    pub damaged: Vec<String>,
}

impl Found {
    /// The memory of this name.
    pub fn called(&self, name: &str) -> Option<(&String, &Arc<Stored>)> {
        let mut memories = self.memories.iter();
        memories.find(|(_, stored)| stored.entry().name == name)
    }

    /// The texts of the files.
    pub fn texts(&self) -> Texts {
        let text = |(slug, stored): (&String, &Arc<Stored>)| (slug.clone(), stored.text.clone());
        self.memories.iter().map(text).collect()
    }

    /// The memories, in the order of their slugs.
    pub fn entries(&self) -> Vec<&Entry> {
        self.memories
            .values()
            .map(|stored| stored.entry())
            .collect()
    }
}

impl Store {
    /// The memories of this workspace. Nothing is read or made yet.
    pub fn new(ws: &Workspace) -> Self {
        let folder = ws.state(MEMORY_DIR);
        let shown = ws.shown(&folder);
        Self {
            folder,
            shown,
            last: Arc::default(),
        }
    }

    /// Whether anything was ever kept here.
    pub fn exists(&self) -> bool {
        self.folder.exists() || swap::is_pending(&self.folder)
    }

    /// Reads all memories.
    pub fn read(&self) -> Found {
        let mut last = self.last.lock().unwrap();
        let mut found = Found::default();
        let Ok(files) = fs::read_dir(&self.folder) else {
            return found;
        };
        for path in files.filter_map(|file| Some(file.ok()?.path())) {
            let Some(name) = path.file_name().map(|name| name.to_string_lossy()) else {
                continue;
            };
            let is_index = name.eq_ignore_ascii_case(INDEX_FILE);
            let Some(slug) = name.strip_suffix(".md").filter(|_| !is_index) else {
                continue;
            };
            match stored(&path, last.get(slug)) {
                Ok(stored) => {
                    found.memories.insert(slug.to_owned(), stored);
                }
                // Another process has just removed it.
                Err(_) if !path.exists() => {}
                Err(error) => found.damaged.push(format!(
                    "{}/{name} is not used and left as it is: {error:#}",
                    self.shown
                )),
            }
        }
        found.damaged.sort();
        last.clone_from(&found.memories);
        found
    }

    /// The index as a request carries it; empty when there is none.
    pub fn index(&self) -> String {
        let text = read_bounded(&self.folder.join(INDEX_FILE));
        index::bounded(&String::from_utf8_lossy(&text.unwrap_or_default()))
    }
}

/// The memory in a file; the one that was read last, when it still is that one.
fn stored(path: &Path, last: Option<&Arc<Stored>>) -> Result<Arc<Stored>> {
    let bytes = read_bounded(path)?;
    ensure!(
        bytes.len() as u64 <= MAX_FILE,
        "it has more than {MAX_FILE} bytes; make several of it"
    );
    let text = String::from_utf8(bytes)
        .ok()
        .context("it is not UTF-8 text")?;
    if let Some(last) = last.filter(|last| last.text == text) {
        return Ok(Arc::clone(last));
    }
    let file = File::parse(&text)?;
    Ok(Arc::new(Stored { file, text }))
}

/// The bytes of a regular file, one more than the limit at most. A link may lead out of the workspace, a pipe would keep us
/// waiting.
fn read_bounded(path: &Path) -> Result<Vec<u8>> {
    ensure!(
        fs::symlink_metadata(path)?.is_file(),
        "it is no regular file"
    );
    let mut bytes = Vec::new();
    let file = fs::File::open(path)?;
    file.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of a file; empty when there is none.
///
/// # Errors
/// When it cannot be read as text.
pub fn text_of(path: &Path) -> Result<String> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error).with_context(|| format!("reading {}", path.display())),
    }
}

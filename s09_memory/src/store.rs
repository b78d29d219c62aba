//! The folder of the memory, and what is read from it.
//!
//! Memories are files, so that a person can read, mend and delete them, and a second process finds them. Reading takes no
//! lock: every file is replaced as a whole. Invariants: the index is never taken for a memory; a file that cannot be read
//! is named and left alone.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use s02_tools::Workspace;

use crate::entry::Entry;
use crate::file::File;
use crate::index::{self, INDEX_FILE};

/// A larger file was not written as a memory.
const MAX_FILE: u64 = 100_000;

/// Memories by their slugs.
pub type Memories = BTreeMap<String, File>;

/// A folder of memories.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) folder: PathBuf,
    /// The folder as the user should see it.
    shown: String,
}

/// What is in the folder.
#[derive(Debug, Default)]
pub struct Found {
    pub memories: Memories,
    /// A sentence for each file that cannot be read.
    pub damaged: Vec<String>,
}

impl Found {
    /// The memory of this name, and its slug.
    pub fn called(&self, name: &str) -> Option<(&String, &File)> {
        let mut memories = self.memories.iter();
        memories.find(|(_, file)| file.entry.name == name)
    }

    /// The memories, in the order of their slugs.
    pub fn entries(&self) -> Vec<&Entry> {
        self.memories.values().map(|file| &file.entry).collect()
    }
}

impl Store {
    /// The memories of this workspace. Nothing is read or made yet.
    pub fn new(ws: &Workspace) -> Self {
        let folder = ws.state("memory");
        let shown = ws.shown(&folder);
        Self { folder, shown }
    }

    /// The path of a memory.
    pub fn file(&self, slug: &str) -> PathBuf {
        self.folder.join(format!("{slug}.md"))
    }

    /// Reads all memories.
    pub fn read(&self) -> Found {
        let mut found = Found::default();
        for path in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let (name, path) = (path.file_name(), path.path());
            let name = name.to_string_lossy();
            let is_index = name.eq_ignore_ascii_case(INDEX_FILE);
            let Some(slug) = name.strip_suffix(".md").filter(|_| !is_index) else {
                continue;
            };
            match memory_in(&path) {
                Ok(file) => {
                    found.memories.insert(slug.to_owned(), file);
                }
                // Another process has just removed it.
                Err(_) if !path.exists() => {}
                Err(error) => found
                    .damaged
                    .push(format!("{}/{name} is ignored and left as it is: {error:#}", self.shown)),
            }
        }
        found.damaged.sort();
        found
    }

    /// The index as a request carries it; empty when there is none.
    pub fn index(&self) -> String {
        let text = read_bounded(&self.folder.join(INDEX_FILE));
        index::bounded(&String::from_utf8_lossy(&text.unwrap_or_default()))
    }
}

fn memory_in(path: &Path) -> Result<File> {
    let bytes = read_bounded(path)?;
    ensure!(
        bytes.len() as u64 <= MAX_FILE,
        "it has more than {MAX_FILE} bytes; make several of it"
    );
    let text = String::from_utf8(bytes).ok();
    File::parse(text.context("it is not UTF-8 text")?)
}

/// The bytes of a regular file, one more than the limit at most. A link may lead out of the workspace, a pipe would keep us
/// waiting.
fn read_bounded(path: &Path) -> Result<Vec<u8>> {
    ensure!(fs::symlink_metadata(path)?.is_file(), "it is no regular file");
    let mut bytes = Vec::new();
    let file = fs::File::open(path)?;
    file.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of a file; empty when there is none.
pub fn text_of(path: &Path) -> Result<String> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error).with_context(|| format!("reading {}", path.display())),
    }
}

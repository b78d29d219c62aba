//! Writing to the folder of the memory, under its lock.
//!
//! What another process has written a moment ago must not be lost, so everything is read anew once the lock is taken.
//! Invariants: whoever has the lock has first carried out a swap that somebody left behind; the index is made from the
//! files, after them.

use std::path::PathBuf;

use anyhow::{Context, Result};
use kit::{FolderLock, write_whole};
use serde::{Deserialize, Serialize};

use crate::entry::Entry;
use crate::file::File;
use crate::index::{self, INDEX_FILE};
use crate::slug::slug;
use crate::store::{CONSOLIDATE_AT, Found, Store, text_of};
use crate::swap::{self, Texts};

/// What we know of the index and the last consolidation. All of it can be lost: it is worked out again.
const NOTES_FILE: &str = ".index.json";
const VERSION: u32 = 1;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Notes {
    version: u32,
    /// The lines of the index that are ours.
    lines: Vec<String>,
    /// How many memories the last consolidation left; another one of the same set would find nothing to do.
    settled: usize,
}

/// The right to write, until it drops.
pub struct Writing<'a> {
    store: &'a Store,
    _lock: FolderLock,
}

impl Store {
    /// The right to write, as soon as no other process has it.
    ///
    /// # Errors
    /// When another process keeps it, or the disk does not let us.
    pub async fn write(&self) -> Result<Writing<'_>> {
        let lock = FolderLock::take(&self.folder).await?;
        Writing::begin(self, lock)
    }

    /// Ends what another process has left behind, and brings the index up to date. A process that is writing at this
    /// moment does both itself.
    ///
    /// # Errors
    /// When the disk does not let us.
    pub fn put_in_order(&self) -> Result<()> {
        match FolderLock::if_free(&self.folder)? {
            Some(lock) => Writing::begin(self, lock)?.index(),
            None => Ok(()),
        }
    }

    /// Whether a set of this size is large enough for a consolidation, and a quarter larger than the last one left it.
    pub fn is_due(&self, count: usize) -> bool {
        let settled = self.notes().settled;
        count >= CONSOLIDATE_AT && count > settled + settled / 4
    }

    fn notes(&self) -> Notes {
        let text = text_of(&self.notes_file()).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    fn notes_file(&self) -> PathBuf {
        self.folder.join(NOTES_FILE)
    }
}

impl<'a> Writing<'a> {
    fn begin(store: &'a Store, lock: FolderLock) -> Result<Self> {
        let writing = Self { store, _lock: lock };
        writing.carry_out()?;
        Ok(writing)
    }

    /// Keeps a memory: in the file of that name, or a new one. Returns whether anything is new about it.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn keep(&self, entry: &Entry) -> Result<bool> {
        let found = self.store.read();
        let (slug, file) = match found.called(&entry.name) {
            Some((_, stored)) if stored.entry() == entry => return Ok(false),
            Some((slug, stored)) => (slug.clone(), stored.file.holding(entry.clone())),
            None => {
                let known = found.entries();
                if known.iter().any(|known| known.content == entry.content) {
                    return Ok(false);
                }
                (self.free_slug(&entry.name), File::new(entry.clone()))
            }
        };
        let path = swap::file(&self.store.folder, &slug);
        let text = file.render();
        text.and_then(|text| write_whole(&path, text.as_bytes()))
            .with_context(|| format!("writing {}", path.display()))?;
        Ok(true)
    }

    /// Puts a consolidated set in the place of the one that was read `before`. Returns whether it did: when one of
    /// these files has changed meanwhile, nothing happens.
    ///
    /// # Errors
    /// When the disk does not let us. What was decided by then is carried out next time.
    pub fn replace(&self, before: &Found, after: &[Entry]) -> Result<bool> {
        let now = self.store.read().memories;
        let is_unchanged = |(slug, stored)| now.get(slug) == Some(stored);
        if !before.memories.iter().all(is_unchanged) {
            return Ok(false);
        }
        let (old, new) = (before.texts(), self.texts(before, after)?);
        if old != new {
            for step in swap::decide(&self.store.folder, &old, &new) {
                step.take()?;
            }
            self.carry_out()?;
        }
        self.index_and_settle(true)?;
        Ok(true)
    }

    /// Makes the index anew from the files.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub fn index(&self) -> Result<()> {
        self.index_and_settle(false)
    }

    fn index_and_settle(&self, is_settled: bool) -> Result<()> {
        let memories = self.store.read().memories;
        let lines = memories.iter();
        let lines: Vec<String> = lines
            .map(|(slug, stored)| index::line(slug, stored.entry()))
            .collect();
        let notes = self.store.notes();
        let path = self.store.folder.join(INDEX_FILE);
        let text = text_of(&path)?;
        let is_memory = |slug: &str| memories.contains_key(slug);
        let is_file = |slug: &str| swap::file(&self.store.folder, slug).exists();
        let merged = index::merge(&text, &notes.lines, &lines, is_memory, is_file);
        if merged != text {
            write_whole(&path, merged.as_bytes()).context("writing the index of the memory")?;
        }
        let settled = match is_settled {
            true => memories.len(),
            false => notes.settled.min(memories.len()),
        };
        let new = Notes {
            version: VERSION,
            lines,
            settled,
        };
        if new != notes {
            let text = serde_json::to_string_pretty(&new)?;
            write_whole(&self.store.notes_file(), text.as_bytes())?;
        }
        Ok(())
    }

    /// The files of a new set. A memory that has its name from before keeps its file.
    fn texts(&self, before: &Found, after: &[Entry]) -> Result<Texts> {
        let mut texts = Texts::new();
        for entry in after {
            let kept = before.called(&entry.name);
            let kept = kept.filter(|(slug, _)| !texts.contains_key(*slug));
            let (slug, text) = match kept {
                Some((slug, stored)) if stored.entry() == entry => {
                    (slug.clone(), stored.text.clone())
                }
                Some((slug, stored)) => {
                    (slug.clone(), stored.file.holding(entry.clone()).render()?)
                }
                None => {
                    let is_taken = |slug: &str| self.is_file(slug) || texts.contains_key(slug);
                    let slug = slug(&entry.name, is_taken);
                    (slug, File::new(entry.clone()).render()?)
                }
            };
            texts.insert(slug, text);
        }
        Ok(texts)
    }

    fn carry_out(&self) -> Result<()> {
        for step in swap::carry_out(&self.store.folder)? {
            step.take()?;
        }
        Ok(())
    }

    fn free_slug(&self, name: &str) -> String {
        slug(name, |slug| self.is_file(slug))
    }

    fn is_file(&self, slug: &str) -> bool {
        swap::file(&self.store.folder, slug)
            .symlink_metadata()
            .is_ok()
    }
}

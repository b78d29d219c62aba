//! Writing to the folder of the memory, under its lock.
//!
//! Another process may have written a moment ago, so everything is read again once the lock is taken.
//! Invariants: a file is written whole or not at all; a set is replaced by writing what is new, then removing what was
//! dropped, then the index, so that a process killed anywhere leaves a memory too many, never one too few.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use kit::{FolderLock, write_whole};
use serde::{Deserialize, Serialize};

use crate::entry::Entry;
use crate::file::File;
use crate::index::{self, INDEX_FILE};
use crate::slug::slug;
use crate::store::{Found, Memories, Store, text_of};

/// With this many memories and more, consolidation is worth a side call.
const CONSOLIDATE_AT: usize = 10;

/// The state of the index and of the last consolidation. It can be deleted: it is computed again.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct IndexState {
    version: u32,
    /// The memories that the index lists.
    slugs: BTreeSet<String>,
    /// How many memories the last consolidation left; another one of the same set would find nothing to do.
    settled: usize,
}

/// Exclusive write access, until it drops.
pub struct Writer<'a> {
    store: &'a Store,
    _lock: FolderLock,
}

impl Store {
    /// Waits for exclusive write access.
    pub async fn write(&self) -> Result<Writer<'_>> {
        let lock = FolderLock::take(&self.folder).await?;
        Ok(Writer {
            store: self,
            _lock: lock,
        })
    }

    /// Brings the index up to date with the files. A process that is writing at this moment does so itself.
    pub fn refresh_index(&self) -> Result<()> {
        if !self.folder.exists() {
            return Ok(());
        }
        let Some(_lock) = FolderLock::if_free(&self.folder)? else {
            return Ok(());
        };
        Writer { store: self, _lock }.index()
    }

    /// Whether a set of this size needs consolidation: it is large, and a quarter larger than after the last one.
    pub fn is_due(&self, count: usize) -> bool {
        let settled = self.index_state().settled;
        count >= CONSOLIDATE_AT && count > settled + settled / 4
    }

    fn index_state(&self) -> IndexState {
        let text = text_of(&self.index_state_file()).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    fn index_state_file(&self) -> PathBuf {
        self.folder.join(".index.json")
    }
}

impl Writer<'_> {
    /// Keeps a memory: in the file of that name, or a new one. Returns whether anything is new about it.
    pub fn keep(&self, entry: &Entry) -> Result<bool> {
        let found = self.store.read();
        let is_known = match found.called(&entry.name) {
            Some((_, file)) => file.entry == *entry,
            None => found.entries().iter().any(|it| it.content == entry.content),
        };
        if !is_known {
            let (slug, file) = self.file_for(entry, &found, &Memories::new())?;
            self.put(&slug, &file)?;
        }
        Ok(!is_known)
    }

    /// Puts a consolidated set in the place of the one that was read `before`. Returns whether it did: when one of
    /// these files has changed meanwhile, nothing happens. The set before is kept beside, in `memory.old`.
    pub fn replace(&self, before: &Found, after: &[Entry]) -> Result<bool> {
        let (old, now) = (&before.memories, self.store.read().memories);
        if old.iter().any(|(slug, file)| now.get(slug) != Some(file)) {
            return Ok(false);
        }
        let mut new = Memories::new();
        for entry in after {
            let (slug, file) = self.file_for(entry, before, &new)?;
            new.insert(slug, file);
        }
        if *old != new {
            self.back_up(old)?;
        }
        for (slug, file) in changes(old, &new) {
            match file {
                Some(file) => self.put(slug, file)?,
                None => fs::remove_file(self.store.file(slug))
                    .with_context(|| format!("removing {slug}.md"))?,
            }
        }
        self.index_settled(true)?;
        Ok(true)
    }

    /// Makes the index anew from the files.
    pub fn index(&self) -> Result<()> {
        self.index_settled(false)
    }

    fn index_settled(&self, is_settled: bool) -> Result<()> {
        let memories = self.store.read().memories;
        let state = self.store.index_state();
        let path = self.store.folder.join(INDEX_FILE);
        let text = text_of(&path)?;
        let is_gone = |slug: &str| state.slugs.contains(slug) && !self.store.file(slug).exists();
        let merged = index::merge(&text, &memories, is_gone);
        if merged != text {
            write_whole(&path, merged.as_bytes()).context("writing the index of the memory")?;
        }
        let count = memories.len();
        let new = IndexState {
            version: 1,
            settled: if is_settled { count } else { state.settled.min(count) },
            slugs: memories.into_keys().collect(),
        };
        if new != state {
            let text = serde_json::to_string_pretty(&new)?;
            write_whole(&self.store.index_state_file(), text.as_bytes())?;
        }
        Ok(())
    }

    /// The slug and the file of a memory: those of its name, or new ones that are not `taken` either.
    fn file_for(&self, entry: &Entry, found: &Found, taken: &Memories) -> Result<(String, File)> {
        if let Some((slug, file)) = found.called(&entry.name) {
            let file = file.holding(entry);
            let file = file.with_context(|| format!("changing {slug}.md"))?;
            return Ok((slug.clone(), file));
        }
        let is_file = |slug: &str| self.store.file(slug).symlink_metadata().is_ok();
        let slug = slug(&entry.name, |it| taken.contains_key(it) || is_file(it));
        Ok((slug, File::new(entry)?))
    }

    fn put(&self, slug: &str, file: &File) -> Result<()> {
        write_whole(&self.store.file(slug), file.text.as_bytes())
            .with_context(|| format!("writing {slug}.md"))
    }

    /// Copies this set to `memory.old`, in the place of an earlier one.
    fn back_up(&self, set: &Memories) -> Result<()> {
        let old = self.store.folder.with_extension("old");
        if old.exists() {
            fs::remove_dir_all(&old).with_context(|| format!("removing {}", old.display()))?;
        }
        for (slug, file) in set {
            write_whole(&old.join(format!("{slug}.md")), file.text.as_bytes())?;
        }
        Ok(())
    }
}

/// What turns the old set into the new one, in a safe order: files to write, then files to remove.
fn changes<'a>(
    old: &'a Memories,
    new: &'a Memories,
) -> impl Iterator<Item = (&'a String, Option<&'a File>)> {
    let is_new = |(slug, file): &(&String, &File)| old.get(*slug) != Some(*file);
    let written = new.iter().filter(move |it| is_new(it));
    let removed = old.keys().filter(|slug| !new.contains_key(*slug));
    let written = written.map(|(slug, file)| (slug, Some(file)));
    written.chain(removed.map(|slug| (slug, None)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(files: &[(&str, &str)]) -> Memories {
        let file = |text| File::parse(format!("---\nname: x\n---\n{text}")).unwrap();
        let files = files.iter();
        files.map(|(slug, text)| ((*slug).to_owned(), file(text))).collect()
    }

    #[test]
    fn whoever_is_killed_while_a_set_is_replaced_has_lost_no_memory() {
        let old = set(&[("a", "A"), ("b", "B"), ("c", "C"), ("same", "S")]);
        let new = set(&[("a", "A and B"), ("new", "C"), ("same", "S")]);
        let mut live = old.clone();
        for (slug, file) in changes(&old, &new) {
            match file {
                Some(file) => live.insert(slug.clone(), file.clone()),
                None => live.remove(slug),
            };
            let all: String = live.values().map(|file| &*file.entry.content).collect();
            assert!("ABCS".chars().all(|letter| all.contains(letter)), "{all}");
        }
        assert_eq!(live, new);
    }
}

//! The swap: a consolidated set of memories takes the place of the set before.
//!
//! ```text
//! memory.new/{before,after}   being written; worth nothing
//!      │ one rename
//! memory.swap/{before,after}  decided: whoever comes next carries it out
//!      │ files copied one by one; what was dropped is removed
//! memory/  memory.old/        the new set; the set before, as a backup
//! ```
//!
//! A process can die between any two of these steps. They are values, so that a test can stop behind each of them.
//! Invariants: before the rename the old set is in place, after it the new one is complete; carrying it out twice does
//! what once does; a file that somebody else has changed meanwhile stays as they left it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use kit::write_whole;

use crate::slug::slug;

/// The texts of memory files by their slugs.
pub type Texts = BTreeMap<String, String>;

/// One change of the disk that happens or does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Writes a file whole, and the folders it needs.
    Write(PathBuf, String),
    /// Gives a file or a folder another name.
    Rename(PathBuf, PathBuf),
    /// Removes a file, or a folder with all in it; it may be gone already.
    Remove(PathBuf),
}

impl Step {
    /// Takes the step.
    ///
    /// # Errors
    /// When the disk does not let us.
    pub fn take(&self) -> Result<()> {
        match self {
            Self::Write(path, text) => write_whole(path, text.as_bytes()),
            Self::Rename(from, to) => fs::rename(from, to)
                .with_context(|| format!("renaming {} to {}", from.display(), to.display())),
            Self::Remove(path) => {
                let removed = match fs::symlink_metadata(path) {
                    Ok(found) if found.is_dir() => fs::remove_dir_all(path),
                    Ok(_) => fs::remove_file(path),
                    Err(error) => Err(error),
                };
                gone_is_fine(removed).with_context(|| format!("removing {}", path.display()))
            }
        }
    }
}

/// The steps that decide for a new set, the last one being the decision. They are taken under the lock.
pub fn decide(folder: &Path, before: &Texts, after: &Texts) -> Vec<Step> {
    let (new, swap) = (beside(folder, "new"), beside(folder, "swap"));
    let write = |set: &'static str, texts: &Texts| {
        let writes = texts
            .iter()
            .map(|(slug, text)| Step::Write(file(&new.join(set), slug), text.clone()));
        writes.collect::<Vec<_>>()
    };
    let mut steps = vec![Step::Remove(new.clone())];
    steps.extend(write("before", before));
    steps.extend(write("after", after));
    steps.push(Step::Rename(new.clone(), swap));
    steps
}

/// The steps that carry out what was decided, and clear away what was not. They are taken under the lock.
///
/// # Errors
/// When the folders cannot be read.
pub fn carry_out(folder: &Path) -> Result<Vec<Step>> {
    let (new, swap, old) = (
        beside(folder, "new"),
        beside(folder, "swap"),
        beside(folder, "old"),
    );
    let mut steps = Vec::new();
    if new.exists() {
        steps.push(Step::Remove(new));
    }
    if !swap.exists() {
        return Ok(steps);
    }
    // The backup is the last to move: without it, all that follows has been done.
    if swap.join("before").exists() {
        let (before, after) = (texts(&swap.join("before"))?, texts(&swap.join("after"))?);
        let live = |slug: &str| fs::read_to_string(file(folder, slug)).ok();
        for (name, text) in &after {
            let place = match live(name) {
                Some(now) if before.get(name) != Some(&now) && now != *text => {
                    // A file with this very text was written by whoever was killed here.
                    let is_taken = |slug: &str| {
                        let is_other = live(slug).as_ref() != Some(text);
                        after.contains_key(slug) || file(folder, slug).exists() && is_other
                    };
                    slug(name, is_taken)
                }
                Some(_) | None => name.clone(),
            };
            if live(&place).as_ref() != Some(text) {
                steps.push(Step::Write(file(folder, &place), text.clone()));
            }
        }
        for (name, text) in before.iter().filter(|(name, _)| !after.contains_key(*name)) {
            if live(name).as_ref() == Some(text) {
                steps.push(Step::Remove(file(folder, name)));
            }
        }
        steps.push(Step::Remove(old.clone()));
        steps.push(Step::Rename(swap.join("before"), old));
    }
    steps.push(Step::Remove(swap));
    Ok(steps)
}

/// Whether a swap has begun that nobody has ended.
pub fn is_pending(folder: &Path) -> bool {
    ["new", "swap"]
        .map(|kind| beside(folder, kind))
        .iter()
        .any(|path| path.exists())
}

/// The file of a slug.
pub fn file(folder: &Path, slug: &str) -> PathBuf {
    folder.join(format!("{slug}.md"))
}

/// A folder beside this one: `memory.old` for `memory`.
fn beside(folder: &Path, kind: &str) -> PathBuf {
    folder.with_extension(kind)
}

fn texts(folder: &Path) -> Result<Texts> {
    let reading = || format!("reading {}", folder.display());
    let mut texts = Texts::new();
    for found in fs::read_dir(folder).with_context(reading)? {
        let path = found.with_context(reading)?.path();
        let is_memory = path.extension().is_some_and(|extension| extension == "md");
        if let (true, Some(slug)) = (is_memory, path.file_stem().and_then(|stem| stem.to_str())) {
            let text = fs::read_to_string(&path).with_context(reading)?;
            texts.insert(slug.to_owned(), text);
        }
    }
    Ok(texts)
}

fn gone_is_fine(result: io::Result<()>) -> io::Result<()> {
    result.or_else(|error| match error.kind() {
        ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn set(texts: &[(&str, &str)]) -> Texts {
        let owned = |(slug, text): &(&str, &str)| ((*slug).to_owned(), (*text).to_owned());
        texts.iter().map(owned).collect()
    }

    /// Three memories; two of them become one, one stays, one is new.
    fn before() -> Texts {
        set(&[("a", "A"), ("b", "B"), ("same", "S")])
    }

    fn after() -> Texts {
        set(&[("a", "A and B"), ("new", "N"), ("same", "S")])
    }

    /// A folder with the old set, and a backup of an older one.
    fn folder() -> (TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("memory");
        for (slug, text) in before() {
            write_whole(&file(&folder, &slug), text.as_bytes()).unwrap();
        }
        let old = beside(&folder, "old");
        write_whole(&file(&old, "older"), b"O").unwrap();
        (dir, folder)
    }

    fn take(steps: &[Step]) {
        steps.iter().for_each(|step| step.take().unwrap());
    }

    fn finish(folder: &Path) {
        take(&carry_out(folder).unwrap());
        assert!(!is_pending(folder));
        assert_eq!(carry_out(folder).unwrap(), []);
    }

    #[test]
    fn a_kill_before_the_decision_leaves_the_old_set() {
        let count = decide(Path::new("memory"), &before(), &after()).len();
        for killed_after in 0..count {
            let (_dir, folder) = folder();
            take(&decide(&folder, &before(), &after())[..killed_after]);
            assert_eq!(texts(&folder).unwrap(), before());
            finish(&folder);
            assert_eq!(texts(&folder).unwrap(), before());
            assert_eq!(
                texts(&beside(&folder, "old")).unwrap(),
                set(&[("older", "O")])
            );
        }
    }

    #[test]
    fn a_kill_after_the_decision_leaves_the_new_set() {
        let mut killed_after = 0;
        loop {
            let (_dir, folder) = folder();
            take(&decide(&folder, &before(), &after()));
            let steps = carry_out(&folder).unwrap();
            take(&steps[..killed_after.min(steps.len())]);
            // The next one is killed, too, one step further on.
            let again = carry_out(&folder).unwrap();
            take(&again[..again.len().min(1)]);
            finish(&folder);
            assert_eq!(
                texts(&folder).unwrap(),
                after(),
                "killed after {killed_after}"
            );
            assert_eq!(texts(&beside(&folder, "old")).unwrap(), before());
            if killed_after == steps.len() {
                break;
            }
            killed_after += 1;
        }
    }

    #[test]
    fn a_removal_killed_half_way_is_done_again() {
        let (_dir, folder) = folder();
        take(&decide(&folder, &before(), &after()));
        let steps = carry_out(&folder).unwrap();
        take(&steps[..steps.len() - 1]);
        Step::Remove(beside(&folder, "swap").join("after/a.md"))
            .take()
            .unwrap();
        finish(&folder);
        assert_eq!(texts(&folder).unwrap(), after());
    }

    #[test]
    fn what_somebody_changed_after_the_decision_stays() {
        // A process killed behind any of the steps leaves no second copy either.
        for killed_after in 0..6 {
            let (_dir, folder) = folder();
            take(&decide(&folder, &before(), &after()));
            for (slug, text) in [("a", "A by hand"), ("b", "B by hand"), ("more", "M")] {
                write_whole(&file(&folder, slug), text.as_bytes()).unwrap();
            }
            let steps = carry_out(&folder).unwrap();
            take(&steps[..killed_after.min(steps.len())]);
            finish(&folder);
            assert_eq!(texts(&folder).unwrap(), changed(), "{killed_after}");
        }
    }

    fn changed() -> Texts {
        set(&[
            ("a", "A by hand"),
            ("a-2", "A and B"),
            ("b", "B by hand"),
            ("more", "M"),
            ("new", "N"),
            ("same", "S"),
        ])
    }
}

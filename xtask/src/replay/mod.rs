//! `cargo x replay s03`: a change of skeleton travels from the chapter that introduces it to every later one.
//!
//! Each chapter is merged with what changed in the chapter it is diffed against, so steps between chapters stay what
//! they were. Git does the merging. A conflict stops the journey; `--continue` goes on when it is resolved.
//! Invariant: before a merge a file is as committed, so what was merged can always be told from what was not.

mod notes;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

use anyhow::{Context, Result, bail, ensure};

use crate::git;
use crate::step::Count;
use crate::workspace::{CARRIED, Chapter, Workspace};

use notes::{Journey, Notes};

/// What was asked for.
#[derive(Default)]
pub struct Request {
    /// The chapter that was changed; `None` goes on after a conflict.
    pub chapter: Option<String>,
    /// The commit that changed it; `None` takes what is not committed yet.
    pub commit: Option<String>,
    /// Whether to write nothing.
    pub dry_run: bool,
}

/// Carries the change and says what became of each file.
///
/// # Errors
/// When there is nothing to carry, a file on the way has uncommitted changes, or a merge conflicts: the message names
/// the chapter and the file, and says how to go on.
pub fn run(ws: &Workspace, request: &Request) -> Result<String> {
    let notes = Notes::new(ws)?;
    let resumed = request.chapter.is_none();
    let journey = match &request.chapter {
        Some(chapter) => Journey {
            chapter: ws.chapter(chapter)?.name.clone(),
            commit: request.commit.clone(),
            settled: BTreeSet::new(),
        },
        None => notes.load()?,
    };
    let mut replay = Replay {
        ws,
        notes,
        journey,
        dry_run: request.dry_run,
        changes: BTreeMap::new(),
    };
    let start = ws.chapter(&replay.journey.chapter)?;
    replay.begin(start)?;
    if !resumed {
        replay.refuse_uncommitted(start)?;
    }
    let mut report = String::new();
    for chapter in ws.after(start) {
        for file in CARRIED {
            report += &replay.carry(chapter, file, resumed)?;
        }
    }
    if !request.dry_run {
        replay.notes.forget()?;
    }
    Ok(finish(report, start, request.dry_run))
}

/// How a carried file was and how it is.
struct Change {
    before: String,
    after: String,
}

struct Replay<'a> {
    ws: &'a Workspace,
    notes: Notes,
    journey: Journey,
    dry_run: bool,
    /// What changed so far, by path.
    changes: BTreeMap<String, Change>,
}

impl Replay<'_> {
    /// Reads what changed in the chapter where the journey starts.
    fn begin(&mut self, start: &Chapter) -> Result<()> {
        let commit = self.journey.commit.as_deref().unwrap_or("HEAD");
        git::run(
            &self.ws.root,
            &[
                "rev-parse",
                "--verify",
                "--quiet",
                &format!("{commit}^{{commit}}"),
            ],
        )
        .with_context(|| format!("there is no commit {commit}"))?;
        for file in CARRIED {
            let path = start.path(file);
            let change = match &self.journey.commit {
                Some(commit) => (
                    self.committed(&format!("{commit}^"), &path)?,
                    self.committed(commit, &path)?,
                ),
                None => (
                    self.committed("HEAD", &path)?,
                    self.ws.tree.text(&path).map(str::to_owned),
                ),
            };
            if let (Some(before), Some(after)) = change
                && before != after
            {
                self.changes.insert(path, Change { before, after });
            }
        }
        let place = self.journey.commit.as_deref().unwrap_or("the working tree");
        ensure!(
            !self.changes.is_empty(),
            "{place} changes no carried file of {}; edit it first, or name the commit with --commit",
            start.name
        );
        Ok(())
    }

    /// A file with changes of its own could not be told from one that is merged.
    fn refuse_uncommitted(&self, start: &Chapter) -> Result<()> {
        let later = self.ws.after(start);
        for path in later.flat_map(|chapter| CARRIED.map(|file| chapter.path(file))) {
            if let Some(text) = self.ws.tree.text(&path) {
                let clean = self.committed("HEAD", &path)?.as_deref() == Some(text);
                ensure!(
                    clean,
                    "{path} has changes that are not committed; commit them before a replay"
                );
            }
        }
        Ok(())
    }

    /// Merges one file of one chapter and says what became of it; nothing when the change does not concern it.
    fn carry(&mut self, chapter: &Chapter, file: &str, resumed: bool) -> Result<String> {
        let path = chapter.path(file);
        let carrier = self
            .ws
            .base(chapter)
            .and_then(|base| self.ws.carrier(base, file));
        let change =
            carrier.and_then(|carrier| Some((carrier, self.changes.get(&carrier.path(file))?)));
        let (Some((base, change)), Some(now)) = (change, self.ws.tree.text(&path)) else {
            return Ok(String::new());
        };
        let before = self
            .committed("HEAD", &path)?
            .with_context(|| format!("{path} is not committed yet"))?;
        if resumed && (before != now || self.journey.settled.contains(&path)) {
            ensure!(
                !has_markers(now),
                "{path} still holds conflict markers; resolve them, then run {CONTINUE}"
            );
            let after = now.to_owned();
            return Ok(self.note(path, Change { before, after }));
        }
        let labels = [
            chapter.name.clone(),
            format!("{} before", base.name),
            format!("{} changed", base.name),
        ];
        let merge = self.notes.merge(&before, change, &labels)?;
        if !self.dry_run && merge.text != before {
            fs::write(self.ws.root.join(&path), &merge.text)
                .with_context(|| format!("writing {path}"))?;
        }
        if merge.conflicts {
            return self.stop(path, &base.name);
        }
        let after = merge.text;
        Ok(self.note(path, Change { before, after }))
    }

    /// Remembers a change for the chapters that follow, and says how large it is.
    fn note(&mut self, path: String, change: Change) -> String {
        let count = Count::between(&change.before, &change.after);
        let line = if count.changed() == 0 {
            format!("{path}: unchanged\n")
        } else {
            format!("{path}: {count}\n")
        };
        self.changes.insert(path, change);
        line
    }

    /// Leaves the conflict to a person and says how to go on.
    fn stop(&mut self, path: String, base: &str) -> Result<String> {
        if self.dry_run {
            bail!("{path} would conflict with the change of {base}; nothing is written");
        }
        self.journey.settled.insert(path.clone());
        self.notes.save(&self.journey)?;
        bail!(
            "{path} conflicts with the change of {base}; resolve the markers in that file, commit nothing, and run {CONTINUE}"
        );
    }

    /// The text of a file in a commit; `None` when the commit does not have it.
    fn committed(&self, commit: &str, path: &str) -> Result<Option<String>> {
        let shown = git::output(&self.ws.root, &["show", &format!("{commit}:./{path}")])?;
        Ok(shown
            .status
            .success()
            .then(|| String::from_utf8_lossy(&shown.stdout).into_owned()))
    }
}

const CONTINUE: &str = "cargo x replay --continue";

fn has_markers(text: &str) -> bool {
    text.lines().any(|line| {
        ["<<<<<<< ", "||||||| ", ">>>>>>> "]
            .iter()
            .any(|marker| line.starts_with(marker))
    })
}

fn finish(mut report: String, start: &Chapter, dry_run: bool) -> String {
    let _ = match (report.is_empty(), dry_run) {
        (true, _) => writeln!(report, "no later chapter is diffed against {}", start.name),
        (false, true) => writeln!(report, "nothing is written (--dry-run)"),
        (false, false) => writeln!(
            report,
            "run cargo fmt --all and cargo x ci, and commit this change on its own"
        ),
    };
    report
}

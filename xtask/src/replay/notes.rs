//! What a replay notes down in git's own directory: where it waits, and the three texts of a merge.
//!
//! The working tree holds nothing but the course, and git's directory is never committed.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::Change;
use crate::git;
use crate::workspace::Workspace;

/// A replay that waits for a person.
#[derive(Debug, PartialEq)]
pub(super) struct Journey {
    pub(super) chapter: String,
    pub(super) commit: Option<String>,
    /// The files whose conflict was left to a person; they are taken as they are.
    pub(super) settled: BTreeSet<String>,
}

/// The folder in git's own directory that keeps a waiting replay and the three texts of a merge.
pub(super) struct Notes {
    folder: PathBuf,
}

pub(super) struct Merge {
    pub(super) text: String,
    pub(super) conflicts: bool,
}

impl Notes {
    pub(super) fn new(ws: &Workspace) -> Result<Self> {
        let path = git::run(&ws.root, &["rev-parse", "--git-path", "xtask-replay"])?;
        Ok(Self {
            folder: ws.root.join(path.trim_end()),
        })
    }

    pub(super) fn load(&self) -> Result<Journey> {
        let text = fs::read_to_string(self.folder.join("journey"))
            .ok()
            .context("no replay waits to be continued; start one with cargo x replay CHAPTER")?;
        let mut lines = text.lines().map(str::to_owned);
        Ok(Journey {
            chapter: lines.next().unwrap_or_default(),
            commit: lines.next().filter(|commit| !commit.is_empty()),
            settled: lines.collect(),
        })
    }

    pub(super) fn save(&self, journey: &Journey) -> Result<()> {
        let mut text = format!(
            "{}\n{}\n",
            journey.chapter,
            journey.commit.as_deref().unwrap_or_default()
        );
        journey
            .settled
            .iter()
            .for_each(|path| text += &format!("{path}\n"));
        fs::create_dir_all(&self.folder)?;
        fs::write(self.folder.join("journey"), text).context("noting where the replay stopped")
    }

    pub(super) fn forget(&self) -> Result<()> {
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder).context("forgetting the replay")?;
        }
        Ok(())
    }

    /// Applies `change` to `ours`, as `git merge-file` does it.
    pub(super) fn merge(&self, ours: &str, change: &Change, labels: &[String; 3]) -> Result<Merge> {
        fs::create_dir_all(&self.folder)?;
        for (name, text) in [
            ("ours", ours),
            ("before", &change.before),
            ("after", &change.after),
        ] {
            fs::write(self.folder.join(name), text).context("writing the texts to merge")?;
        }
        let [ours, before, after] = labels;
        let labels = ["-L", ours, "-L", before, "-L", after];
        let args = [
            &["merge-file", "-p", "--diff3"][..],
            &labels,
            &["ours", "before", "after"],
        ]
        .concat();
        let output = git::output(&self.folder, &args)?;
        // The exit status is the number of conflicts, 127 at most; above it git could not merge.
        match output.status.code() {
            Some(code @ 0..=127) => Ok(Merge {
                text: String::from_utf8_lossy(&output.stdout).into_owned(),
                conflicts: code > 0,
            }),
            _ => bail!("git merge-file: {}", git::complaint(&output)),
        }
    }
}

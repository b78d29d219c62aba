//! `cargo x replay s03`: a change of skeleton travels from the chapter that introduces it to every later one.
//!
//! Each chapter is merged with what changed in the chapter it is diffed against, so steps between chapters stay what
//! they were. `git merge-file` does the merging, after [`settle`] has taken away what only looks like a conflict. A real one
//! stops the journey; `--continue` goes on when it is resolved.
//! Invariant: before a merge a file is as committed, so what was merged can always be told from what was not.

mod settle;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::git;
use crate::step::Count;
use crate::workspace::{CARRIED, Chapter, Workspace};

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

/// A replay on its way, and where it waits for a person: a file in git's own directory, which is never committed.
struct Journey {
    folder: PathBuf,
    chapter: String,
    commit: Option<String>,
    /// The file that a person has resolved; up to it all files are taken as they are.
    stopped: Option<String>,
}

/// A carried file before and after.
type Change = (String, String);

/// Carries the change and says what became of each file.
///
/// # Errors
/// When there is nothing to carry, a file on the way has uncommitted changes, or a merge conflicts: the message names
/// the chapter and the file, and says how to go on.
pub fn run(ws: &Workspace, request: &Request) -> Result<String> {
    let journey = Journey::new(ws, request)?;
    let start = ws.chapter(&journey.chapter)?;
    let mut changes = journey.begin(ws, start)?;
    let way = || {
        let later = ws.after(start);
        later.flat_map(|chapter| CARRIED.map(|file| (chapter, file)))
    };
    if journey.stopped.is_none() {
        way().try_for_each(|(chapter, file)| refuse_uncommitted(ws, &chapter.path(file)))?;
    }
    let mut resolved = journey.stopped.is_some();
    let mut report = String::new();
    for (chapter, file) in way() {
        let path = chapter.path(file);
        let is_resolved = resolved;
        resolved &= journey.stopped.as_ref() != Some(&path);
        let base = ws.base(chapter).and_then(|base| ws.carrier(base, file));
        let change = base.and_then(|base| Some((base, changes.get(&base.path(file))?)));
        let (Some((base, change)), Some(now)) = (change, ws.tree.text(&path)) else {
            continue;
        };
        let before = committed(ws, "HEAD", &path)?;
        let before = before.with_context(|| format!("{path} is not committed yet"))?;
        let after = if is_resolved {
            ensure!(
                !has_markers(now),
                "{path} still holds conflict markers; resolve them, then run {CONTINUE}"
            );
            now.to_owned()
        } else {
            journey.carry(ws, base, (chapter, &path), &before, change, request.dry_run)?
        };
        report += &match Count::between(&before, &after) {
            count if count.changed() == 0 => format!("{path}: unchanged\n"),
            count => format!("{path}: {count}\n"),
        };
        changes.insert(path, (before, after));
    }
    if !request.dry_run && journey.folder.exists() {
        fs::remove_dir_all(&journey.folder).context("forgetting the replay")?;
    }
    Ok(report.clone()
        + &match (report.is_empty(), request.dry_run) {
            (true, _) => format!("no later chapter is diffed against {}\n", start.name),
            (false, true) => "nothing is written (--dry-run)\n".to_owned(),
            (false, false) => {
                "run cargo fmt --all and cargo x ci, and commit this change on its own\n".to_owned()
            }
        })
}

impl Journey {
    /// The one that is asked for, or the one that waits.
    fn new(ws: &Workspace, request: &Request) -> Result<Self> {
        let path = git::run(&ws.root, &["rev-parse", "--git-path", "xtask-replay"])?;
        let folder = ws.root.join(path.trim_end());
        if let Some(chapter) = &request.chapter {
            return Ok(Self {
                folder,
                chapter: ws.chapter(chapter)?.name.clone(),
                commit: request.commit.clone(),
                stopped: None,
            });
        }
        let text = fs::read_to_string(folder.join("journey"))
            .ok()
            .context("no replay waits to be continued; start one with cargo x replay CHAPTER")?;
        let mut lines = text.lines().map(str::to_owned);
        Ok(Self {
            folder,
            chapter: lines.next().unwrap_or_default(),
            commit: lines.next().filter(|commit| !commit.is_empty()),
            stopped: lines.next(),
        })
    }

    /// What changed in the chapter where the journey starts, by path.
    fn begin(&self, ws: &Workspace, start: &Chapter) -> Result<BTreeMap<String, Change>> {
        let commit = self.commit.as_deref().unwrap_or("HEAD");
        let revision = format!("{commit}^{{commit}}");
        git::run(&ws.root, &["rev-parse", "--verify", "--quiet", &revision])
            .with_context(|| format!("there is no commit {commit}"))?;
        let mut changes = BTreeMap::new();
        for path in CARRIED.map(|file| start.path(file)) {
            let (before, after) = match &self.commit {
                Some(commit) => (
                    committed(ws, &format!("{commit}^"), &path)?,
                    committed(ws, commit, &path)?,
                ),
                None => (
                    committed(ws, "HEAD", &path)?,
                    ws.tree.text(&path).map(str::to_owned),
                ),
            };
            let change = before.zip(after).filter(|(before, after)| before != after);
            changes.extend(change.map(|change| (path, change)));
        }
        ensure!(
            !changes.is_empty(),
            "{} changes no carried file of {}; edit it first, or name the commit with --commit",
            self.commit.as_deref().unwrap_or("the working tree"),
            start.name
        );
        Ok(changes)
    }

    /// Merges the change of the base into a file; the text as it is then. A conflict is written down and left to a person.
    fn carry(
        &self,
        ws: &Workspace,
        base: &Chapter,
        (chapter, path): (&Chapter, &str),
        ours: &str,
        (before, after): &Change,
        dry_run: bool,
    ) -> Result<String> {
        let labels = [
            chapter.name.clone(),
            format!("{} before", base.name),
            format!("{} changed", base.name),
        ];
        let texts = settle::settled([ours, before, after]);
        let (merged, conflicts) = merge(&self.folder, &texts, &labels)?;
        if conflicts && dry_run {
            bail!(
                "{path} would conflict with the change of {}; nothing is written",
                base.name
            );
        }
        if !dry_run && merged != ours {
            fs::write(ws.root.join(path), &merged).with_context(|| format!("writing {path}"))?;
        }
        if conflicts {
            let commit = self.commit.as_deref().unwrap_or_default();
            let text = format!("{}\n{commit}\n{path}\n", self.chapter);
            fs::write(self.folder.join("journey"), text).context("noting where it stopped")?;
            bail!(
                "{path} conflicts with the change of {}; resolve the markers in that file, commit nothing, and run {CONTINUE}",
                base.name
            );
        }
        Ok(merged)
    }
}

/// `git merge-file` of three texts (ours, before, after), written into `folder`: the merged text, and whether it has conflicts.
fn merge(folder: &Path, texts: &[String; 3], labels: &[String; 3]) -> Result<(String, bool)> {
    const NAMES: [&str; 3] = ["ours", "before", "after"];
    fs::create_dir_all(folder)?;
    for (name, text) in NAMES.iter().zip(texts) {
        fs::write(folder.join(name), text).context("writing the texts to merge")?;
    }
    let mut args = vec!["merge-file", "-p", "--diff3"];
    args.extend(labels.iter().flat_map(|label| ["-L", label]));
    args.extend(NAMES);
    let output = git::output(folder, &args)?;
    // The exit status is the number of conflicts, 127 at most; above it git could not merge.
    match output.status.code() {
        Some(code @ 0..=127) => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            match code {
                0 => Ok((settle::joined(&text), false)),
                // Behind a marker it would be lost; a person's `cargo fmt` puts it back.
                _ => Ok((text, true)),
            }
        }
        _ => bail!("git merge-file: {}", git::complaint(&output)),
    }
}

/// A file with changes of its own could not be told from one that is merged.
fn refuse_uncommitted(ws: &Workspace, path: &str) -> Result<()> {
    let now = ws.tree.text(path);
    ensure!(
        now.is_none() || committed(ws, "HEAD", path)?.as_deref() == now,
        "{path} has changes that are not committed; commit them before a replay"
    );
    Ok(())
}

/// The text of a file in a commit; `None` when the commit does not have it.
fn committed(ws: &Workspace, commit: &str, path: &str) -> Result<Option<String>> {
    let shown = git::output(&ws.root, &["show", &format!("{commit}:./{path}")])?;
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    Ok(shown.status.success().then_some(text))
}

const CONTINUE: &str = "cargo x replay --continue";

fn has_markers(text: &str) -> bool {
    const MARKERS: [&str; 3] = ["<<<<<<< ", "||||||| ", ">>>>>>> "];
    text.lines()
        .any(|line| MARKERS.iter().any(|marker| line.starts_with(marker)))
}

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

/// A replay on its way, and where it waits for a person: a file in git's own directory, which is never committed.
struct Journey {
    folder: PathBuf,
    chapter: String,
    /// The file that a person has resolved; up to it all files are taken as they are.
    stopped: Option<String>,
}

/// A carried file before and after.
type Change = (String, String);

/// Carries what is changed in a chapter and not committed yet, and says what became of each file; without a chapter it goes on
/// after a conflict.
///
/// # Errors
/// When there is nothing to carry, a file on the way has uncommitted changes, or a merge conflicts: the message names
/// the chapter and the file, and says how to go on.
pub fn run(ws: &Workspace, chapter: Option<&str>) -> Result<String> {
    let journey = Journey::new(ws, chapter)?;
    let start = ws.chapter(&journey.chapter)?;
    let mut changes = changed(ws, start)?;
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
        let before =
            committed(ws, &path)?.with_context(|| format!("{path} is not committed yet"))?;
        let after = match is_resolved {
            true if has_markers(now) => {
                bail!("{path} still holds conflict markers; resolve them, then run {CONTINUE}")
            }
            true => now.to_owned(),
            false => journey.carry(ws, base, (chapter, &path), &before, change)?,
        };
        report += &match Count::between(&before, &after) {
            count if count.changed() == 0 => format!("{path}: unchanged\n"),
            count => format!("{path}: {count}\n"),
        };
        changes.insert(path, (before, after));
    }
    if journey.folder.exists() {
        fs::remove_dir_all(&journey.folder).context("forgetting the replay")?;
    }
    report += &match report.as_str() {
        "" => format!("no later chapter is diffed against {}\n", start.name),
        _ => "run cargo fmt --all and cargo x ci, and commit this change on its own\n".to_owned(),
    };
    Ok(report)
}

/// What changed in the chapter where the journey starts, by path.
fn changed(ws: &Workspace, start: &Chapter) -> Result<BTreeMap<String, Change>> {
    let mut changes = BTreeMap::new();
    for path in CARRIED.map(|file| start.path(file)) {
        let texts = committed(ws, &path)?.zip(ws.tree.text(&path).map(str::to_owned));
        let change = texts.filter(|(before, after)| before != after);
        changes.extend(change.map(|change| (path, change)));
    }
    let name = &start.name;
    ensure!(
        !changes.is_empty(),
        "no carried file of {name} has changed since the last commit; edit it first"
    );
    Ok(changes)
}

impl Journey {
    /// The one that is asked for, or the one that waits.
    fn new(ws: &Workspace, chapter: Option<&str>) -> Result<Self> {
        let path = git::run(&ws.root, &["rev-parse", "--git-path", "xtask-replay"])?;
        let folder = ws.root.join(path.trim_end());
        if let Some(chapter) = chapter {
            let chapter = ws.chapter(chapter)?.name.clone();
            return Ok(Self {
                folder,
                chapter,
                stopped: None,
            });
        }
        let text = fs::read_to_string(folder.join("journey"));
        let text = text
            .ok()
            .context("no replay waits to be continued; start one with cargo x replay CHAPTER")?;
        let (chapter, stopped) = text.trim_end().split_once('\n').unwrap_or_default();
        let (chapter, stopped) = (chapter.to_owned(), Some(stopped.to_owned()));
        Ok(Self {
            folder,
            chapter,
            stopped,
        })
    }

    /// Merges the change of the base into a file; the text as it is then. A conflict is written down and left to a person.
    fn carry(
        &self,
        ws: &Workspace,
        base: &Chapter,
        (chapter, path): (&Chapter, &str),
        ours: &str,
        (before, after): &Change,
    ) -> Result<String> {
        let name = &base.name;
        let labels = [
            chapter.name.clone(),
            format!("{name} before"),
            format!("{name} changed"),
        ];
        let texts = settle::settled([ours, before, after]);
        let (merged, conflicts) = merge(&self.folder, &texts, &labels)?;
        if merged != ours {
            fs::write(ws.root.join(path), &merged).with_context(|| format!("writing {path}"))?;
        }
        if conflicts {
            let text = format!("{}\n{path}\n", self.chapter);
            fs::write(self.folder.join("journey"), text).context("noting where it stopped")?;
            bail!(
                "{path} conflicts with the change of {name}; resolve the markers in that file, commit nothing, and run {CONTINUE}"
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
        now.is_none() || committed(ws, path)?.as_deref() == now,
        "{path} has changes that are not committed; commit them before a replay"
    );
    Ok(())
}

/// The text of a file as it is committed; `None` when it is not.
fn committed(ws: &Workspace, path: &str) -> Result<Option<String>> {
    let shown = git::output(&ws.root, &["show", &format!("HEAD:./{path}")])?;
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    Ok(shown.status.success().then_some(text))
}

const CONTINUE: &str = "cargo x replay --continue";

fn has_markers(text: &str) -> bool {
    const MARKERS: [&str; 3] = ["<<<<<<< ", "||||||| ", ">>>>>>> "];
    text.lines()
        .any(|line| MARKERS.iter().any(|marker| line.starts_with(marker)))
}

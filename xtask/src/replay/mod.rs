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

use anyhow::{Context, Result, bail, ensure};

use crate::git;
use crate::step::Count;
use crate::workspace::{CARRIED, Chapter, Workspace};

const CONTINUE: &str = "cargo x replay --continue";

/// Carries what is changed in a chapter and not committed yet, and says what became of each file; without a chapter it goes on
/// after a conflict.
///
/// # Errors
/// When there is nothing to carry, a file on the way has uncommitted changes, or a merge conflicts: the message names
/// the chapter and the file, and says how to go on.
pub fn run(ws: &Workspace, chapter: Option<&str>) -> Result<String> {
    // The files that a person has resolved, a line each; in git's own directory, which is never committed.
    let notes = git::run(&ws.root, &["rev-parse", "--git-path", "xtask-replay"])?;
    let notes = ws.root.join(notes.trim_end());
    let mut texts = texts(ws)?;
    let (start, resolved) = match chapter {
        Some(chapter) => (start(ws, chapter, &texts)?, String::new()),
        None => {
            let resolved = fs::read_to_string(&notes).unwrap_or_default();
            let start = ws.chapters.iter().find(|it| is_changed(it, &texts));
            let start = start.filter(|_| !resolved.is_empty());
            let anew = "no replay waits to be continued; start one with cargo x replay CHAPTER";
            (start.context(anew)?, resolved)
        }
    };
    let mut report = String::new();
    for (chapter, file, now) in ws.carried().filter(|(it, ..)| it.number > start.number) {
        let path = chapter.path(file);
        let origin = ws.origin(chapter, file);
        let change = origin.and_then(|origin| Some((origin, texts.get(&origin.path(file))?)));
        let change = change.filter(|(_, (before, after))| before != after);
        let Some((origin, change)) = change else {
            continue;
        };
        let ours = texts[&path].0.clone();
        let after = if ours != now || resolved.lines().any(|line| line == path) {
            let open = "still holds conflict markers; resolve them, then run";
            ensure!(!has_markers(now), "{path} {open} {CONTINUE}");
            now.to_owned()
        } else {
            let (merged, conflicts) = merge([&chapter.name, &origin.name], &ours, change)?;
            if merged != ours {
                let written = fs::write(ws.root.join(&path), &merged);
                written.with_context(|| format!("writing {path}"))?;
            }
            if conflicts {
                let noted = fs::write(&notes, format!("{resolved}{path}\n"));
                noted.context("noting where it stopped")?;
                let name = &origin.name;
                let how = "resolve the markers in that file, commit nothing, and run";
                bail!("{path} conflicts with the change of {name}; {how} {CONTINUE}");
            }
            merged
        };
        report += &match Count::between(&ours, &after) {
            count if count.changed() == 0 => format!("{path}: unchanged\n"),
            count => format!("{path}: {count}\n"),
        };
        texts.insert(path, (ours, after));
    }
    if notes.exists() {
        fs::remove_file(&notes).context("forgetting the replay")?;
    }
    report += &match report.as_str() {
        "" => format!("no later chapter is diffed against {}\n", start.name),
        _ => "run cargo fmt --all and cargo x ci, and commit this change on its own\n".to_owned(),
    };
    Ok(report)
}

/// The carried files of all chapters, by path: as they are committed, and as they are now.
type Texts = BTreeMap<String, (String, String)>;

fn texts(ws: &Workspace) -> Result<Texts> {
    let text = |(chapter, file, now): (&Chapter, &str, &str)| {
        let path = chapter.path(file);
        let shown = git::output(&ws.root, &["show", &format!("HEAD:./{path}")])?;
        // Of a chapter that is not committed yet, nothing is.
        let committed = String::from_utf8_lossy(&shown.stdout).into_owned();
        Ok((path, (committed, now.to_owned())))
    };
    ws.carried().map(text).collect()
}

fn is_changed(chapter: &Chapter, texts: &Texts) -> bool {
    let mut files = CARRIED.iter().filter_map(|file| texts.get(&chapter.path(file)));
    files.any(|(before, after)| before != after)
}

/// The chapter where a replay starts: it is changed, and no later one is, which could not be told from one that is merged.
fn start<'a>(ws: &'a Workspace, chapter: &str, texts: &Texts) -> Result<&'a Chapter> {
    let start = ws.chapter(chapter)?;
    let name = &start.name;
    let unchanged = "has changed since the last commit; edit it first";
    ensure!(is_changed(start, texts), "no carried file of {name} {unchanged}");
    if let Some(Chapter { name, .. }) = ws.after(start).find(|it| is_changed(it, texts)) {
        bail!("{name} has changes that are not committed; commit them before a replay");
    }
    Ok(start)
}

/// `git merge-file` of a chapter's text with a change of its base: the merged text, and whether it has conflicts.
fn merge(
    [chapter, base]: [&str; 2],
    ours: &str,
    (before, after): &(String, String),
) -> Result<(String, bool)> {
    let folder = tempfile::tempdir().context("making a place to merge in")?;
    let labels = [chapter.to_owned(), format!("{base} before"), format!("{base} changed")];
    let mut args = vec!["merge-file", "-p", "--diff3"];
    for label in &labels {
        args.extend(["-L", label]);
    }
    let names = ["ours", "before", "after"];
    for (name, text) in names.iter().zip(settle::settled([ours, before, after])) {
        fs::write(folder.path().join(name), text).context("writing the texts to merge")?;
    }
    let output = git::output(folder.path(), &[&args[..], &names].concat())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // The exit status is the number of conflicts, 127 at most; above it git could not merge.
    match output.status.code() {
        Some(0) => Ok((settle::joined(&text), false)),
        // Behind a marker it would be lost; a person's `cargo fmt` puts it back.
        Some(1..=127) => Ok((text, true)),
        _ => bail!("git merge-file: {}", git::complaint(&output)),
    }
}

fn has_markers(text: &str) -> bool {
    const MARKERS: [&str; 3] = ["<<<<<<< ", "||||||| ", ">>>>>>> "];
    let is_one = |line: &str| MARKERS.iter().any(|marker| line.starts_with(marker));
    text.lines().any(is_one)
}

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
    let (start, mut resolved) = match chapter {
        Some(chapter) => (Some(ws.chapter(chapter)?), String::new()),
        None => (None, fs::read_to_string(&notes).unwrap_or_default()),
    };
    ensure!(
        start.is_some() || !resolved.is_empty(),
        "no replay waits to be continued; start one with cargo x replay CHAPTER"
    );
    let mut texts = texts(ws)?;
    let is_changed = |chapter: &Chapter| {
        let mut files = CARRIED
            .iter()
            .filter_map(|file| texts.get(&chapter.path(file)));
        files.any(|(before, after)| before != after)
    };
    let changed: Vec<_> = ws.chapters.iter().filter(|it| is_changed(it)).collect();
    if let Some(start) = start {
        ensure!(
            changed.contains(&start),
            "no carried file of {} has changed since the last commit; edit it first",
            start.name
        );
        if let Some(other) = changed.iter().find(|it| it.number > start.number) {
            let name = &other.name;
            bail!("{name} has changes that are not committed; commit them before a replay");
        }
    }
    let start = start.or(changed.first().copied());
    let start =
        start.context("nothing is changed any more; start anew with cargo x replay CHAPTER")?;
    let mut report = String::new();
    for (chapter, file) in ws
        .after(start)
        .flat_map(|chapter| CARRIED.map(|file| (chapter, file)))
    {
        let path = chapter.path(file);
        let base = ws.base(chapter).and_then(|base| ws.carrier(base, file));
        let change = base.and_then(|base| Some((base, texts.get(&base.path(file))?)));
        let change = change.filter(|(_, (before, after))| before != after);
        let (Some((base, change)), Some((ours, now))) = (change, texts.get(&path)) else {
            continue;
        };
        let after = if ours != now || resolved.lines().any(|line| line == path) {
            let open =
                format!("{path} still holds conflict markers; resolve them, then run {CONTINUE}");
            ensure!(!has_markers(now), open);
            now.clone()
        } else {
            let (merged, conflicts) = merge([&chapter.name, &base.name], ours, change)?;
            if merged != *ours {
                fs::write(ws.root.join(&path), &merged)
                    .with_context(|| format!("writing {path}"))?;
            }
            if conflicts {
                resolved += &format!("{path}\n");
                fs::write(&notes, resolved).context("noting where it stopped")?;
                let name = &base.name;
                bail!(
                    "{path} conflicts with the change of {name}; resolve the markers in that file, commit nothing, and run {CONTINUE}"
                );
            }
            merged
        };
        report += &match Count::between(ours, &after) {
            count if count.changed() == 0 => format!("{path}: unchanged\n"),
            count => format!("{path}: {count}\n"),
        };
        let ours = ours.clone();
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
fn texts(ws: &Workspace) -> Result<BTreeMap<String, (String, String)>> {
    let mut texts = BTreeMap::new();
    for path in ws
        .chapters
        .iter()
        .flat_map(|chapter| CARRIED.map(|file| chapter.path(file)))
    {
        if let Some(now) = ws.tree.text(&path) {
            let shown = git::output(&ws.root, &["show", &format!("HEAD:./{path}")])?;
            // Of a chapter that is not committed yet, nothing is.
            let committed = String::from_utf8_lossy(&shown.stdout).into_owned();
            texts.insert(path, (committed, now.to_owned()));
        }
    }
    Ok(texts)
}

/// `git merge-file` of a chapter's text with a change of its base: the merged text, and whether it has conflicts.
fn merge(
    [chapter, base]: [&str; 2],
    ours: &str,
    (before, after): &(String, String),
) -> Result<(String, bool)> {
    let folder = tempfile::tempdir().context("making a place to merge in")?;
    let labels = [
        chapter.to_owned(),
        format!("{base} before"),
        format!("{base} changed"),
    ];
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
    text.lines()
        .any(|line| MARKERS.iter().any(|marker| line.starts_with(marker)))
}

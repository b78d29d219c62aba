//! `cargo x replay s03`: a change of skeleton travels from the chapter that introduces it to every later one.
//!
//! Each chapter is merged with what changed in the chapter it is diffed against, so steps between chapters stay what
//! they were. Git does the merging. A conflict stops the journey; `--continue` goes on when it is resolved.
//! Invariant: before a merge a file is as committed, so what was merged can always be told from what was not.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

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
    for chapter in ws
        .chapters
        .iter()
        .filter(|chapter| chapter.number > start.number)
    {
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
        let later = self
            .ws
            .chapters
            .iter()
            .filter(|chapter| chapter.number > start.number);
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
            let line = format!(
                "{path}: {}, merged before\n",
                Count::between(&before, &after)
            );
            self.changes.insert(path, Change { before, after });
            return Ok(line);
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
        let count = Count::between(&before, &merge.text);
        self.changes.insert(
            path.clone(),
            Change {
                before,
                after: merge.text,
            },
        );
        Ok(if count.changed() == 0 {
            format!("{path}: unchanged\n")
        } else {
            format!("{path}: {count}\n")
        })
    }

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
        let root = &self.ws.root;
        git::run(
            root,
            &[
                "rev-parse",
                "--verify",
                "--quiet",
                &format!("{commit}^{{commit}}"),
            ],
        )
        .with_context(|| format!("there is no commit {commit}"))?;
        let shown = git::output(root, &["show", &format!("{commit}:./{path}")])?;
        Ok(shown
            .status
            .success()
            .then(|| String::from_utf8_lossy(&shown.stdout).into_owned()))
    }
}

const CONTINUE: &str = "cargo x replay --continue";

/// A replay that waits for a person.
#[derive(Debug, PartialEq)]
struct Journey {
    chapter: String,
    commit: Option<String>,
    /// The files whose conflict was left to a person; they are taken as they are.
    settled: BTreeSet<String>,
}

/// The folder in git's own directory that keeps a waiting replay and the three texts of a merge.
struct Notes {
    folder: PathBuf,
}

struct Merge {
    text: String,
    conflicts: bool,
}

impl Notes {
    fn new(ws: &Workspace) -> Result<Self> {
        let path = git::run(&ws.root, &["rev-parse", "--git-path", "xtask-replay"])?;
        Ok(Self {
            folder: ws.root.join(path.trim_end()),
        })
    }

    fn load(&self) -> Result<Journey> {
        let text = fs::read_to_string(self.folder.join("journey"))
            .context("no replay waits to be continued")?;
        let mut lines = text.lines().map(str::to_owned);
        Ok(Journey {
            chapter: lines.next().unwrap_or_default(),
            commit: lines.next().filter(|commit| !commit.is_empty()),
            settled: lines.collect(),
        })
    }

    fn save(&self, journey: &Journey) -> Result<()> {
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

    fn forget(&self) -> Result<()> {
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder).context("forgetting the replay")?;
        }
        Ok(())
    }

    /// Applies `change` to `ours`, as `git merge-file` does it.
    fn merge(&self, ours: &str, change: &Change, labels: &[String; 3]) -> Result<Merge> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    /// A main.rs whose lines stand apart enough for git to merge changes of each.
    fn loop_of(chapter: &str, prompt: &str, answer: &str) -> String {
        format!(
            "//! {chapter}\n\nuse a;\n\nfn turn() {{\n    {prompt}\n\n    call();\n\n    {answer}\n}}\n"
        )
    }

    /// Four chapters in a real git checkout: s02 and s03 follow s01, s04 follows s03.
    struct Course {
        folder: tempfile::TempDir,
    }

    impl Course {
        fn new() -> Self {
            let course = Self {
                folder: tempfile::tempdir().unwrap(),
            };
            let names = [
                ("s01_loop", ""),
                ("s02_tools", "s01_loop"),
                ("s03_permission", "s01_loop"),
                ("s04_hooks", "s03_permission"),
            ];
            let members = names.map(|(name, _)| format!("{name:?}")).join(", ");
            course.write(
                "Cargo.toml",
                &format!("[workspace]\nmembers = [{members}]\n"),
            );
            for (name, base) in names {
                let base = if base.is_empty() {
                    String::new()
                } else {
                    format!("base = {base:?}")
                };
                course.write(
                    &format!("{name}/Cargo.toml"),
                    &fixture::manifest(name, &base, ""),
                );
                course.write(&main_of(name), &loop_of(&name[..3], "ask();", "answer();"));
            }
            course.git(&["init", "--quiet"]);
            course.commit();
            course
        }

        fn write(&self, path: &str, text: &str) {
            let path = self.folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn read(&self, name: &str) -> String {
            fs::read_to_string(self.folder.path().join(main_of(name))).unwrap()
        }

        fn git(&self, args: &[&str]) -> String {
            git::run(self.folder.path(), args).unwrap()
        }

        fn commit(&self) {
            self.git(&["add", "."]);
            let author = [
                "-c",
                "user.name=ada",
                "-c",
                "user.email=ada@example.com",
                "-c",
                "commit.gpgsign=false",
            ];
            self.git(&[&author[..], &["commit", "--quiet", "-m", "a step"]].concat());
        }

        /// The paths that differ from the last commit.
        fn changed(&self) -> Vec<String> {
            self.git(&["diff", "--name-only"])
                .lines()
                .map(str::to_owned)
                .collect()
        }

        fn replay(&self, request: &Request) -> Result<String> {
            run(&Workspace::find(self.folder.path())?, request)
        }
    }

    fn main_of(name: &str) -> String {
        format!("{name}/src/main.rs")
    }

    fn from(chapter: &str) -> Request {
        Request {
            chapter: Some(chapter.to_owned()),
            ..Request::default()
        }
    }

    #[test]
    fn a_change_travels_to_every_chapter_that_follows_and_keeps_what_they_changed() {
        let course = Course::new();
        course.write(
            "s03_permission/src/main.rs",
            &loop_of("s03", "ask();", "allowed();"),
        );
        course.write(
            "s04_hooks/src/main.rs",
            &loop_of("s04", "ask();", "allowed();"),
        );
        course.commit();
        course.write(
            "s01_loop/src/main.rs",
            &loop_of("s01", "listen();", "answer();"),
        );

        let report = course.replay(&from("s01")).unwrap();

        assert_eq!(
            course.read("s02_tools"),
            loop_of("s02", "listen();", "answer();")
        );
        assert_eq!(
            course.read("s03_permission"),
            loop_of("s03", "listen();", "allowed();")
        );
        assert_eq!(
            course.read("s04_hooks"),
            loop_of("s04", "listen();", "allowed();")
        );
        assert!(
            report.starts_with("s02_tools/src/main.rs: +1 −1\ns03_permission/src/main.rs: +1 −1\n"),
            "{report}"
        );
    }

    #[test]
    fn only_the_chapters_that_follow_the_changed_one_are_touched() {
        let course = Course::new();
        course.write(
            "s03_permission/src/main.rs",
            &loop_of("s03", "listen();", "answer();"),
        );

        course.replay(&from("s03")).unwrap();

        assert_eq!(
            course.changed(),
            ["s03_permission/src/main.rs", "s04_hooks/src/main.rs"]
        );
    }

    #[test]
    fn a_committed_change_travels_too() {
        let course = Course::new();
        course.write(
            "s01_loop/src/main.rs",
            &loop_of("s01", "listen();", "answer();"),
        );
        course.commit();

        let request = Request {
            commit: Some("HEAD".to_owned()),
            ..from("s01")
        };
        course.replay(&request).unwrap();

        assert_eq!(
            course.changed(),
            [
                "s02_tools/src/main.rs",
                "s03_permission/src/main.rs",
                "s04_hooks/src/main.rs"
            ]
        );
    }

    #[test]
    fn a_dry_run_writes_nothing() {
        let course = Course::new();
        course.write(
            "s01_loop/src/main.rs",
            &loop_of("s01", "listen();", "answer();"),
        );

        let report = course
            .replay(&Request {
                dry_run: true,
                ..from("s01")
            })
            .unwrap();

        assert!(
            report.ends_with("s04_hooks/src/main.rs: +1 −1\nnothing is written (--dry-run)\n"),
            "{report}"
        );
        assert_eq!(course.changed(), ["s01_loop/src/main.rs"]);
    }

    #[test]
    fn a_conflict_stops_in_one_file_and_the_journey_goes_on_when_it_is_resolved() {
        let course = Course::new();
        course.write(
            "s03_permission/src/main.rs",
            &loop_of("s03", "ask_first();", "answer();"),
        );
        course.commit();
        course.write(
            "s01_loop/src/main.rs",
            &loop_of("s01", "listen();", "answer();"),
        );

        let error = course.replay(&from("s01")).unwrap_err().to_string();

        assert!(
            error.starts_with("s03_permission/src/main.rs conflicts with the change of s01_loop;"),
            "{error}"
        );
        assert!(error.ends_with("run cargo x replay --continue"), "{error}");
        assert!(
            course
                .read("s03_permission")
                .contains("<<<<<<< s03_permission\n")
        );
        assert_eq!(
            course.changed(),
            [
                "s01_loop/src/main.rs",
                "s02_tools/src/main.rs",
                "s03_permission/src/main.rs"
            ]
        );

        let unresolved = course.replay(&Request::default()).unwrap_err().to_string();
        assert!(
            unresolved.contains("s03_permission/src/main.rs still holds conflict markers"),
            "{unresolved}"
        );

        course.write(
            "s03_permission/src/main.rs",
            &loop_of("s03", "listen_first();", "answer();"),
        );
        let error = course.replay(&Request::default()).unwrap_err().to_string();
        assert!(
            error.starts_with("s04_hooks/src/main.rs conflicts with the change of s03_permission;"),
            "{error}"
        );

        // Resolved to what it was: the change does not concern this chapter.
        course.write(
            "s04_hooks/src/main.rs",
            &loop_of("s04", "ask();", "answer();"),
        );
        course.replay(&Request::default()).unwrap();
        assert_eq!(
            course.read("s02_tools"),
            loop_of("s02", "listen();", "answer();")
        );
        assert_eq!(
            course.read("s04_hooks"),
            loop_of("s04", "ask();", "answer();")
        );

        let done = course.replay(&Request::default()).unwrap_err().to_string();
        assert!(done.starts_with("no replay waits"), "{done}");
    }

    #[test]
    fn a_file_with_changes_of_its_own_is_not_merged_over() {
        let course = Course::new();
        course.write(
            "s01_loop/src/main.rs",
            &loop_of("s01", "listen();", "answer();"),
        );
        course.write(
            "s04_hooks/src/main.rs",
            &loop_of("s04", "ask();", "begun();"),
        );

        let error = course.replay(&from("s01")).unwrap_err().to_string();

        assert!(
            error.starts_with("s04_hooks/src/main.rs has changes that are not committed"),
            "{error}"
        );
        assert_eq!(
            course.changed(),
            ["s01_loop/src/main.rs", "s04_hooks/src/main.rs"]
        );
    }

    #[test]
    fn without_a_change_there_is_nothing_to_carry() {
        let course = Course::new();

        let error = course.replay(&from("s01")).unwrap_err().to_string();

        assert!(
            error.starts_with("the working tree changes no carried file of s01_loop"),
            "{error}"
        );
    }
}

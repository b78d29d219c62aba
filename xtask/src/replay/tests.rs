//! Replays in real git checkouts: what travels, what stays, and what a conflict leaves behind.

use std::fs;

use anyhow::Result;

use super::run;
use crate::git;
use crate::tests::fixture;
use crate::workspace::Workspace;

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

    fn replay(&self, chapter: Option<&str>) -> Result<String> {
        run(&Workspace::find(self.folder.path())?, chapter)
    }
}

fn main_of(name: &str) -> String {
    format!("{name}/src/main.rs")
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

    let report = course.replay(Some("s01")).unwrap();

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

    course.replay(Some("s03")).unwrap();

    assert_eq!(
        course.changed(),
        ["s03_permission/src/main.rs", "s04_hooks/src/main.rs"]
    );
}

/// A course in which s03 asks in its own way, and s01 has just changed how it asks.
fn course_with_a_conflict() -> Course {
    let course = Course::new();
    course.write(
        &main_of("s03_permission"),
        &loop_of("s03", "ask_first();", "answer();"),
    );
    course.commit();
    course.write(
        &main_of("s01_loop"),
        &loop_of("s01", "listen();", "answer();"),
    );
    course
}

#[test]
fn a_conflict_stops_in_one_file_and_says_how_to_go_on() {
    let course = course_with_a_conflict();

    let error = course.replay(Some("s01")).unwrap_err().to_string();

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
}

#[test]
fn a_replay_goes_on_when_the_conflict_is_resolved() {
    let course = course_with_a_conflict();
    course.replay(Some("s01")).unwrap_err();

    let unresolved = course.replay(None).unwrap_err().to_string();
    assert!(
        unresolved.starts_with("s03_permission/src/main.rs still holds conflict markers"),
        "{unresolved}"
    );

    course.write(
        &main_of("s03_permission"),
        &loop_of("s03", "listen_first();", "answer();"),
    );
    let second = course.replay(None).unwrap_err().to_string();
    assert!(
        second.starts_with("s04_hooks/src/main.rs conflicts with the change of s03_permission;"),
        "{second}"
    );

    // Resolved to what it was: the change does not concern this chapter.
    let kept = loop_of("s04", "ask();", "answer();");
    course.write(&main_of("s04_hooks"), &kept);
    course.replay(None).unwrap();
    assert_eq!(
        course.read("s02_tools"),
        loop_of("s02", "listen();", "answer();")
    );
    assert_eq!(course.read("s04_hooks"), kept);

    let done = course.replay(None).unwrap_err().to_string();
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

    let error = course.replay(Some("s01")).unwrap_err().to_string();

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

    let error = course.replay(Some("s01")).unwrap_err().to_string();

    assert!(
        error.starts_with("no carried file of s01_loop has changed since the last commit"),
        "{error}"
    );
}

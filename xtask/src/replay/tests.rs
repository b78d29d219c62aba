//! Replays in real git checkouts: what travels, what stays, and what a conflict leaves behind.

use std::fs;

use super::run;
use crate::git;
use crate::tests::fixture;
use crate::workspace::Workspace;

/// A main.rs whose lines stand apart enough for git to merge changes of each.
fn loop_of(chapter: &str, prompt: &str, answer: &str) -> String {
    let chapter = &chapter[..3];
    format!(
        "//! {chapter}\n\nuse a;\n\nfn turn() {{\n    {prompt}();\n\n    call();\n\n    {answer}();\n}}\n"
    )
}

/// Four chapters in a real git checkout: s02 and s03 follow s01, s04 follows s03.
struct Course(tempfile::TempDir);

const NAMES: [&str; 4] = ["s01_loop", "s02_tools", "s03_permission", "s04_hooks"];
const BASES: [&str; 4] = ["none", "s01_loop", "s01_loop", "s03_permission"];

impl Course {
    fn new() -> Self {
        let course = Self(tempfile::tempdir().unwrap());
        course.write("Cargo.toml", &format!("[workspace]\nmembers = {NAMES:?}\n"));
        for (name, base) in NAMES.iter().zip(BASES) {
            let metadata = format!("adds = \"more\"\nbase = {base:?}");
            let manifest = fixture::manifest(name, &metadata, "");
            course.write(&format!("{name}/Cargo.toml"), &manifest);
            course.set(name, "ask", "answer");
        }
        course.git(&["init", "--quiet"]);
        course.commit();
        course
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn set(&self, name: &str, prompt: &str, answer: &str) {
        self.write(&format!("{name}/src/main.rs"), &loop_of(name, prompt, answer));
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name).join("src/main.rs")).unwrap()
    }

    fn git(&self, args: &[&str]) -> String {
        let author = ["-c", "user.name=ada", "-c", "user.email=ada@example.com"];
        git::run(self.0.path(), &[&author[..], args].concat()).unwrap()
    }

    fn commit(&self) {
        self.git(&["add", "."]);
        self.git(&["-c", "commit.gpgsign=false", "commit", "--quiet", "-m", "a step"]);
    }

    /// The chapters that differ from the last commit.
    fn changed(&self) -> Vec<String> {
        let paths = self.git(&["diff", "--name-only"]);
        paths.lines().map(|path| path[..3].to_owned()).collect()
    }

    /// Replays, or goes on; the report, or what stopped it.
    fn replay(&self, chapter: Option<&str>) -> Result<String, String> {
        let ws = Workspace::find(self.0.path()).unwrap();
        run(&ws, chapter).map_err(|error| error.to_string())
    }
}

#[test]
fn a_change_travels_to_every_chapter_that_follows_and_keeps_what_they_changed() {
    let course = Course::new();
    course.set("s03_permission", "ask", "allowed");
    course.set("s04_hooks", "ask", "allowed");
    course.commit();
    course.set("s01_loop", "listen", "answer");

    let report = course.replay(Some("s01")).unwrap();

    let answers = ["answer", "answer", "allowed", "allowed"];
    for (name, answer) in NAMES.iter().zip(answers) {
        assert_eq!(course.read(name), loop_of(name, "listen", answer));
    }
    let start = "s02_tools/src/main.rs: +1 −1\ns03_permission/src/main.rs: +1 −1\n";
    assert!(report.starts_with(start), "{report}");
    course.commit();

    // Only the chapters that follow the changed one are touched.
    course.set("s03_permission", "hear", "allowed");
    course.replay(Some("s03")).unwrap();
    assert_eq!(course.changed(), ["s03", "s04"]);
}

#[test]
fn a_conflict_stops_in_one_file_until_it_is_resolved() {
    let course = Course::new();
    course.set("s03_permission", "ask_first", "answer");
    course.commit();
    course.set("s01_loop", "listen", "answer");

    let stopped = course.replay(Some("s01")).unwrap_err();
    let start = "s03_permission/src/main.rs conflicts with the change of s01_loop;";
    assert!(stopped.starts_with(start), "{stopped}");
    assert!(stopped.ends_with("run cargo x replay --continue"), "{stopped}");
    assert!(course.read("s03_permission").contains("<<<<<<< s03_permission\n"));
    assert_eq!(course.changed(), ["s01", "s02", "s03"]);
    let open = course.replay(None).unwrap_err();
    let start = "s03_permission/src/main.rs still holds conflict markers";
    assert!(open.starts_with(start), "{open}");

    course.set("s03_permission", "listen_first", "answer");
    let second = course.replay(None).unwrap_err();
    let start = "s04_hooks/src/main.rs conflicts with the change of s03_permission;";
    assert!(second.starts_with(start), "{second}");

    // Resolved to what it was: the change does not concern this chapter.
    course.set("s04_hooks", "ask", "answer");
    course.replay(None).unwrap();
    assert_eq!(course.changed(), ["s01", "s02", "s03"]);
    let done = course.replay(None).unwrap_err();
    assert!(done.starts_with("no replay waits"), "{done}");
}

#[test]
fn what_cannot_be_carried_is_told_and_nothing_is_merged_over() {
    let course = Course::new();
    let nothing = course.replay(Some("s01")).unwrap_err();
    let start = "no carried file of s01_loop has changed since the last commit";
    assert!(nothing.starts_with(start), "{nothing}");

    course.set("s01_loop", "listen", "answer");
    course.set("s04_hooks", "ask", "begun");
    let refused = course.replay(Some("s01")).unwrap_err();
    assert!(refused.starts_with("s04_hooks has changes that are not committed"), "{refused}");
    assert_eq!(course.changed(), ["s01", "s04"]);
}

//! A process that is killed while it writes memories.
//!
//! Invariant: at any moment every file is whole, a half-done swap included; whoever comes next finds all that was kept.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio, id};
use std::sync::atomic::{AtomicUsize, Ordering};

use mock_servers::model::{Brain, MockModel, Options, Reply, Request, says};
use serde_json::{Value, json};

use crate::stage::{CONSOLIDATE, Stage, entry, turn};
use crate::together::question;

const FOLDER: &str = "MEMORY_TEST_FOLDER";
const KILLS: usize = 30;
const FOLDERS: [&str; 4] = [
    "memory",
    "memory.swap/before",
    "memory.swap/after",
    "memory.old",
];
/// How every content ends, so that a half is told from a whole.
const END: &str = "That is all.";

/// Has a lesson each time, and rewrites all of them when it is asked to consolidate.
#[derive(Default)]
struct Teacher(AtomicUsize);

impl Brain for Teacher {
    fn answer(&self, request: &Request) -> Reply {
        if request.system.starts_with(CONSOLIDATE) {
            return says(question(request).replace("Lesson.", "Lesson, consolidated."));
        }
        let number = self.0.fetch_add(1, Ordering::Relaxed);
        let name = format!("lesson {} {number}", id());
        let content = format!(
            "Lesson. {}{name}. {END}",
            "Tea takes its time. ".repeat(100)
        );
        says(json!([entry(&name, &content)]).to_string())
    }
}

/// What the other process does; nothing when the test program runs by itself.
#[tokio::test]
async fn worker() {
    let Ok(folder) = std::env::var(FOLDER) else {
        return;
    };
    let model = MockModel::start(Options::strict(), Teacher::default()).unwrap();
    let stage = Stage::with(model);
    let memory = stage.memory_in(Path::new(&folder));
    for number in 0.. {
        memory.learn(&turn()).await;
        println!("\nkept lesson-{}-{number}.md", id());
    }
}

#[test]
fn whoever_is_killed_leaves_whole_files_and_all_that_was_kept() {
    let stage = Stage::new();
    let mut kept = Vec::new();
    for round in 0..KILLS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "killed::worker", "--nocapture"])
            .env(FOLDER, stage.dir.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut lessons =
            lines.filter_map(|line| Some(line.unwrap().strip_prefix("kept ")?.to_owned()));
        // The pipe stays open: a write into a closed one would end the process before we do.
        kept.extend(lessons.by_ref().take(1 + round % 2));
        if round % 3 > 0 {
            wait_for_a_write(&stage);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        is_whole(&stage, &FOLDERS);
    }
    stage.memory();
    is_whole(&stage, &FOLDERS);
    let names = stage.names();
    let lost: Vec<_> = kept.iter().filter(|name| !names.contains(name)).collect();
    assert_eq!(lost, [""; 0]);
    let index = stage.read("memory/MEMORY.md");
    let listed = |name: &&String| index.matches(&format!("]({name})")).count() == 1;
    assert_eq!(names.iter().filter(listed).count(), index.lines().count());
    assert!(!stage.path("memory.swap").exists());
}

/// Returns in the middle of a write or a swap, or after a while in which none was seen. A reader sees whole files meanwhile.
fn wait_for_a_write(stage: &Stage) {
    let temporary = || -> BTreeSet<OsString> {
        let files = fs::read_dir(stage.path("memory")).into_iter().flatten();
        let names = files.flatten().map(|file| file.file_name());
        let is_temporary = |name: &OsString| name.to_string_lossy().starts_with(".write-");
        names.filter(is_temporary).collect()
    };
    let left = temporary();
    let is_swapping =
        || ["memory.new", "memory.swap"].map(|name| stage.path(name).exists()) != [false; 2];
    for _ in 0..100 {
        if is_swapping() || !temporary().is_subset(&left) {
            return;
        }
        is_whole(stage, &["memory"]);
    }
}

fn is_whole(stage: &Stage, folders: &[&str]) {
    let texts = folders.iter().flat_map(|folder| stage.files(folder));
    for (name, text) in texts {
        let is_whole = text.starts_with("---\n") && text.ends_with(&format!("{END}\n"));
        assert!(is_whole, "{name}: {text}");
    }
    let read = |name: &str| fs::read_to_string(stage.path(name)).ok();
    if let Some(index) = read("memory/MEMORY.md") {
        let is_line = |line: &str| line.starts_with("- [lesson ") && line.ends_with('\n');
        assert!(
            !index.is_empty() && index.split_inclusive('\n').all(is_line),
            "{index}"
        );
    }
    if let Some(notes) = read("memory/.index.json") {
        assert!(serde_json::from_str::<Value>(&notes).is_ok(), "{notes}");
    }
}

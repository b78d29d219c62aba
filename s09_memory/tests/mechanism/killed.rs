//! A process that is killed while it writes memories.
//!
//! Invariant: at any moment every file is whole, and what was kept stands in one of them, also in the middle of a
//! consolidation.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio, id};
use std::sync::atomic::{AtomicUsize, Ordering};

use mock_servers::model::{Block, Brain, MockModel, Options, Reply, Request, says};
use serde_json::{Value, json};

use crate::stage::{CONSOLIDATE, Stage, entry, turn};

const FOLDER: &str = "MEMORY_TEST_FOLDER";
const KILLS: usize = 30;
/// How every content ends, so that a half is told from a whole.
const END: &str = "That is all.";

/// Has a lesson each time, and makes two memories one when it is asked to consolidate.
#[derive(Default)]
struct Teacher(AtomicUsize);

impl Brain for Teacher {
    fn answer(&self, request: &Request) -> Reply {
        if request.system.starts_with(CONSOLIDATE) {
            return says(merged(request).to_string());
        }
        let name = format!("lesson {} {}", id(), self.0.fetch_add(1, Ordering::Relaxed));
        says(json!([entry(&name, &format!("{name}. {END}"))]).to_string())
    }
}

/// The set that was sent, the contents of the last two in one.
fn merged(request: &Request) -> Value {
    let [Block::Text(text)] = request.messages[0].blocks.as_slice() else {
        panic!("the question is one text");
    };
    let set = text.trim_start_matches("<memories>");
    let mut set: Vec<Value> = serde_json::from_str(set.trim_end_matches("</memories>")).unwrap();
    let (last, kept) = (set.pop().unwrap(), set.last_mut().unwrap());
    kept["content"] = [&kept["content"], &last["content"]]
        .map(|content| content.as_str().unwrap())
        .join("\n")
        .into();
    set.into()
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
        println!("\nkept lesson {} {number}.", id());
    }
}

#[test]
fn whoever_is_killed_leaves_whole_files_and_all_that_was_kept() {
    let stage = Stage::new();
    let mut kept = Vec::new();
    for round in 0..KILLS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "mechanism::killed::worker", "--nocapture"])
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
        is_whole(&stage);
    }
    stage.memory();
    is_whole(&stage);
    assert!(stage.path("memory.old").exists(), "nothing was consolidated");
    let files = stage.files("memory");
    let all: String = files.values().map(String::as_str).collect();
    let lost: Vec<_> = kept.iter().filter(|lesson| !all.contains(*lesson)).collect();
    assert_eq!(lost, [""; 0]);
    let index = stage.read("memory/MEMORY.md");
    let listed = |name: &&String| index.matches(&format!("]({name})")).count() == 1;
    assert_eq!(files.keys().filter(listed).count(), index.lines().count());
}

/// Returns in the middle of a write, or after a while in which none was seen. A reader sees whole files meanwhile.
fn wait_for_a_write(stage: &Stage) {
    let temporary = || {
        let files = fs::read_dir(stage.path("memory")).into_iter().flatten();
        let names = files.flatten().map(|file| file.file_name());
        names.filter(|name| name.to_string_lossy().starts_with(".write-")).count()
    };
    let left = temporary();
    for _ in 0..100 {
        if temporary() > left {
            return;
        }
        is_whole(stage);
    }
}

fn is_whole(stage: &Stage) {
    let texts = ["memory", "memory.old"].map(|folder| stage.files(folder));
    for (name, text) in texts.iter().flatten() {
        let is_whole = text.starts_with("---\n") && text.ends_with(&format!("{END}\n"));
        assert!(is_whole, "{name}: {text}");
    }
    let read = |name: &str| fs::read_to_string(stage.path(name)).ok();
    if let Some(index) = read("memory/MEMORY.md") {
        let is_line = |line: &str| line.starts_with("- [lesson ") && line.ends_with('\n');
        assert!(index.split_inclusive('\n').all(is_line), "{index}");
    }
    if let Some(state) = read("memory/.index.json") {
        assert!(serde_json::from_str::<Value>(&state).is_ok(), "{state}");
    }
}

//! Half an hour in a few seconds: every tool, one conversation.
//!
//! Each mechanism has its tests and pairs of them have others; here all of them meet, in the order of a day. The player in
//! `src/story.rs` runs in a process of its own, as a session does. Invariants: every request of everybody is one that the
//! API takes; every tool is called and does what it says.

#[allow(
    dead_code,
    reason = "the agent is private to its file, so the file is a module here; its main stays unused"
)]
#[path = "../../../src/main.rs"]
mod chapter;
mod plot;
mod roles;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::env::current_exe;
use std::fs;

use mock_servers::model::{Block, MockModel, Options};
use serde_json::{Value, json};
use testkit::Class;

use plot::plot;
use roles::Cast;

use crate::teammate;

/// Each tool, and what one of its results says.
const EFFECTS: [(&str, &str); 29] = [
    ("bash", "job_1 runs in the background"),
    ("read_file", "A small project."),
    ("write_file", "created notes.txt"),
    ("edit_file", "notes.txt"),
    ("glob", "README.md"),
    ("todo_write", "2 of 2 completed"),
    ("task", "There are: "),
    ("load_skill", "<skill name=\"code-review\""),
    ("compact", "the conversation is summarized"),
    ("create_task", ": api (blocked by "),
    ("list_tasks", "schema"),
    ("get_task", "schema"),
    ("claim_task", " is yours: docs"),
    ("complete_task", " is completed: docs"),
    ("schedule_cron", "look at the board"),
    ("list_crons", "a happy new year"),
    ("cancel_cron", "cancelled cron_"),
    ("spawn_teammate", "alice is at work"),
    ("send_message", "sent to carol"),
    ("check_inbox", "no new mail"),
    ("request_shutdown", "asked carol to leave"),
    ("request_plan", "asked alice for a plan"),
    ("review_plan", "is approved"),
    ("create_worktree", ".harness/worktrees/one"),
    ("remove_worktree", "removed the worktree two"),
    ("keep_worktree", "kept .harness/worktrees/one"),
    ("connect_mcp", "Connected to 'library'. Discovered: search"),
    ("mcp__library__search", "loop"),
    // And one of the teammates' own.
    ("submit_plan", "; wait for the answer"),
];

/// What the user is shown on the way.
const SHOWN: [&str; 8] = [
    "messages summarized, ",
    "[left: nothing to do]",
    "(left as asked)",
    "[scheduled: look at the board]",
    "[scheduled: ring the bell]",
    "[remembered: tabs]",
    "[recalled: tabs]",
    "[job_1: echo built: finished, exit code 0]",
];

/// Small enough for a summary to be needed.
const WINDOW: u32 = 40_000;

/// A server that says under which number it can be killed.
const LIBRARY: &str = "echo $$ > library.pid; exec \"$0\" mock-mcp docs";

fn class(model: &MockModel) -> Class {
    let story: Vec<_> = plot().iter().map(|scene| scene.line).collect();
    let allowed = "bash connect_mcp remove_worktree edit_file write_file";
    let allowed: Vec<_> = allowed.split(' ').collect();
    let server = json!({"command": "sh", "args": ["-c", LIBRARY, env!("CARGO_BIN_EXE_s20_full")]});
    let ignored = ".harness/\nlibrary.pid\nstory.txt\n";
    Class::new(current_exe().expect("this program has a path"))
        .file("README.md", "# Demo\n\nA small project.\n")
        .file("report.txt", "All work and no play. ".repeat(1_200))
        .file(".gitignore", ignored)
        .file(
            ".mcp.json",
            json!({"mcpServers": {"library": server}}).to_string(),
        )
        .file(
            ".harness/settings.json",
            json!({"permissions": {"allow": allowed}}).to_string(),
        )
        .file("story.txt", story.join("\n"))
        .git()
        .model(model)
        .env("TZ", "UTC")
        .env("MODEL_CONTEXT_TOKENS", WINDOW.to_string())
        .arg("story::chapter::story::plays")
        .arg("--exact")
        .arg("--nocapture")
}

/// The tasks of the board by their subjects.
fn board(class: &Class) -> Value {
    let files = fs::read_dir(class.dir().join(".harness/tasks")).expect("there is a board");
    let texts = files.filter_map(|file| fs::read_to_string(file.unwrap().path()).ok());
    let tasks = texts.filter_map(|text| serde_json::from_str::<Value>(&text).ok());
    tasks
        .map(|task| {
            (
                task["subject"].as_str().unwrap_or_default().to_owned(),
                task,
            )
        })
        .collect()
}

/// The result of each call as the model first read it: the tool, whether it failed, what it said.
fn results(model: &MockModel) -> Vec<(String, bool, String)> {
    let (mut names, mut results) = (HashMap::new(), BTreeMap::new());
    for request in model.requests() {
        for block in request.messages.iter().flat_map(|message| &message.blocks) {
            match block {
                Block::ToolUse { id, name, .. } => {
                    names.insert(id.clone(), name.clone());
                }
                Block::ToolResult {
                    tool_use_id: id,
                    content,
                    is_error,
                } => {
                    let result = || (names[id].clone(), *is_error, content.clone());
                    results.entry(id.clone()).or_insert_with(result);
                }
                Block::Text(_) | Block::Other(_) => {}
            }
        }
    }
    results.into_values().collect()
}

#[track_caller]
fn every_tool_has_its_effect(model: &MockModel) {
    let results = results(model);
    for (tool, effect) in EFFECTS {
        let has_it = |(of, _, text): &&(String, _, String)| of == tool && text.contains(effect);
        let result = results.iter().find(has_it);
        let (_, is_error, _) = result.unwrap_or_else(|| panic!("{tool}: {effect:?}\n{results:#?}"));
        assert!(!is_error, "{tool}");
    }
    // Who has claimed a task before the lead asks for a plan is stopped at it.
    let is_gate = |text: &str| text.starts_with("the lead wants your plan first");
    let failed = results
        .iter()
        .filter(|(_, is_error, text)| *is_error && !is_gate(text));
    let failed: Vec<&str> = failed.map(|(tool, _, _)| tool.as_str()).collect();
    assert_eq!(
        failed,
        ["mcp__library__search"],
        "once, when the server was dead\n{results:#?}"
    );
}

#[track_caller]
fn the_work_is_done(class: &Class) {
    let tasks = board(class);
    for subject in ["schema", "api", "docs"] {
        assert_eq!(tasks[subject]["status"], "completed", "{tasks:#}");
    }
    assert_eq!(tasks["docs"]["owner"], "lead");
    assert_eq!(class.read("notes.txt"), "hello world\n");
    assert_eq!(class.read(".harness/worktrees/one/schema.txt"), "done\n");
    assert_eq!(
        class.read("api.txt"),
        "done\n",
        "merged before its worktree was removed"
    );
    assert!(!class.dir().join("schema.txt").exists(), "not merged");
    assert!(!class.dir().join(".harness/worktrees/two").exists());
    assert!(class.read(".harness/memory/MEMORY.md").contains("tabs"));
}

#[test]
fn half_an_hour_with_every_tool() {
    let cast = Cast::default();
    let options = Options {
        context_tokens: WINDOW,
        ..Options::strict()
    };
    let model = MockModel::start(options, cast.clone()).expect("loopback has a free port");
    let class = class(&model);
    let ran = class.types(&[]);
    ran.succeeds();
    assert_eq!(cast.unplayed(), Vec::<&str>::new(), "{}", ran.transcript());
    every_tool_has_its_effect(&model);
    the_work_is_done(&class);
    for shown in SHOWN {
        ran.shows(shown);
    }
    let looks = ran.stdout.matches("[scheduled: look at the board]").count();
    assert_eq!(
        looks,
        4,
        "at 5, 10, 15 and 20 minutes\n{}",
        ran.transcript()
    );
    let requests = model.requests();
    let team: BTreeSet<_> = requests
        .iter()
        .filter_map(|request| teammate(request))
        .collect();
    assert_eq!(Vec::from_iter(team), ["alice", "bob", "carol"]);
}

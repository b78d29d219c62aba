//! The lesson as a class sees it: a command that runs on, and a notice that comes by itself.

mod session;
mod terminal;

use std::path::Path;

use mock_servers::model::{MockModel, Options, Reply, Request, calls, says};
use serde_json::{Value, json};
use testkit::{Class, Ran, assert_pool};

const NOTICE: &str = "<task_notification>";

fn class() -> Class {
    // The prompts run cargo itself, and a class has a home without a toolchain.
    let cargo = Path::new(env!("CARGO")).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([cargo].into_iter().chain(std::env::split_paths(&path)));
    Class::new(env!("CARGO_BIN_EXE_s13_background"))
        .env("PATH", path.unwrap())
        .file("README.md", "# Demo\n\nA small project.\n")
        .file("Cargo.toml", "[package]\nname = \"demo\"\nversion = \"0.1.0\"\n")
        .file("hello.py", "print('hello')\n")
}

fn background(command: &str) -> Value {
    json!({"command": command, "run_in_background": true})
}

const FIND: &str =
    "Run cargo --version in the background and find all Python files in this directory";
const WAIT: &str = "Run sleep 2 && echo done in the background and while waiting, read Cargo.toml";
const TASK: &str = "Create a task to setup the project, then run cargo --version in the background";

/// Types these lines to the rehearsal model.
fn rehearse(lines: &[&str]) -> Ran {
    let model = MockModel::strict_rehearsal();
    let ran = class().model(&model).types(lines);
    ran.succeeds();
    ran
}

/// The texts of a request that are notices.
fn notices(request: &Request) -> Vec<String> {
    let texts = request.user_texts().into_iter();
    texts.filter(|text| text.starts_with(NOTICE)).collect()
}

/// Works until a notice has come.
fn until_noticed(request: &Request) -> Reply {
    match (request.messages.len(), notices(request).is_empty()) {
        (1, _) => calls("bash", background("echo built")),
        (_, true) => calls("read_file", json!({"path": "README.md"})),
        (_, false) => says("It has ended."),
    }
}

#[test]
fn started_and_left_it_leaves_no_trace() {
    testkit::leaves_no_trace(env!("CARGO_BIN_EXE_s13_background"));
}

/// The model refuses a text in front of a result.
#[test]
fn a_notice_reaches_a_running_turn_behind_the_results() {
    let model = MockModel::start(Options::strict(), until_noticed).unwrap();
    let ran = class().model(&model).types(&["go"]);
    ran.succeeds().shows("It has ended.");
    let notices = notices(&model.last_request());
    assert_eq!(notices.len(), 1, "{notices:?}");
    let ended = "status: finished, exit code 0\ncommand: echo built\n";
    assert!(notices[0].contains(ended), "{notices:?}");
}

#[test]
fn the_end_of_the_input_waits_for_the_job_and_its_notice() {
    let model = MockModel::scripted([
        calls("bash", background("echo built")),
        says("It runs."),
        says("It is ready."),
    ]);
    let ran = class().model(&model).asks("go");
    ran.succeeds()
        .shows("[job_1: echo built: finished, exit code 0]\n")
        .shows("It runs.\n")
        .shows("It is ready.\n");
    assert_eq!(notices(&model.last_request()).len(), 1);
}

#[test]
fn a_job_is_under_the_policy_and_the_hooks_as_any_command() {
    let settings = json!({
        "permissions": {"deny": ["bash(touch:*)"]},
        "hooks": {"PreToolUse": [{"matcher": "bash", "hooks": [
            {"type": "command", "command": "grep -q mkdir && { echo 'no folders' >&2; exit 2; } || exit 0"}]}]}
    });
    let model = MockModel::scripted([
        calls("bash", background("touch denied"))
            .and_calls("bash", background("mkdir blocked"))
            .and_calls("bash", background("cp README.md asked")),
        says("All refused."),
    ]);
    let class = class().file(".harness/settings.json", settings.to_string()).model(&model);
    class.types(&["go", "n"]).succeeds().shows("cp README.md asked");
    let results = model.last_request().results();
    assert!(results.iter().all(|(is_error, _)| *is_error), "{results:?}");
    for name in ["denied", "blocked", "asked", ".harness/outputs"] {
        assert!(!class.dir().join(name).exists(), "{name}");
    }
}

#[test]
fn a_file_is_read_while_a_slow_command_runs() {
    let ran = rehearse(&[WAIT]);
    ran.shows("Cargo.toml:\n```\n[package]\n");
    ran.shows("job_1 (`sleep 2 && echo done`) finished, exit code 0: done");
    let [read, done] =
        ["[package]", "finished, exit code 0: done"].map(|text| ran.stdout.find(text));
    assert!(read < done, "{}", ran.transcript());
}

#[test]
fn a_task_is_made_before_a_command_goes_to_the_background() {
    let ran = rehearse(&[TASK]);
    ran.shows(": setup the project\n");
    ran.shows("job_1 (`cargo --version`) finished, exit code 0: cargo ");
    let [made, begun] = ["> create_task", "> bash"].map(|text| ran.stdout.find(text));
    assert!(made < begun, "{}", ran.transcript());
}

#[test]
fn the_background_in_other_words() {
    for words in [
        FIND,
        "Start `cargo --version` as a background job and list the Python files",
        "find all Python files while cargo --version is running in the background",
    ] {
        let ran = rehearse(&[words]);
        ran.shows("> bash  run_in_background=true command=\"cargo --version\"");
        ran.shows("I found 1 Python file: ")
            .shows("hello.py")
            .shows("job_1 (`cargo --version`) finished, exit code 0: cargo ");
    }
    for words in [
        "run cargo --version",
        "read Cargo.toml and tell me what it is about",
        "look into background.txt",
    ] {
        rehearse(&[words]).never_shows("run_in_background");
    }
}

#[test]
fn the_tool_pool() {
    let model = MockModel::scripted([says("Hi.")]);
    class().model(&model).types(&["Hello"]).succeeds();
    let request = model.last_request();
    let names = request.tool_names();
    assert_pool(env!("CARGO_MANIFEST_DIR"), [("lead", names)]);
    let bash = &request.tools[0].input_schema;
    assert_eq!(bash["required"], json!(["command"]));
    assert_eq!(bash["properties"]["run_in_background"]["type"], "boolean");
}

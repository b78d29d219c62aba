//! The whole program, seen from outside: pairs of mechanisms that meet, the command line, slash commands, sessions.
//!
//! A chapter's tests cannot know what later chapters bring. Invariants: after whatever happened, the session goes on and
//! its next request is one that the API takes; nothing waits for a clock, commands that hang wait at a named pipe.

mod agents;
mod asked_once;
mod commands;
mod context;
mod interrupts;
mod kills;
mod secrets;
mod servers;
mod sessions;
mod story;

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use mock_servers::model::{Block, MockModel, Options, Reply, Request, Role, calls, says};
use serde_json::{Value, json};
use testkit::{Class, Terminal};

/// Longer than anything here takes; only a failure waits so long.
const PATIENCE: Duration = Duration::from_secs(30);
const PROMPT: &str = "s20 >>";
const QUESTION: &str = "[y]es / [a]lways / [N]o:";
/// A command that says so at the gate and then stays until somebody kills it.
const HANGS: &str = "exec 3> gate; sleep 1000";

/// A repository with a pipe called `gate`, in which these calls need no permission.
fn class(allowed: &[&str]) -> Class {
    let settings = json!({"permissions": {"allow": allowed}}).to_string();
    let class = Class::new(env!("CARGO_BIN_EXE_s20_full"))
        .file("README.md", "# Demo\n\nA small project.\n")
        .file(".harness/settings.json", settings)
        .git();
    let made = Command::new("mkfifo")
        .arg(class.dir().join("gate"))
        .status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo");
    class
}

/// A model that plays all agents as `plays` says; nothing is remembered.
fn model(plays: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> MockModel {
    model_with(Options::strict(), plays)
}

fn model_with(
    options: Options,
    plays: impl Fn(&Request) -> Reply + Send + Sync + 'static,
) -> MockModel {
    let brain = move |request: &Request| {
        if !is_side_call(request) {
            return plays(request);
        }
        let is_summary = request.system.starts_with("You summarize");
        says(if is_summary { "They talked." } else { "[]" })
    };
    MockModel::start(options, brain).expect("loopback has a free port")
}

fn is_side_call(request: &Request) -> bool {
    let begins = ["You choose", "You extract", "You summarize"];
    begins.iter().any(|begin| request.system.starts_with(begin))
}

/// Repeats what the user said last.
fn echo(request: &Request) -> Reply {
    let texts = request.user_texts();
    says(format!(
        "You said: {}",
        texts.last().map_or("", String::as_str)
    ))
}

/// A model that does, and a workspace beside it.
fn echoing() -> (MockModel, Class) {
    let model = model(echo);
    let class = class(&[]).model(&model);
    (model, class)
}

/// The requests of the lead, without side calls.
fn of_the_lead(model: &MockModel) -> Vec<Arc<Request>> {
    let mut requests = model.requests();
    requests.retain(|request| {
        !is_side_call(request) && !is_subagent(request) && teammate(request).is_none()
    });
    requests
}

/// What the user has said in the last request of the lead, with what came beside it.
fn last_texts(model: &MockModel) -> Vec<String> {
    of_the_lead(model).last().expect("a request").user_texts()
}

/// The session at its first prompt.
fn session(class: &Class) -> Terminal {
    let mut terminal = class.terminal(110, 50);
    terminal.wait_for(PROMPT);
    terminal
}

/// Waits until this stands on the screen and an empty prompt below it.
#[track_caller]
fn prompt_below(terminal: &mut Terminal, text: &str) {
    terminal.wait_until(&format!("a prompt below {text:?}"), |screen| {
        let below = screen.rsplit_once(text).map_or("", |(_, below)| below);
        below.trim_end().ends_with(PROMPT)
    });
}

/// Tells when a process has opened the gate for writing, and again when every process that had has gone.
fn watch(dir: &Path) -> Receiver<()> {
    let (sender, receiver) = channel();
    let gate = dir.join("gate");
    std::thread::spawn(move || {
        let mut gate = File::open(gate).expect("the gate is there");
        let _ = sender.send(());
        let _ = gate.read_to_end(&mut Vec::new());
        let _ = sender.send(());
    });
    receiver
}

fn bash(command: &str) -> Reply {
    calls("bash", json!({"command": command}))
}

fn background(command: &str) -> Reply {
    let input = json!({"command": command, "run_in_background": true});
    calls("bash", input)
}

fn spawn(name: &str) -> Value {
    json!({"name": name, "role": "developer", "prompt": "Do your part."})
}

/// The name of the teammate that asks; none for anybody else.
fn teammate(request: &Request) -> Option<&str> {
    let (_, rest) = request.system.split_once("You are a teammate named '")?;
    rest.split('\'').next()
}

fn is_subagent(request: &Request) -> bool {
    request.system.starts_with("You are a subagent")
}

/// What was said to the model since its last reply, results of tools included.
fn news(request: &Request) -> String {
    let since = request.messages.iter().rev();
    let since = since.take_while(|message| message.role == Role::User);
    let blocks = since.flat_map(|message| &message.blocks);
    let text = |block: &Block| match block {
        Block::Text(text) | Block::ToolResult { content: text, .. } => text.clone(),
        Block::ToolUse { .. } | Block::Other(_) => String::new(),
    };
    blocks.map(text).collect::<Vec<_>>().join("\n")
}

/// The files of the saved sessions, the first one first.
fn saved(class: &Class) -> Vec<Value> {
    let Ok(entries) = fs::read_dir(class.dir().join(".harness/sessions")) else {
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    let files = paths.filter(|path| path.extension().is_some_and(|kind| kind == "json"));
    let read = |path| serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let mut saved: Vec<Value> = files.map(read).collect();
    saved.sort_by_key(|one| one["started"].as_str().unwrap().to_owned());
    saved
}

fn id(saved: &Value) -> &str {
    saved["id"].as_str().unwrap()
}

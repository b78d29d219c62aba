//! Pairs of mechanisms: each works alone, and here two or three of them meet in the real binary.
//!
//! A chapter's tests cannot know what later chapters bring. Invariants: after whatever happened, the session goes on and
//! its next request is one that the API takes; nothing waits for a clock, commands that hang wait at a named pipe.

mod agents;
mod context;
mod interrupts;
mod secrets;
mod servers;

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use mock_servers::model::{Block, Brain, MockModel, Options, Reply, Request, Role, calls};
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

fn model(brain: impl Brain + 'static) -> MockModel {
    MockModel::start(Options::strict(), brain).expect("loopback has a free port")
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

/// Lets the command go on that reads the gate.
fn open_gate(dir: &Path) {
    let gate = dir.join("gate");
    File::options()
        .write(true)
        .open(gate)
        .expect("somebody reads the gate");
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

/// The side calls: what is remembered, and what is summarized. None for a request of an agent.
fn side_call(request: &Request) -> Option<Reply> {
    let says = mock_servers::model::says;
    let starts = |with: &str| request.system.starts_with(with);
    if starts("You choose memories") || starts("You extract memories") {
        return Some(says("[]"));
    }
    starts("You summarize").then(|| says("They talked and worked."))
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

/// The last of the results whose text begins like this, and what follows up to the next of `ends`.
#[track_caller]
fn named<'a>(texts: &'a [String], begins: &str, ends: &[char]) -> &'a str {
    let found = texts.iter().rev().find_map(|text| text.split_once(begins));
    let (_, rest) = found.unwrap_or_else(|| panic!("nothing says {begins:?}: {texts:#?}"));
    rest.split(ends).next().unwrap_or(rest)
}

//! What stands around the loop, seen from outside: the command line, slash commands, and sessions that go on.
//!
//! Each test starts the real binary, often several times in one folder. Invariant: every request is one that the API takes.

mod asked_once;
mod commands;
mod kills;
mod mended;
mod sessions;

use std::fs;

use mock_servers::model::{Brain, MockModel, Options, Reply, Request, says};
use serde_json::Value;
use testkit::Class;

fn class() -> Class {
    Class::new(env!("CARGO_BIN_EXE_s20_full")).file("README.md", "# Demo\n\nA small project.\n")
}

/// A model whose conversations go as `lead` says; nothing is remembered.
fn model(lead: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> MockModel {
    MockModel::start(Options::strict(), with_side_calls(lead)).expect("loopback has a free port")
}

fn with_side_calls(lead: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> impl Brain {
    move |request: &Request| match is_side_call(request) {
        true if request.system.starts_with("You summarize") => says("They talked."),
        true => says("[]"),
        false => lead(request),
    }
}

fn is_side_call(request: &Request) -> bool {
    ["You choose", "You extract", "You summarize"]
        .iter()
        .any(|begin| request.system.starts_with(begin))
}

/// Repeats what the user said last.
fn echo(request: &Request) -> Reply {
    let texts = request.user_texts();
    says(format!(
        "You said: {}",
        texts.last().map_or("", String::as_str)
    ))
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

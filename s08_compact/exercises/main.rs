//! The exercises of this chapter; `cargo x check s08` runs them.
//!
//! Each file is a task with its tests, and beside it lies one way to solve it, as a patch. Invariant: a test compiles
//! before its exercise is solved, fails then, and passes afterwards.

mod ex1_a_skill_stays;
mod ex2_compact_by_hand;
mod ex3_what_was_changed;

use std::sync::Arc;

use mock_servers::model::{MockModel, Options, Reply};
use s01_loop::{
    Block, Client, History, Message, Output, Repl, Role, Settings, ToolCall, Unobserved,
};
use s02_tools::Workspace;
use s08_compact::Compactor;
use serde_json::json;
use tempfile::TempDir;

/// A compactor, and the model that it asks for summaries.
struct Stage {
    /// Here, so that it is there as long as the compactor.
    _dir: TempDir,
    model: MockModel,
    compactor: Compactor,
}

impl Stage {
    /// A stage with a window of so many tokens, and a model with these replies.
    fn new(window: u32, replies: impl IntoIterator<Item = Reply>) -> Self {
        let options = Options {
            context_tokens: window,
            ..Options::strict()
        };
        let model = MockModel::scripted_with(options, replies);
        let dir = tempfile::tempdir().unwrap();
        let settings = Settings {
            base_url: Some(model.url().to_owned()),
            context_tokens: Some(window.to_string()),
            ..Settings::default()
        };
        let client = Client::new(settings, Arc::new(Unobserved)).unwrap();
        let ws = Workspace::at(dir.path()).unwrap();
        let repl = Repl::typed("s08_compact").quiet().unattended();
        let compactor = Compactor::new(&client, &ws, &repl);
        Self {
            _dir: dir,
            model,
            compactor,
        }
    }
}

/// One round: a reply that calls these tools, each with the path of a file, and what they answer.
fn round(history: &mut History, calls: &[(&str, &str, Output)]) {
    let number = history.len();
    let call = |(at, (name, path, _)): (usize, &(&str, &str, Output))| {
        ToolCall::new(format!("toolu_{number}_{at}"), *name, json!({"path": path}))
    };
    let made: Vec<ToolCall> = calls.iter().enumerate().map(call).collect();
    let blocks = made.iter().cloned().map(Block::ToolUse);
    history.push(Message::new(Role::Assistant, blocks.collect()));
    for (call, (_, _, output)) in made.iter().zip(calls) {
        history.answer(call, output.clone());
    }
}

/// Three rounds, each of which reads a file of so many characters.
fn three_reads(history: &mut History, chars: usize) {
    for path in ["a.txt", "b.txt", "c.txt"] {
        round(
            history,
            &[("read_file", path, Output::ok("x".repeat(chars)))],
        );
    }
}

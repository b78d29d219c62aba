//! The exercises of this chapter; `cargo x check s08` runs them.
//!
//! Each file is a task with its tests, and beside it lies one way to solve it, as a patch. Invariant: a test compiles
//! before its exercise is solved, fails then, and passes afterwards.

mod ex1_a_skill_stays;
mod ex2_compact_by_hand;
mod ex3_what_was_changed;

use s01_loop::{Block, History, Message, Output, Role, ToolCall};
use serde_json::json;

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
        round(history, &[("read_file", path, Output::ok("x".repeat(chars)))]);
    }
}

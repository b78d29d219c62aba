//! The binary on a real terminal, and on a pipe where that makes a difference.
//!
//! What a user does at a prompt exists on a terminal only: editing, Ctrl-C, a question in the middle of a line. So
//! these tests press keys and read the screen. Invariant: nothing here waits for a clock.

mod interrupts;
mod pipes;
mod typing;

use mock_servers::model::{Block, MockModel, Reply, Request};
use testkit::{Class, Terminal};

/// The chapter with this model, on a terminal that shows its first prompt.
fn session(model: &MockModel) -> (Class, Terminal) {
    let class = Class::new(env!("CARGO_BIN_EXE_s01_loop")).model(model);
    let mut terminal = class.terminal(80, 24);
    terminal.wait_for("s01 >>");
    (class, terminal)
}

/// A model that will say these words, one reply each.
fn model(replies: impl IntoIterator<Item = Reply>) -> MockModel {
    MockModel::scripted(replies)
}

/// The text that ends the last message of a request.
fn last_text(request: &Request) -> &str {
    let last = request.messages.last().expect("a request has messages");
    match last.blocks.last() {
        Some(Block::Text(text)) => text,
        other => panic!("the last message ends with {other:?}"),
    }
}

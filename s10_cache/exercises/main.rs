//! The exercises of this chapter; `cargo x check s10` runs them.
//!
//! Each file is a task with its tests, and beside it lies one way to solve it, as a patch. Invariant: a test compiles
//! before its exercise is solved, fails then, and passes afterwards.

mod ex1_say_when_it_misses;
mod ex2_instructions;
mod ex3_where_the_prefix_ends;

use mock_servers::model::{MockModel, Options, Reply, Request, says};
use testkit::Class;

/// The program of this chapter, in a fresh directory.
fn class() -> Class {
    Class::new(env!("CARGO_BIN_EXE_s10_cache"))
}

/// What begins the lead's system prompt.
const LEAD: &str = "You are a coding agent";

/// A lead with these replies and a window of so many tokens. At the end of each turn there is nothing to remember.
fn lead_with(context_tokens: u32, replies: impl IntoIterator<Item = Reply>) -> MockModel {
    let options = Options {
        context_tokens,
        ..Options::strict()
    };
    let model = MockModel::start(options, |_: &Request| says("[]")).expect("a free port");
    model.script_for(LEAD, replies);
    model
}

fn lead(replies: impl IntoIterator<Item = Reply>) -> MockModel {
    lead_with(200_000, replies)
}

//! The exercises of this chapter; `cargo x check s04` runs them.
//!
//! Each file is a task and the tests that know when it is done, switched off until somebody takes it up. Invariant: a
//! test fails on the untouched chapter and passes with the patch beside it; the patches need no order.

use mock_servers::model::{MockModel, says};
use testkit::Class;

mod ex1_the_branch_in_every_prompt;
mod ex2_what_the_model_must_not_see;
mod ex3_a_fifth_event;

fn class() -> Class {
    Class::new(env!("CARGO_BIN_EXE_s04_hooks"))
}

/// Types these lines to a model with so many replies; returns the class, and what the model has read of the user's side.
fn types(class: Class, replies: usize, lines: &[&str]) -> (Class, Vec<String>) {
    let model = MockModel::scripted((0..replies).map(|_| says("Fine.")));
    let class = class.model(&model);
    class.types(lines);
    let texts = model.last_request().user_texts();
    (class, texts)
}

/// A prompt with what a hook has added to it.
fn with_context(prompt: &str, added: &str) -> String {
    format!("{prompt}\n\n<hook-context>\n{added}\n</hook-context>")
}

//! The exercises of this chapter; cargo x check s20 runs them.
//!
//! Each starts the real binary, as the chapter's own tests do. Invariant: each test is switched off until the student
//! switches it on.

mod ex1_export;
mod ex2_undo;
mod ex3_a_skill_is_a_command;

use mock_servers::model::{MockModel, Options, Reply, Request, says};
use testkit::Class;

fn class() -> Class {
    Class::new(env!("CARGO_BIN_EXE_s20_full")).file("README.md", "# Demo\n\nA small project.\n")
}

/// A model that answers the conversation like this, and side calls with nothing.
fn model(lead: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> MockModel {
    let brain = move |request: &Request| {
        if is_aside(request) {
            return says("[]");
        }
        lead(request)
    };
    MockModel::start(Options::strict(), brain).expect("loopback has a free port")
}

fn is_aside(request: &Request) -> bool {
    let begins = |begin: &&str| request.system.starts_with(begin);
    ["You choose", "You extract", "You summarize"].iter().any(begins)
}

/// Repeats what the user said last.
fn echo(request: &Request) -> Reply {
    let texts = request.user_texts();
    let last = texts.last().map_or("", String::as_str);
    says(format!("You said: {last}"))
}

/// How many requests the conversation has had.
fn asked(model: &MockModel) -> usize {
    let requests = model.requests();
    requests.iter().filter(|request| !is_aside(request)).count()
}

/// What the user and the harness say in the last request of the conversation.
fn last_texts(model: &MockModel) -> Vec<String> {
    let requests = model.requests();
    let last = requests.iter().rfind(|request| !is_aside(request));
    last.expect("the model was asked").user_texts()
}

//! `/fault`: bad days on demand, for a class.
//!
//! Recovery shows itself only when something fails, and the mock model fails when it is told to. Invariant: a line that
//! begins with `/fault` never reaches a model.

use std::future::{Ready, ready};

use s01_loop::Client;
use s04_hooks::{HookOutput, Prompt};

use crate::recovery::Recovery;

const COMMAND: &str = "/fault";

/// UserPromptSubmit: `/fault NAME N` makes the next N requests to the mock model fail, `/fault off` ends it, `/fault` alone
/// lists the names. With a real model the command is unknown.
pub fn faults(recovery: &Recovery) -> impl Fn(Prompt) -> Ready<HookOutput> + Send + Sync + 'static {
    let client = recovery.client().clone();
    move |prompt| {
        let line = prompt.text.trim();
        ready(match line.split_whitespace().next() {
            Some(COMMAND) => HookOutput::Block(answer(&client, line)),
            _ => HookOutput::Go,
        })
    }
}

fn answer(client: &Client, line: &str) -> String {
    match client.mock() {
        Some(mock) => mock.fault_command(line),
        None => format!(
            "{COMMAND} is unknown here: it makes the mock model fail, and this is {}.",
            client.endpoint()
        ),
    }
}

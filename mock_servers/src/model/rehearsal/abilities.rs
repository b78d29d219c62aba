//! What the model says it can do: the names of the rows that work with the tools it was given.
//!
//! Whoever asks gets a few requests to type; whoever asks for more, all of it; whoever asked for something else sees some
//! names. Invariant: nothing is promised that takes a tool which is not on offer.

use std::fmt::Write;

use super::intents::{SECTIONS, Section, row};
use super::offer::Offer;
use super::servers::Servers;
use super::table::Intent;
use crate::model::Tool;

/// Rows worth trying, those of the later chapters first.
const EXAMPLES: &[(&str, &[&str])] = &[
    (
        "several agents",
        &[
            "hire a teammate",
            "connect to a server",
            "put tasks on the board",
            "hand a job to a subagent",
            "list the tasks",
        ],
    ),
    (
        "longer work",
        &[
            "set a reminder",
            "run a command in the background",
            "load a skill",
            "note a preference",
            "refactor a file",
            "review the code",
        ],
    ),
    (
        "files",
        &[
            "create a file",
            "read a file",
            "replace text in a file",
            "find files",
        ],
    ),
    (
        "commands",
        &[
            "run a command",
            "run the tests",
            "list a directory",
            "show the git status",
        ],
    ),
];

/// How many examples stand in a line.
const MOST: usize = 4;

/// Requests to begin with, by the row that does each; in the order of their worth. They need nothing but an empty directory.
const TO_TYPE: &[(&str, &str)] = &[
    (
        "create a file",
        "Create a file called hello.py that prints \"Hello, World!\"",
    ),
    (
        "connect to a server",
        "Connect to the docs MCP server and search for agent loop",
    ),
    (
        "hire a teammate",
        "Spawn alice as a developer and ask her to create notes.md",
    ),
    ("set a reminder", "Remind me of the meeting in 3 minutes"),
    (
        "run a command in the background",
        "Run cargo --version in the background and find all Python files in this directory",
    ),
    (
        "put tasks on the board",
        "Create tasks: setup database schema, create API endpoints (depends on schema)",
    ),
    (
        "create a Python package",
        "Create a Python package under demo_pkg with __init__.py and utils.py",
    ),
    ("load a skill", "What skills are available?"),
    ("find files", "List all Python files in this directory"),
    ("create a directory", "Create a directory called notes"),
    ("tell the date and time", "What time is it?"),
    ("run a command", "Run echo hello"),
];

/// How many of them are shown.
const MOST_TO_TYPE: usize = 8;

/// Says what this model is, and what to type first.
pub fn beginning(lead: &str, tools: &[Tool]) -> String {
    let servers = Servers::on_offer(tools);
    let can = TO_TYPE
        .iter()
        .filter(|(name, _)| can(row(name), tools, &servers));
    let lines: Vec<String> = can
        .take(MOST_TO_TYPE)
        .map(|(_, request)| format!("\n- {request}"))
        .collect();
    if lines.is_empty() {
        return without_tools(lead);
    }
    format!(
        "{lead}: no real one, but I call real tools, and what they do to your files is done. I know a table of requests, in \
         many wordings. Type one of these, whole and one at a time:{}\nAsk “what else can you do?” for all I know. Ctrl-C \
         stops me, Ctrl-D leaves.",
        lines.concat()
    )
}

/// Says what can be rehearsed with these tools.
pub fn abilities(lead: &str, tools: &[Tool]) -> String {
    let mut text = String::new();
    let servers = Servers::on_offer(tools);
    for section in SECTIONS {
        let names = names(section, tools, &servers);
        if !names.is_empty() {
            let about = section.about;
            let of = servers_in(section, &servers);
            let _ = write!(text, "\n- {about}{of}: {}", names.join(", "));
        }
    }
    match text.is_empty() {
        true => without_tools(lead),
        false => format!("{lead}. With the tools I was given I can rehearse this:{text}"),
    }
}

/// Says in at most five lines what else can be rehearsed with these tools.
pub fn examples(lead: &str, tools: &[Tool]) -> String {
    let mut text = String::new();
    let servers = Servers::on_offer(tools);
    for (about, examples) in EXAMPLES {
        let can = examples
            .iter()
            .filter(|example| can(row(example), tools, &servers));
        let some: Vec<&str> = can.copied().take(MOST).collect();
        if !some.is_empty() {
            let _ = write!(text, "\n- {about}: {}", some.join(", "));
        }
    }
    match text.is_empty() {
        true => without_tools(lead),
        false => format!("{lead}. Ask “what can you do?” for what to type; among it is:{text}"),
    }
}

fn without_tools(lead: &str) -> String {
    format!("{lead}. I was given no tool that I know how to use, so I can only talk.")
}

/// Behind the section about servers, which there are: ` (docs, deploy)`.
fn servers_in(section: &Section, servers: &Servers) -> String {
    let servers = &servers.names;
    let mut rows = section.rows.iter();
    match rows.any(|intent| intent.serves.is_some()) && !servers.is_empty() {
        true => format!(" ({})", servers.join(", ")),
        false => String::new(),
    }
}

/// The rows of a section that these tools can do.
fn names(section: &Section, tools: &[Tool], servers: &Servers) -> Vec<&'static str> {
    let rows = section
        .rows
        .iter()
        .filter(|intent| can(intent, tools, servers));
    rows.map(|intent| intent.name).collect()
}

/// Whether these tools can do what a row says.
fn can(intent: &Intent, tools: &[Tool], servers: &Servers) -> bool {
    let on_offer = |name: &str| tools.iter().any(|tool| tool.name == name);
    let offered = |intent: &Intent| intent.by.iter().any(|way| on_offer(way.tool));
    let offer = Offer {
        tools,
        system: "",
        team: &[],
        servers,
    };
    let parts = || intent.parts.iter().any(|part| offered(row(part.row)));
    !intent.says.is_empty() && offer.knows(intent) && (offered(intent) || parts())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_a_row_that_words_ask_for() {
        let mut examples = EXAMPLES.iter().flat_map(|(_, examples)| *examples);
        assert!(examples.all(|example| !row(example).says.is_empty()));
    }
}

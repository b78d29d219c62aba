//! What the model says it can do: the names of the rows that work with the tools it was given.
//!
//! Whoever asks is told all of it; whoever asked for something else sees a few examples and is told how to see the rest.
//! Invariant: nothing is promised that takes a tool which is not on offer.

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
        false => format!("{lead} With the tools I was given I can rehearse this:{text}"),
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
        false => format!("{lead} Ask “what can you do?” for all I can; among it is:{text}"),
    }
}

fn without_tools(lead: &str) -> String {
    format!("{lead} I was given no tool that I know how to use, so I can only talk.")
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

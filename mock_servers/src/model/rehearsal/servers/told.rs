//! What is told of servers: what was asked of them, what they answered, what they offer.
//!
//! Invariant: what a server said is told as its words, shortened when it is long.

use serde_json::Value;

use super::names::{parts, short, tools_of};
use crate::model::Tool;
use crate::model::rehearsal::gist;
use crate::model::rehearsal::phrases::listed as joined;

/// The most lines of an answer that are repeated.
const MOST: usize = 30;

/// What a call does: `call search of the docs server (query: agent loop)`.
pub fn doing(tool: &str, input: &Value) -> String {
    let server = parts(tool).map_or("", |(server, _)| server);
    let values = input
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| {
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            format!("{name}: {}", gist::first_sentence(&text))
        });
    let values: Vec<String> = values.collect();
    let given = match values.is_empty() {
        true => String::new(),
        false => format!(" ({})", values.join(", ")),
    };
    format!("call {} of the {server} server{given}", short(tool))
}

/// An answer without what it gives for programs beside the text.
pub fn text(content: &str) -> &str {
    let text = gist::body(content);
    text.split("\n[data: ").next().unwrap_or(text)
}

/// What a tool of a server answered.
pub fn result(tool: &str, content: &str) -> String {
    let server = parts(tool).map_or("", |(server, _)| server);
    let text = text(content);
    match text.lines().count() {
        0 => format!("{} of {server} answered nothing.", short(tool)),
        1 => format!("{server}: {}", text.trim()),
        _ => format!("{server}:\n{}", gist::head(text, MOST)),
    }
}

/// What a server offers: `search (readOnly) and get_version (readOnly)`.
pub fn offers(tools: &[Tool], server: &str) -> String {
    let tools: Vec<String> = tools_of(tools, server)
        .into_iter()
        .map(|tool| marked(tool, short(&tool.name)))
        .collect();
    joined(&tools)
}

/// What a server offers, in a sentence.
pub fn offered(server: &str, tools: &[Tool]) -> String {
    match offers(tools, server) {
        offers if offers.is_empty() => {
            format!("The {server} server is not connected, so I do not know its tools yet.")
        }
        offers => format!("The {server} server offers {offers}."),
    }
}

/// All tools on offer; those of servers with what is said of them.
pub fn listed(tools: &[Tool]) -> String {
    let (of_servers, own): (Vec<&Tool>, Vec<&Tool>) =
        tools.iter().partition(|tool| parts(&tool.name).is_some());
    let own: Vec<String> = own.iter().map(|tool| tool.name.clone()).collect();
    if of_servers.is_empty() {
        return format!("I was given {}.", joined(&own));
    }
    let lines: Vec<String> = of_servers
        .iter()
        .map(|tool| format!("- {}", marked(tool, &tool.name)))
        .collect();
    let count = own.len();
    format!(
        "I was given {}: {count} of my own ({}) and {} of MCP servers:\n{}",
        tools.len(),
        joined(&own),
        lines.len(),
        lines.join("\n")
    )
}

/// Which servers there are, and which of them are connected.
pub fn catalogue(servers: &[String], tools: &[Tool]) -> String {
    let lines: Vec<String> = servers
        .iter()
        .map(|server| match offers(tools, server) {
            tools if tools.is_empty() => format!("- {server}: not connected"),
            tools => format!("- {server}: connected, with {tools}"),
        })
        .collect();
    match lines.is_empty() {
        true => "I know of no MCP server.".to_owned(),
        false => format!("The MCP servers I know of:\n{}", lines.join("\n")),
    }
}

/// A tool's name with the mark at the end of its description.
fn marked(tool: &Tool, name: &str) -> String {
    let mark = ["(readOnly)", "(destructive)"]
        .into_iter()
        .find(|mark| tool.description.trim_end().ends_with(mark));
    match mark {
        Some(mark) => format!("{name} {mark}"),
        None => name.to_owned(),
    }
}

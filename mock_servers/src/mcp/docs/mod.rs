//! The server docs: the course's own READMEs, searched.
//!
//! They are embedded, so the server needs no file and says what this build's documentation says.
//! Invariant: a search never fails for what it does not find; it says so.

mod corpus;
mod ranking;

use std::sync::{Arc, LazyLock};

use schemars::JsonSchema;
use serde::Deserialize;

use self::corpus::{CORPUS, passages};
use self::ranking::Index;
use super::mock::MockServer;
use super::tool::{Effect, MockTool, Query, filled};

const INSTRUCTIONS: &str = "The documentation of the course on how a coding agent's harness works.";

/// How many results a search has at most.
const RESULTS: usize = 5;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// A section that a search found.
struct Hit {
    title: String,
    /// Where the course has it.
    path: &'static str,
    excerpt: String,
}

/// The server.
pub fn server() -> MockServer {
    // Made at the first question: a client that connects does not wait for it.
    let index = Arc::new(LazyLock::new(|| Index::new(passages())));
    let of_version = Arc::clone(&index);
    MockServer::new("docs", INSTRUCTIONS)
        .tool(MockTool::new(
            "search",
            Effect::Reads,
            "Search the documentation. The best five sections, each with its title, its file and an excerpt.",
            move |Query { query }| {
                let query = filled("query", &query)?;
                Ok(found(query, &index.search(query, RESULTS)))
            },
        ))
        .tool(MockTool::new(
            "get_version",
            Effect::Reads,
            "The version of the documentation, and how much of it there is.",
            move |Nothing {}| {
                let (version, documents) = (env!("CARGO_PKG_VERSION"), CORPUS.len());
                let sections = of_version.len();
                Ok(format!("Version {version}: {documents} documents, {sections} sections."))
            },
        ))
}

/// The results, the best first.
fn found(query: &str, results: &[Hit]) -> String {
    if results.is_empty() {
        return format!("Nothing found for '{query}'.");
    }
    let line = |(number, hit): (usize, &Hit)| {
        let Hit {
            title,
            path,
            excerpt,
        } = hit;
        format!("{number}. {title} ({path})\n   {excerpt}")
    };
    let lines: Vec<_> = (1..).zip(results).map(line).collect();
    lines.join("\n\n")
}

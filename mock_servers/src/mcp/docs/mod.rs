//! The server docs: the course's own READMEs, searched.
//!
//! They are embedded, so the server needs no file and says what this build's documentation says.
//! Invariant: a search never fails for what it does not find; it says so.

mod corpus;
mod ranking;

use std::fmt::{self, Display};
use std::sync::{Arc, LazyLock};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// What a search found, the best first.
#[derive(Serialize, JsonSchema)]
struct Found {
    #[serde(skip)]
    query: String,
    results: Vec<Hit>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Hit {
    title: String,
    /// Where the course has it.
    path: &'static str,
    excerpt: String,
}

/// Which documentation this is.
#[derive(Serialize, JsonSchema)]
struct Version {
    version: &'static str,
    documents: usize,
    sections: usize,
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
                let query = filled("query", &query)?.to_owned();
                let results = index.search(&query, RESULTS);
                Ok(Found { query, results })
            },
        ))
        .tool(MockTool::new(
            "get_version",
            Effect::Reads,
            "The version of the documentation, and how much of it there is.",
            move |Nothing {}| {
                Ok(Version {
                    version: env!("CARGO_PKG_VERSION"),
                    documents: CORPUS.len(),
                    sections: of_version.len(),
                })
            },
        ))
}

impl Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.results.is_empty() {
            return write!(f, "Nothing found for '{}'.", self.query);
        }
        for (index, hit) in self.results.iter().enumerate() {
            let gap = if index == 0 { "" } else { "\n\n" };
            let (number, title) = (index + 1, &hit.title);
            write!(
                f,
                "{gap}{number}. {title} ({})\n   {}",
                hit.path, hit.excerpt
            )?;
        }
        Ok(())
    }
}

impl Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            version,
            documents,
            sections,
        } = self;
        write!(
            f,
            "Version {version}: {documents} documents, {sections} sections."
        )
    }
}

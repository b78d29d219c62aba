//! The mock MCP servers: docs, deploy, jira and notion, and alerts, which speaks without being asked.
//!
//! They stand in for a company's systems. They are written on the official SDK, so that a client of the course meets a
//! server that nobody here wrote. Invariant: standard output carries the protocol and nothing else.

mod alerts;
mod deploy;
mod docs;
mod faults;
mod http;
mod jira;
mod launch;
mod mock;
mod notion;
mod tool;
#[cfg(feature = "ws")]
mod ws;

use std::path::PathBuf;

pub use faults::{Conduct, Crook, Fault, Place, Spoil};
pub use launch::{Served, serve_when_asked};
pub use mock::{MockServer, Outbox, Pushed};
pub use tool::{Effect, MockTool};

/// The company's systems.
pub const NAMES: [&str; 4] = ["docs", "deploy", "jira", "notion"];

/// The server that pushes messages. Nobody is connected to it by default.
pub const ALERTS: &str = "alerts";

/// The word after which a program that calls [`serve_when_asked`] becomes a server.
const MOCK_MCP: &str = "mock-mcp";

/// How the running program is started as the server `name`: the program, and its arguments.
pub fn command(name: &str) -> (PathBuf, Vec<String>) {
    // Without /proc there is no path; then the name that the shell used has to do.
    let program = std::env::current_exe().unwrap_or_else(|_| {
        let first = std::env::args_os().next();
        PathBuf::from(first.unwrap_or_default())
    });
    (program, vec![MOCK_MCP.to_owned(), name.to_owned()])
}

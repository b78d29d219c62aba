//! MCP servers: which there are, which of their tools fits a few words, and what its arguments are.
//!
//! Nobody knows a server's tools before it is connected, so the table of intents holds no row for each of them. What a
//! tool is for and what it takes is read from its name, its description and its input schema.
//! Invariant: only a tool on offer is called, and only with all that its schema requires.

mod arguments;
mod fit;
mod names;
mod phrase;
mod said;
mod schema;
mod told;

pub use arguments::arguments;
pub use fit::{best, is_act, score};
pub use names::{NONE, Servers, short, tools_of};
pub use told::{catalogue, doing, listed, offered, offers, result, text};

/// What a server was asked by a call.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The tool, under its name in the pool.
    pub tool: String,
    /// The arguments.
    pub input: serde_json::Value,
    /// What it answered.
    pub content: String,
}

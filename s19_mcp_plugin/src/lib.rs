#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod agreed;
mod catalog;
mod changes;
mod command;
mod connection;
mod content;
mod environment;
mod expand;
mod launch;
mod lines;
mod mcp;
mod names;
mod outbox;
mod plain;
mod pool;
mod process;
mod prompt;
mod protocol;
mod schema;
mod server;
mod wire;

pub use catalog::MCP_FILE;
pub use connection::Patience;
pub use launch::Launch;
pub use mcp::Mcp;
pub use names::{MAX_NAME, normalize_mcp_name};
pub use protocol::{Annotations, CallResult, ToolInfo, Unreadable};
pub use server::Server;

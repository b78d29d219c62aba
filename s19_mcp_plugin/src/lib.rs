#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_macros))]

mod catalog;
mod command;
mod connection;
mod content;
mod environment;
mod jsonrpc;
mod lines;
mod mcp;
mod names;
mod pins;
mod pool;
mod process;
mod protocol;
mod schema;
mod server;
mod text;

pub use catalog::Adaptor;
pub use connection::Peer;
pub use mcp::{Extension, Mcp, Status};
pub use process::StdioServerConfig;
pub use protocol::{CallToolResult, LeftOut, Tool, ToolAnnotations};
pub use server::{Listener, Server, Timeouts};

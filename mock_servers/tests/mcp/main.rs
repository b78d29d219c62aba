//! The mock MCP servers, seen from clients.
//!
//! The SDK's own client talks to them in memory, and real processes are sent raw lines, because a client of the course
//! writes those itself. Invariant: no test waits for a time to pass.
#![cfg(feature = "mcp")]

mod corpus;
#[path = "../external/mod.rs"]
mod external;
mod faults;
mod http;
mod lines;
mod sdk;
mod talk;
#[cfg(feature = "ws")]
mod ws;

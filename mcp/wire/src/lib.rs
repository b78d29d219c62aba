//! JSON-RPC frames over any transport of MCP: both ends, in order, nothing lost.
//!
//! What stands between clients and servers is built on this. The README beside it says how it works and what was measured.
//! Invariant: what goes in comes out, the same bodies in the same order.

pub mod body;
mod connection;
pub mod frame;
pub mod headers;
pub mod http;
pub mod peer;
pub mod stdio;
pub mod ws;

pub use connection::{Cause, Closed, Connection, Error, Reader, Writer};
pub use frame::{Frame, Id, Kind};
pub use peer::Peer;

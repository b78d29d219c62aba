#![doc = include_str!("../README.md")]

pub mod body;
mod connection;
pub mod frame;
pub mod headers;
pub mod http;
pub mod legacy;
pub mod peer;
mod sse;
pub mod stdio;
pub mod ws;

pub use connection::{Closed, Connection, Error, Reader, Writer};
pub use frame::{Frame, Id, Kind, NotAFrame};
pub use peer::Peer;

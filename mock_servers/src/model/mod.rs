//! The mock model: a Messages API on loopback that needs neither key nor network.
//!
//! `server` accepts, `http` routes, `reader` and `check` examine, `cache` charges, a brain or a script thinks, `answer`,
//! `wire` and `delivery` send; `shared` is the way of one request through all of them.
//! Invariant: what the real API would refuse, it refuses, with the same status and error type.

mod answer;
pub(crate) mod body;
mod cache;
mod check;
mod delivery;
mod faults;
pub(crate) mod http;
mod models;
mod options;
mod reader;
pub(crate) mod refusal;
pub mod rehearsal;
pub(crate) mod scan;
mod script;
pub(crate) mod server;
mod shared;
mod tokens;
mod types;
mod wire;

pub use faults::{Fault, faults};
pub use options::{Log, Options};
pub use refusal::Refusal;
pub use rehearsal::Rehearsal;
pub use server::MockModel;
pub use tokens::tokens;
pub use types::{
    Block, Brain, Message, Reply, ReplyBlock, Request, Role, StopReason, Tool, calls, says,
};

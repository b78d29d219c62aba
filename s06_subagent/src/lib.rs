#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_macros))]

mod model;
mod run;
mod subagent;

pub use model::Model;
pub use run::{MAX_ROUNDS, run_calls};
pub use subagent::Subagents;

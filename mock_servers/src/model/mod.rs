//! The mock model: a Messages API on loopback that needs neither key nor network.

mod types;

pub use types::{
    Block, Brain, Message, Reply, ReplyBlock, Request, Role, StopReason, Tool, calls, says,
};

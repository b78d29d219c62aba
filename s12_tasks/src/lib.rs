#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_macros))]

mod board;
mod session;
mod store;
mod task;
mod tools;

pub use board::{Board, Listed, NewTask};
pub use session::Session;
pub use task::{Status, Task};

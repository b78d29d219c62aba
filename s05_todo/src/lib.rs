#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_macros))]

mod plan;
mod todo;

pub use todo::{QUIET_ROUNDS, Todo};

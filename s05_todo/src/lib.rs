#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod plan;
mod practice;
mod todo;

pub use practice::practice_files;
pub use todo::{QUIET_ROUNDS, Todo};

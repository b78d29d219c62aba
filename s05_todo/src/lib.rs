#![doc = include_str!("../README.md")]

mod plan;
mod practice;
mod todo;

pub use practice::practice_files;
pub use todo::{QUIET_ROUNDS, Todo};

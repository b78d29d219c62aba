#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod entry;
mod file;
mod index;
mod memory;
mod questions;
mod slug;
mod store;
mod swap;
mod words;
mod writing;

pub use memory::{MAX_RECALLED, Memory};
pub use questions::EXTRACT_FROM;
pub use store::{CONSOLIDATE_AT, MEMORY_DIR};

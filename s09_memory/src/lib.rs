#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_macros))]

mod entry;
mod file;
mod index;
mod memory;
mod questions;
mod slug;
mod store;
mod words;
mod writer;

pub use memory::Memory;

#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_macros))]

mod protocol;
mod requests;
pub mod teammate;
mod tools;

pub use protocol::Protocol;

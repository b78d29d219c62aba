#![doc = include_str!("../README.md")]

mod protocol;
mod requests;
pub mod teammate;
mod tools;

pub use protocol::Protocol;

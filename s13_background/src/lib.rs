#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_macros))]

mod jobs;
mod notices;

pub use jobs::{Jobs, TAIL};
pub use notices::{AtWork, Notices};

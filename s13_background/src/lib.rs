#![doc = include_str!("../README.md")]

mod jobs;
mod notices;

pub use jobs::{Jobs, TAIL};
pub use notices::{AtWork, LINGER, Notices};

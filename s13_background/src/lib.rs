#![doc = include_str!("../README.md")]

mod jobs;
mod notices;

pub use jobs::{Jobs, MOST_KEPT, TAIL};
pub use notices::{AtWork, LINGER, Notices};

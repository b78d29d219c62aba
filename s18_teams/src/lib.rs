#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_macros))]

pub mod teammate;
mod work_loop;

pub use work_loop::{CLAIM_DELAY, IDLE_TIMEOUT, POLL_INTERVAL, ROUNDS_PER_PHASE, WorkLoop};

#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod shift;
pub mod teammate;

pub use shift::{HANDS_OFF, IDLE_POLL, LEAVE_AFTER, PHASE, Shift};

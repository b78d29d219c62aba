#![doc = include_str!("../README.md")]

mod shift;
pub mod teammate;

pub use shift::{HANDS_OFF, IDLE_POLL, LEAVE_AFTER, PHASE, Shift};

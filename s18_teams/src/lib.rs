#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod teammate;
mod work_loop;

pub use work_loop::{HANDS_OFF, IDLE_POLL, LEAVE_AFTER, PHASE, WorkLoop};

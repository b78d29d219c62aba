#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_macros))]

mod backoff;
mod clock;
mod outcome;
mod partial_reply;
mod recovery;
mod remark;

pub use clock::Clock;
pub use recovery::Recovery;

#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod backoff;
mod clock;
mod outcome;
mod partial_reply;
mod recovery;
mod remark;

pub use backoff::{LONGEST_ASKED, MAX_TRIES};
pub use clock::Clock;
pub use outcome::{MAX_CONTINUATIONS, MAX_OVERLOADS, RAISED_TOKENS};
pub use recovery::Recovery;

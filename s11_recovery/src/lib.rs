#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod backoff;
mod faults;
mod kept;
mod outcome;
mod recovery;
mod remark;
mod world;

pub use backoff::{LONGEST_ASKED, MAX_TRIES};
pub use faults::faults;
pub use outcome::{MAX_CONTINUATIONS, MAX_OVERLOADS, RAISED_TOKENS};
pub use recovery::Recovery;
pub use world::{Waiting, World};

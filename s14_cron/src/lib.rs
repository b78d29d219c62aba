#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_macros))]

mod cron;
mod file;
mod job;
mod schedule;
mod tools;

pub use cron::{Clock, Cron, MAX_JOBS, TICK};
pub use job::Job;
pub use schedule::Schedule;

#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_macros))]

mod assemble;
mod cache;
mod context;
mod report;
mod section;

pub use assemble::assemble;
pub use cache::PromptCache;
pub use context::Context;
pub use report::cache_report;

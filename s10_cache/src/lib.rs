#![doc = include_str!("../README.md")]

mod assemble;
mod cache;
mod context;
mod report;
mod section;

pub use assemble::assemble;
pub use cache::PromptCache;
pub use context::{Context, IDENTITY};
pub use report::cache_report;

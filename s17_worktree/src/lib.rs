#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_macros))]

mod binding;
mod git;
mod loss;
pub mod teammate;
mod tools;
mod work_dir;
mod worktrees;

pub use worktrees::Worktrees;

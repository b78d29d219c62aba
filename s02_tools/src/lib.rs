#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_macros))]

mod bash;
mod files;
mod glob;
mod place;
mod tool;
mod toolbox;
mod workspace;

pub use bash::bash;
pub use files::{EditFile, MAX_READ, ReadFile, WriteFile, edit_file, read_file, write_file};
pub use glob::{Glob, glob};
pub use tool::{Access, Tool};
pub use toolbox::{Running, Step, Toolbox};
pub use workspace::Workspace;

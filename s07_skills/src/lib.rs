#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_macros))]

mod folder;
mod front_matter;
mod skill;
mod skills;

pub use front_matter::FrontMatter;
pub use skills::Skills;

#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod folder;
mod front_matter;
mod skill;
mod skills;

pub use front_matter::FrontMatter;
pub use skill::{MAX_DESCRIPTION, MAX_NAME};
pub use skills::{SKILL_FILE, SKILLS_DIR, Skills};

#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_macros))]

mod approver;
pub mod fatal;
pub mod known;
mod policy;
pub mod rules;
mod settings;
pub mod shell;

pub use approver::Approver;
pub use policy::{Decision, Policy};
pub use settings::{SETTINGS_FILE, read_settings};

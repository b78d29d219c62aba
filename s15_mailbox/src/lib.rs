#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod context;
mod mail;
mod mailboxes;
mod patient;
mod team;
pub mod teammate;
mod tools;

pub use context::{Doing, TeammateContext};
pub use mail::{LEAD, Mail};
pub use mailboxes::{Drained, Mailboxes};
pub use patient::{PATIENCE, Patient};
pub use team::{Team, Teammate};
pub use tools::{check_inbox, send_message};

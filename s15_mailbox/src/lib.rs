#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_macros))]

mod approver;
mod context;
mod mail;
mod mailboxes;
mod team;
pub mod teammate;
mod tools;

pub use context::{AgentState, TeammateContext};
pub use mail::{LEAD, Mail};
pub use mailboxes::Mailboxes;
pub use team::{Team, Teammate};
pub use tools::{check_inbox, send_message};

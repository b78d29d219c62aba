#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_macros))]

pub mod bash;
mod client;
mod error;
mod history;
mod mend;
mod message;
mod observer;
mod orphans;
mod process;
mod repl;
mod reply;
mod response;
mod settings;
mod tool;

pub use client::Client;
pub use error::{ApiError, CHECK_ADDRESS, Failure};
pub use history::{History, INTERRUPTED_TURN};
pub use message::{Block, Message, Role, System};
pub use observer::{Event, Observer, SharedObserver, Unobserved};
pub use process::{End, Process};
pub use reply::{Reply, Usage};
pub use settings::{Credentials, KEY_VARIABLES, Settings};
pub use terminal::{Answer, Refusal, Repl};
pub use tool::{Output, ToolCall, ToolSpec};

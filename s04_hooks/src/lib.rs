#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod commands;
mod hooks;
mod shipped;

pub use commands::DEFAULT_TIMEOUT;
pub use hooks::{
    Caller, HookOutput, Hooks, MAX_STOPS, PostTool, PreTool, Prompt, PromptDecision, Stop,
    without_context,
};
pub use shipped::{LARGE_OUTPUT, LOG_FILE, large_output, log, permission, summary};

#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_macros))]

mod commands;
mod hooks;
mod shipped;

pub use hooks::{
    Caller, HookOutput, Hooks, PostTool, PreTool, Prompt, PromptDecision, Stop, without_context,
};
pub use shipped::{large_output, log, permission, summary};

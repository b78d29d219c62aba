//! Agents behind tools: an MCP client asks other agents, in four modes.

pub mod config;
pub mod context;
pub mod files;
pub mod mode;

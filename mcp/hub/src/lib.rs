//! Agents behind tools: an MCP client asks other agents, in four modes.

pub mod config;
pub mod mode;

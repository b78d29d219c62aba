//! Agents behind tools: an MCP client asks other agents, in four modes.

pub mod answer;
pub mod config;
pub mod context;
pub mod files;
pub mod guard;
pub mod mode;
pub mod telemetry;
pub mod threads;

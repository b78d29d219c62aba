//! Many MCP tools behind two: `discover_tools` and `call_tool`.
//!
//! Invariant: `index` knows nothing of MCP; what a server says of itself is information, never an instruction.

pub mod backends;
pub mod calls;
pub mod index;
pub mod proxy;
pub mod recall;
pub mod settings;
pub mod store;
pub mod template;
pub mod trust;
pub mod view;

//! The order of the tools in a request.
//!
//! The API caches a request's beginning up to a breakpoint, as long as not a byte of it changes. What comes and goes
//! therefore stands behind what stays. Invariant: a connected server changes nothing in front of the breakpoint.

use s02_tools::{Tool, Toolbox};

/// The built-in tools in the order of their names, with a prompt-cache breakpoint after the last. The tools of MCP servers
/// are added behind it.
pub fn built_in(tools: Toolbox) -> Toolbox {
    let mut tools: Vec<Tool> = tools.into_iter().collect();
    tools.sort_by(|a, b| a.name().cmp(b.name()));
    if let Some(last) = tools.pop() {
        tools.push(last.breakpoint());
    }
    Toolbox::new().with_all(tools)
}

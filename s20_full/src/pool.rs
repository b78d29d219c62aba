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

#[cfg(test)]
mod tests {
    use std::future::ready;

    use s01_loop::{Output, ToolSpec};
    use serde_json::json;

    use super::*;

    fn tool(name: &str) -> Tool {
        let spec = ToolSpec::with_schema(name, "Does something.", json!({"type": "object"}));
        Tool::new(spec, |_| ready(Output::ok("done")))
    }

    #[test]
    fn built_ins_are_sorted_and_end_in_the_only_breakpoint() {
        let pool = built_in(
            Toolbox::new()
                .with(tool("b"))
                .with(tool("c"))
                .with(tool("a")),
        );
        let pool = pool.with(tool("a_server_tool"));
        assert_eq!(pool.names(), ["a", "b", "c", "a_server_tool"]);
        let marked: Vec<bool> = pool.specs().iter().map(ToolSpec::has_breakpoint).collect();
        assert_eq!(marked, [false, false, true, false]);
        assert!(built_in(Toolbox::new()).names().is_empty());
    }
}

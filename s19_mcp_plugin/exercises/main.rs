//! The exercises of this chapter; cargo x check s19 runs them.
//!
//! Their servers are those of the chapter's own tests. Invariant: each test is switched off until the student switches
//! it on.

mod ex1_off;
mod ex2_a_tool_that_reaches_out;
mod ex3_a_tool_that_finds_tools;

use s01_loop::Repl;
use s02_tools::Tool;
use s19_mcp_plugin::{Mcp, StdioServerConfig};
use serde_json::{Value, json};

use crate::scene::{Scene, tool_call};

/// A session that has connected to these servers.
async fn connected(scene: &Scene, servers: &[StdioServerConfig]) -> Mcp {
    let repl = Repl::typed("s19").quiet();
    let mcp = Mcp::with_servers(&scene.ws, &repl, servers.iter().cloned());
    for server in servers {
        connect(&mcp, &server.name).await;
    }
    mcp
}

/// Calls connect_mcp.
async fn connect(mcp: &Mcp, name: &str) {
    let said = call(&mcp.connect_tool(), json!({ "name": name })).await;
    assert!(said.starts_with("Connected to "), "connect_mcp said {said:?}");
}

/// Calls a tool.
async fn call(tool: &Tool, input: Value) -> String {
    tool.call(tool_call(tool.name(), input)).await.text
}

/// The names of the tools that the next request would offer.
fn offered(mcp: &Mcp) -> Vec<String> {
    let tools = mcp.tools();
    tools.iter().map(|tool| tool.name().to_owned()).collect()
}

//! The mock MCP servers: docs, deploy, jira and notion.
//!
//! They stand in for a company's systems. Invariant: standard output carries the protocol and nothing else.

/// Serves a mock server when this program was started as `<program> mock-mcp NAME`; then it does not return.
pub async fn serve_when_asked() {}

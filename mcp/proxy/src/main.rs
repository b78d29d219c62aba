//! `mcp_proxy`: many MCP tools behind two, and what its users ask before and after they plug it in.
//!
//! Invariant: standard output has answers, or frames; the exit code says what kind of thing went wrong.

mod program;

fn main() -> std::process::ExitCode {
    mcp_relay::front::main(program::run)
}

//! `mcp_client`: lists and calls the tools of any MCP server, from a terminal.
//!
//! Invariant: standard output has answers, or frames; all else goes to standard error, and the exit code says what kind of
//! thing went wrong.

mod program;

fn main() -> std::process::ExitCode {
    mcp_client::start::main(program::run)
}

//! `mcp_client`: lists and calls the tools of any MCP server, from a terminal.
//!
//! Invariant: standard output has answers, or frames; all else goes to standard error, and the exit code says what kind of
//! thing went wrong.

mod program;

use std::process::ExitCode;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let code = match runtime {
        Ok(runtime) => runtime.block_on(async {
            mock_servers::mcp::serve_when_asked().await;
            program::run().await
        }),
        Err(error) => {
            eprintln!("mcp_client: {error}");
            program::CONNECTION
        }
    };
    // Standard input may be read still, which would hold up the end.
    std::process::exit(code)
}

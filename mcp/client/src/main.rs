//! `mcp_client`: lists and calls the tools of any MCP server, from a terminal.
//!
//! Invariant: standard output has answers, or frames; all else goes to standard error, and the exit code says what kind of
//! thing went wrong.

mod program;

use std::process::ExitCode;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let code = match runtime {
        Ok(runtime) => {
            let code = runtime.block_on(async {
                mock_servers::mcp::serve_when_asked().await;
                program::run().await
            });
            // Servers that were started end with their tasks.
            runtime.shutdown_background();
            code
        }
        Err(error) => {
            eprintln!("mcp_client: {error}");
            program::CONNECTION
        }
    };
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}

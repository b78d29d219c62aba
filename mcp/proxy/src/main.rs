//! `mcp_proxy`: many MCP tools behind two, and what its users ask before and after they plug it in.
//!
//! Invariant: standard output has answers, or frames; the exit code says what kind of thing went wrong.

mod program;

use std::process::ExitCode;

fn main() -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("mcp_proxy: {error}");
            return ExitCode::from(2);
        }
    };
    let code = runtime.block_on(async {
        mock_servers::mcp::serve_when_asked().await;
        program::run().await
    });
    // Servers that were started end with their tasks.
    runtime.shutdown_background();
    ExitCode::from(code)
}

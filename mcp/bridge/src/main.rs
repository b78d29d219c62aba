//! `mcp_bridge`: the owner, the shim that agents start, and what looks on.
//!
//! Invariant: standard output has protocol or answers; all else goes to standard error, and the exit code says what kind of
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
            runtime.shutdown_background();
            code
        }
        Err(error) => {
            eprintln!("mcp_bridge: {error}");
            2
        }
    };
    ExitCode::from(code)
}

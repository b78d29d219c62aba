//! `mcp_hub`: agents behind tools.
//!
//! Invariant: on standard output are frames, or the answer to what was typed; a failure is one sentence on standard error and
//! an exit code.

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
            // What still runs is killed with its tasks.
            drop(runtime);
            code
        }
        Err(error) => {
            eprintln!("mcp_hub: {error}");
            program::FAILED
        }
    };
    ExitCode::from(code)
}

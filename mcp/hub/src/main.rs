//! `mcp_hub`: agents behind tools.
//!
//! Invariant: on standard output are frames, or the answer to what was typed; a failure is one sentence on standard error and
//! an exit code.

mod program;

fn main() -> std::process::ExitCode {
    mcp_relay::front::main(program::run)
}

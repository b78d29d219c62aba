//! `mcp_bridge`: the owner, the shim that agents start, and what looks on.
//!
//! Invariant: standard output has protocol or answers; all else goes to standard error, and the exit code says what kind of
//! thing went wrong.

mod program;

fn main() -> std::process::ExitCode {
    mcp_relay::front::main(program::run)
}

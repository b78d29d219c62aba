//! The everything server as a program: on standard input and output, or with `--http PORT` on a port.
//!
//! A conformance run, or a program under test, starts it. Invariant: standard output holds frames only.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    mcp_everything::main(std::env::args().skip(1)).await
}

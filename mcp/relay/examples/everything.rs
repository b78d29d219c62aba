//! The everything server as a program of this crate, so that its tests and a reader can put it behind `forward`.
//!
//! On standard input and output, or with `--http PORT` on a port. Invariant: it is `mcp_everything`, and nothing else.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    mcp_everything::main(std::env::args().skip(1)).await
}

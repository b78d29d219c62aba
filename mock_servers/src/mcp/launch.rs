//! Starting a mock server from a command line: `NAME [--stdio]`.
//!
//! A chapter needs no second build: its own binary is the server when it is started as `<program> mock-mcp NAME`.
//! Invariant: a command line that is wrong ends in a sentence on standard error, before a byte of protocol.

use rmcp::ServiceExt;
use rmcp::transport::stdio_pipes;

use super::{MOCK_MCP, Mock};

/// What a command line asks for.
pub struct Served {
    mock: Mock,
}

impl Served {
    /// Reads `NAME [--stdio]`.
    pub fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let name = arguments.next().unwrap_or_default();
        let mock = Mock::named(&name).ok_or_else(|| format!("There is no server `{name}`."))?;
        for flag in arguments {
            match flag.as_str() {
                "--stdio" => {}
                other => return Err(format!("There is no option `{other}`.")),
            }
        }
        Ok(Self { mock })
    }

    /// Serves until the client is gone.
    pub async fn run(self) -> Result<(), String> {
        let running = self.mock.serve(stdio_pipes()).await;
        let running = running.map_err(|error| error.to_string())?;
        running.waiting().await.map_err(|error| error.to_string())?;
        Ok(())
    }
}

/// Serves a mock server when this program was started as `<program> mock-mcp NAME`; then it does not return.
pub async fn serve_when_asked() {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() != Some(MOCK_MCP) {
        return;
    }
    let served = match Served::parse(arguments) {
        Ok(served) => served,
        Err(wrong) => {
            eprintln!("{wrong}");
            std::process::exit(2);
        }
    };
    match served.run().await {
        Ok(()) => std::process::exit(0),
        Err(wrong) => {
            eprintln!("{wrong}");
            std::process::exit(1);
        }
    }
}

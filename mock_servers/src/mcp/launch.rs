//! Starting a mock server from a command line: `NAME [--stdio | --http PORT | --ws PORT] [--fault FAULT]`.
//!
//! A chapter needs no second build: its own binary is the server when it is started as `<program> mock-mcp NAME`.
//! Invariant: a command line that is wrong ends in a sentence on standard error, before a byte of protocol.

use rmcp::ServiceExt;
use rmcp::transport::stdio_pipes;

use super::{Fault, MOCK_MCP, MockServer, faults, http};

/// What a command line asks for.
pub struct Served {
    mock: MockServer,
    /// Over HTTP on this port; without one over standard input and output.
    port: Option<u16>,
    /// Over WebSocket on that port instead.
    ws: bool,
    faults: Vec<Fault>,
}

impl Served {
    /// Reads `NAME [--stdio | --http PORT | --ws PORT] [--fault FAULT[,FAULT]]…`; the error is a sentence.
    pub fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let name = arguments.next().unwrap_or_default();
        let mock =
            MockServer::named(&name).ok_or_else(|| format!("There is no MCP server `{name}`."))?;
        let (mut port, mut ws) = (None, false);
        let mut faults = Vec::new();
        while let Some(flag) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{flag} needs a value."));
            match flag.as_str() {
                "--stdio" => port = None,
                "--ws" if !cfg!(feature = "ws") => {
                    return Err("Only the program mock_servers has --ws.".to_owned());
                }
                "--http" | "--ws" => {
                    let text = value()?;
                    let wrong = |_| format!("{flag} {text}: expected a port, 0 for a free one.");
                    port = Some(text.parse().map_err(wrong)?);
                    ws = flag == "--ws";
                }
                "--fault" => {
                    for name in value()?.split(',') {
                        faults.push(Fault::named(name)?);
                    }
                }
                other => return Err(format!("There is no option `{other}`.")),
            }
        }
        let only_lists = faults.iter().all(|fault| matches!(fault, Fault::Lists(_)));
        if port.is_some() && !only_lists {
            return Err(
                "Over HTTP and WebSocket only the list of tools can be at fault.".to_owned()
            );
        }
        let mock = faults.iter().copied().fold(mock, MockServer::fault);
        Ok(Self {
            mock,
            port,
            ws,
            faults,
        })
    }

    /// Serves: over standard input and output until the client is gone, over HTTP until the process is ended.
    pub async fn run(self) -> Result<(), String> {
        match (self.port, self.ws) {
            #[cfg(feature = "ws")]
            (Some(port), true) => return super::ws::run(self.mock, port).await,
            (Some(port), _) => {
                let server = http::Server::bind(port).await;
                let server =
                    server.map_err(|error| format!("Port {port} cannot be taken: {error}"))?;
                println!("{}", server.url());
                server.run(self.mock).await;
                return Ok(());
            }
            (None, _) => {}
        }
        let (input, output) = stdio_pipes();
        if self.faults.iter().any(|fault| !matches!(fault, Fault::Lists(_))) {
            return faults::serve(self.mock, self.faults, input, output).await;
        }
        let running = self.mock.serve((input, output)).await;
        let running = running.map_err(|error| error.to_string())?;
        let ended = running.waiting().await;
        ended.map(|_| ()).map_err(|error| error.to_string())
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

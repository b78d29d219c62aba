//! A server in the test itself: it reads and writes the other ends of two streams in memory.
//!
//! Our ids are 1 for `initialize`, 2 for the first page of tools, and so on. Invariant: no test here needs real time.

use std::time::Duration;

use anyhow::Result;
use s19_mcp_plugin::{CallToolResult, Server, Timeouts};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex};
use tokio::task::yield_now;
use tokio::time::advance;

pub const TIMEOUTS: Timeouts = Timeouts {
    start: Duration::from_secs(10),
    call: Duration::from_secs(10),
    end: Duration::from_secs(10),
};

/// The other side of a connection. Dropping an end closes that stream.
pub struct Peer {
    pub input: Option<BufReader<DuplexStream>>,
    pub output: DuplexStream,
}

/// A peer, and what becomes of the connection to it.
pub fn peer() -> (Peer, impl Future<Output = Result<Server>>) {
    let (output, to_client) = duplex(1024 * 1024);
    let (from_client, input) = duplex(1024 * 1024);
    let peer = Peer {
        input: Some(BufReader::new(input)),
        output: to_client,
    };
    (peer, Server::connect("docs", output, from_client, TIMEOUTS))
}

/// A connected server that lists these tools.
pub async fn connected(tools: Value) -> (Server, Peer) {
    let (mut peer, server) = peer();
    let greet = async {
        peer.greet().await;
        peer.answer(2, json!({ "tools": tools })).await;
    };
    let (server, ()) = tokio::join!(server, greet);
    (server.unwrap(), peer)
}

impl Peer {
    /// The next message; null when the input has ended.
    pub async fn hear(&mut self) -> Value {
        let mut line = String::new();
        let input = self.input.as_mut().expect("it is read");
        input.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap_or_default()
    }

    /// Answers `initialize`, and hears the first `tools/list`.
    pub async fn greet(&mut self) {
        self.hear().await;
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} } });
        self.answer(1, hello).await;
        assert_eq!(self.hear().await["method"], "notifications/initialized");
        assert_eq!(self.hear().await["method"], "tools/list");
    }

    pub async fn answer(&mut self, id: u64, result: Value) {
        self.say(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
            .await;
    }

    /// Answers a call.
    pub async fn text(&mut self, id: u64, text: &str) {
        self.answer(id, json!({ "content": [{ "type": "text", "text": text }] }))
            .await;
    }

    pub async fn notify(&mut self, method: &str, params: Value) {
        let method = format!("notifications/{method}");
        self.say(json!({ "jsonrpc": "2.0", "method": method, "params": params }))
            .await;
    }

    /// It says that its list has changed.
    pub async fn changes(&mut self) {
        self.notify("tools/list_changed", json!({})).await;
    }

    pub async fn say(&mut self, message: Value) {
        self.write(format!("{message}\n")).await;
    }

    /// Writes as far as somebody reads.
    pub async fn write(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = self.output.write_all(bytes.as_ref()).await;
    }
}

/// Lets time pass, step by step, so that everybody sees it pass.
pub async fn pass(time: Duration) {
    for _ in 0..10 {
        advance(time / 10).await;
        yield_now().await;
    }
}

/// Calls a tool.
pub async fn call(server: &Server, tool: &str) -> Result<CallToolResult> {
    server.call(tool, json!({}), |_| {}).await
}

/// Calls a tool: its text, or the error.
pub async fn said(server: &Server, tool: &str) -> String {
    match call(server, tool).await {
        Ok(result) => result.content[0]["text"].as_str().unwrap().to_owned(),
        Err(error) => format!("{error:#}"),
    }
}

/// The names of a server's tools.
pub fn names(server: &Server) -> Vec<String> {
    let tools = server.tools();
    tools.iter().map(|tool| tool.name.clone()).collect()
}

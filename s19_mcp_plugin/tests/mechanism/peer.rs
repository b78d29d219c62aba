//! A server in the test itself: it reads and writes the other ends of two streams in memory.
//!
//! A test writes down who says what. Our ids are 1 for `initialize`, 2 for the first page of tools, and so on.
//! Invariant: no test here needs real time.

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

/// What follows `initialize`, up to the answer with the tools.
pub const GREETS: &str = r#"
> 1 initialize …
< 1 = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
> . notifications/initialized {}
> 2 tools/list {}
"#;

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
pub async fn connected(tools: &str) -> (Server, Peer) {
    let (mut peer, server) = peer();
    let listed = format!("{GREETS}< 2 = {{\"tools\": {tools}}}");
    let (server, ()) = tokio::join!(server, peer.plays(&listed));
    (server.unwrap(), peer)
}

impl Peer {
    /// Plays a scene, one message a line: `>` hears it and `<` says it; then stand its id, `.` when it is a notification, and
    /// a method with its params, `= result` or `! error`. `…` stands for any params.
    pub async fn plays(&mut self, scene: &str) {
        for line in scene.lines().filter(|line| !line.is_empty()) {
            let words: Vec<&str> = line.splitn(4, ' ').collect();
            let parsed = |json: &str| -> Value { serde_json::from_str(json).expect(line) };
            let mut message = json!({ "jsonrpc": "2.0" });
            if words[1] != "." {
                message["id"] = parsed(words[1]);
            }
            let rest = words.get(3).filter(|rest| **rest != "…").map(|rest| parsed(rest));
            match words[2] {
                "=" => message["result"] = rest.unwrap(),
                "!" => message["error"] = rest.unwrap(),
                method => {
                    message["method"] = method.into();
                    if let Some(rest) = rest {
                        message["params"] = rest;
                    }
                }
            }
            if words[0] == "<" {
                self.write(format!("{message}\n")).await;
                continue;
            }
            let mut heard = self.hear().await;
            if line.ends_with('…') {
                heard.as_object_mut().unwrap().remove("params");
            }
            assert_eq!(heard, message);
        }
    }

    /// The next message; null when the input has ended.
    pub async fn hear(&mut self) -> Value {
        let mut line = String::new();
        let input = self.input.as_mut().expect("it is read");
        input.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap_or_default()
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

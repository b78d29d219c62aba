//! A backend on a WebSocket that does what a test wants, and a client in front of a relay.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use mcp_client::Patience;
use mcp_relay::front::Ready;
use mcp_relay::{Relay, config};
use mcp_wire::peer::{Incoming, Receiver};
use mcp_wire::{Connection, Frame, Peer, Writer};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};

/// What becomes of a request.
pub enum Act {
    Result(Value),
    /// No answer.
    Hang,
    /// The connection ends.
    Die,
    /// It stays, and takes nothing more.
    Freeze,
    /// This text first, and then the result.
    Text(String, Value),
}

/// How a backend acts: the connection's number from 0, the method, its params.
pub type Conduct = Arc<dyn Fn(usize, &str, &Value) -> Act + Send + Sync>;

/// A backend, at its URL.
pub async fn backend(
    conduct: impl Fn(usize, &str, &Value) -> Act + Send + Sync + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}", listener.local_addr().unwrap());
    let conduct: Conduct = Arc::new(conduct);
    let connections = AtomicUsize::new(0);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let number = connections.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(speak(stream, number, conduct.clone()));
        }
    });
    url
}

pub async fn speak<S>(stream: S, number: usize, conduct: Conduct)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    #[expect(clippy::result_large_err, reason = "tungstenite wants it so")]
    let answer = |_: &Request, mut response: Response| {
        response.headers_mut().insert("sec-websocket-protocol", "mcp".parse().unwrap());
        Ok(response)
    };
    let Ok(mut socket) = tokio_tungstenite::accept_hdr_async(stream, answer).await else { return };
    while let Some(Ok(message)) = socket.next().await {
        let Message::Text(text) = message else { continue };
        let asked: Value = serde_json::from_str(&text).unwrap();
        if asked["id"].is_null() || asked["method"].is_null() {
            continue;
        }
        let result = match conduct(number, asked["method"].as_str().unwrap(), &asked["params"]) {
            Act::Result(result) => result,
            Act::Hang => continue,
            Act::Die => return,
            Act::Freeze => return std::future::pending().await,
            Act::Text(text, result) => {
                if socket.send(Message::text(text)).await.is_err() {
                    return;
                }
                result
            }
        };
        let answer = match result {
            Value::Null => {
                json!({ "jsonrpc": "2.0", "id": asked["id"], "error": { "code": -32601, "message": "unknown" } })
            }
            result => json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }),
        };
        if socket.send(Message::text(answer.to_string())).await.is_err() {
            return;
        }
    }
}

/// A backend of one revision that greets and lists these tools and a resource, and for all else does what `act` says, with
/// the connection's number from 0.
pub async fn actor<F>(
    revision: &'static str,
    tools: &'static [&'static str],
    act: impl Fn(usize, Writer, Frame) -> F + Send + Sync + 'static,
) -> String
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}", listener.local_addr().unwrap());
    let act = Arc::new(act);
    tokio::spawn(async move {
        for number in 0.. {
            let (stream, _) = listener.accept().await.unwrap();
            let act = act.clone();
            tokio::spawn(async move {
                let opened =
                    mcp_wire::ws::accept(stream, &Default::default(), mcp_wire::frame::FRAME_LIMIT)
                        .await;
                let Connection { writer, mut reader } = opened.unwrap();
                while let Some(Ok(frame)) = reader.recv().await {
                    let able = json!({ "tools": {}, "resources": { "subscribe": true } });
                    let info = json!({ "name": "b", "version": "1" });
                    let session = revision < "2026";
                    let result = match frame.method.as_deref().unwrap_or_default() {
                        "initialize" if session => {
                            json!({ "protocolVersion": revision, "capabilities": able, "serverInfo": info })
                        }
                        "server/discover" if !session => {
                            json!({ "supportedVersions": [revision], "capabilities": able })
                        }
                        "initialize" | "server/discover" => Value::Null,
                        "tools/list" => {
                            json!({ "tools": tools.iter().map(|name| tool(name)).collect::<Vec<_>>() })
                        }
                        "resources/list" => {
                            json!({ "resources": [{ "uri": "test://a", "name": "a" }] })
                        }
                        "resources/templates/list" => json!({ "resourceTemplates": [] }),
                        _ => {
                            tokio::spawn(act(number, writer.clone(), frame));
                            continue;
                        }
                    };
                    let answer = match result {
                        Value::Null => Frame::error(frame.id, -32601, "unknown"),
                        result => Frame::result(frame.id.unwrap(), result),
                    };
                    writer.send(answer).await.unwrap();
                }
            });
        }
    });
    url
}

/// What a sound backend with these tools says to all but `tools/call`; a call answers with the tool's name.
pub fn sound(tools: &[&str], method: &str, params: &Value) -> Act {
    Act::Result(match method {
        "initialize" => {
            json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": { "name": "b", "version": "1" } })
        }
        "tools/list" => json!({ "tools": tools.iter().map(|name| tool(name)).collect::<Vec<_>>() }),
        "tools/call" => said(params["name"].as_str().unwrap()),
        _ => Value::Null,
    })
}

/// A tool; its name says what it does.
pub fn tool(name: &str) -> Value {
    let hints = json!({ "readOnlyHint": name.starts_with("read"), "idempotentHint": name.starts_with("idempotent") });
    json!({ "name": name, "description": "a tool", "inputSchema": { "type": "object" }, "annotations": hints })
}

pub fn said(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// A relay that is as patient as a test.
pub fn relay(yaml: &str) -> Arc<Relay> {
    Relay::start(config::parse(yaml, &|_| None).unwrap(), None, patience(), Ready::default())
}

pub fn patience() -> Patience {
    Patience {
        connect: Duration::from_secs(2),
        pauses: (Duration::from_millis(50), Duration::from_millis(200)),
        hurry: Duration::from_millis(20),
        ..Relay::patience()
    }
}

/// A client that has greeted.
pub struct Client {
    pub peer: Peer,
    pub told: Receiver<Incoming>,
}

pub async fn client(relay: &Arc<Relay>) -> Client {
    let (near, far) = Connection::pair();
    tokio::spawn(relay.clone().serve(far));
    greet(near, json!({})).await
}

/// Greets as a client with these capabilities.
pub async fn greet(connection: Connection, able: Value) -> Client {
    let (peer, told) = Peer::new(connection);
    let client = Client { peer, told };
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": able, "clientInfo": { "name": "t", "version": "1" } });
    client.ask("initialize", hello).await.unwrap();
    client.peer.notify("notifications/initialized", ()).await.unwrap();
    client
}

impl Client {
    /// What it is told apart.
    pub fn split(mut self) -> (Self, Receiver<Incoming>) {
        let told = std::mem::replace(&mut self.told, Peer::new(Connection::pair().0).1);
        (self, told)
    }

    /// Reads what it is told, and forgets it.
    pub fn deaf(self) -> Self {
        let (own, mut told) = self.split();
        tokio::spawn(async move { while told.recv().await.is_some() {} });
        own
    }

    pub async fn ask(&self, method: &str, params: Value) -> Result<Value, String> {
        let call = self.peer.call(method, params).await.timeout(Duration::from_secs(20));
        let answer = call.result().await.map_err(|error| error.to_string())?;
        Ok(serde_json::from_str(answer.get()).unwrap())
    }

    /// The text of a call's result.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<String, String> {
        let answer =
            self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await?;
        Ok(answer["content"][0]["text"].as_str().unwrap().to_owned())
    }

    /// The tools of the backends.
    pub async fn tools(&self) -> Vec<String> {
        let list = self.ask("tools/list", json!({})).await.unwrap();
        let names = list["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned());
        names.filter(|name| !name.starts_with("relay_")).collect()
    }

    /// How a backend is, as `relay_get_status` says it.
    pub async fn status(&self, name: &str) -> Value {
        let status: Value =
            serde_json::from_str(&self.call("relay_get_status", json!({})).await.unwrap()).unwrap();
        status["servers"].as_array().unwrap().iter().find(|it| it["name"] == name).unwrap().clone()
    }

    /// The next notification.
    pub async fn told(&mut self) -> Frame {
        match self.told.recv().await {
            Some(Incoming::Notification(frame)) => frame,
            _ => panic!("no notification"),
        }
    }
}

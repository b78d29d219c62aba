//! A server in this process, which does what a test wants.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use mcp_client::config::Sdk;
use mcp_client::{Options, Patience, Server, Transport};
use mcp_wire::Connection;
use mcp_wire::frame::{Frame, Kind};
use rmcp::ServiceExt;
use serde_json::{Value, json};

/// A server whose connections are opened by `open`.
pub fn server(name: &str, open: Sdk) -> Server {
    Server {
        name: name.to_owned(),
        transport: Transport::Sdk,
        sdk: Some(open),
        ..Server::default()
    }
}

/// Each connection is served by a task of its own.
pub fn served<F>(serve: impl Fn(Connection) -> F + Send + Sync + 'static) -> Sdk
where
    F: Future<Output = ()> + Send + 'static,
{
    Arc::new(move || {
        let (near, far) = Connection::pair();
        tokio::spawn(serve(far));
        Box::pin(std::future::ready(Ok(near)))
    })
}

/// A mock server of the course, which is on the SDK, over a pair of streams.
pub fn mock(name: &'static str) -> Server {
    let open: Sdk = Arc::new(move || {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let mock = mock_servers::mcp::MockServer::named(name).unwrap();
        tokio::spawn(async move { mock.serve(theirs).await.unwrap().waiting().await });
        let (read, write) = tokio::io::split(ours);
        Box::pin(std::future::ready(Ok(mcp_wire::stdio::lines(read, write, 1 << 20))))
    });
    server(name, open)
}

/// Nothing is left to chance.
pub fn options() -> Options {
    let jitter: mcp_client::link::Jitter = Arc::new(|most: Duration| most);
    let patience = Patience {
        jitter,
        ..Patience::default()
    };
    Options {
        patience,
        ..Options::default()
    }
}

/// The answer to what every server is asked; None for the rest.
pub fn manners(frame: &Frame) -> Option<Value> {
    Some(match frame.method.as_deref()? {
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "here", "version": "1" },
        }),
        "tools/list" => json!({ "tools": [
            { "name": "look", "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true } },
            { "name": "set", "inputSchema": { "type": "object" }, "annotations": { "idempotentHint": true } },
            { "name": "deploy", "inputSchema": { "type": "object" } },
        ] }),
        _ => return None,
    })
}

/// Answers a request; a call with its own arguments.
pub async fn answer(connection: &Connection, frame: Frame) {
    if frame.kind() != Kind::Request {
        return;
    }
    let result = manners(&frame).unwrap_or_else(|| {
        let params = frame.params.as_deref().map_or("{}", |params| params.get());
        json!({ "content": [{ "type": "text", "text": params }] })
    });
    let _ = connection.writer.send(Frame::result(frame.id.unwrap(), result)).await;
}

/// A server that answers everything.
pub async fn kind(mut connection: Connection) {
    while let Some(Ok(frame)) = connection.reader.recv().await {
        answer(&connection, frame).await;
    }
}

/// Lets so many seconds of the paused clock go by.
pub async fn seconds(count: u64) {
    let _ = tokio::time::timeout(Duration::from_secs(count), std::future::pending::<()>()).await;
}

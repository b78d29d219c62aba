//! What a client sees of a program with tools of its own, in both lifecycles.

use std::sync::Arc;

use kit::BoxFuture;
use mcp_relay::service::{self, About, Call, Refusal, Service, raw};
use mcp_wire::{Connection, Frame, body};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};

struct Echo {
    changes: watch::Sender<()>,
    let_go: Arc<Notify>,
}

impl Service for Echo {
    fn about(&self) -> About {
        About {
            name: "echo".into(),
            version: "1".into(),
            capabilities: json!({}),
            instructions: "Says it again.".into(),
        }
    }

    fn tools(&self) -> Vec<Box<RawValue>> {
        vec![raw(json!({ "name": "say", "description": "", "inputSchema": { "type": "object" } }))]
    }

    fn call(&self, call: Call) -> BoxFuture<'static, Result<Box<RawValue>, Refusal>> {
        let let_go = self.let_go.clone();
        Box::pin(async move {
            match &*call.name {
                "say" => {
                    call.progress.report(json!({ "progress": 1 })).await;
                    Ok(service::text(call.arguments.get()))
                }
                "wait" => {
                    let_go.notified().await;
                    Ok(service::text("at last"))
                }
                name => Err(Refusal::new(-32602, format!("Unknown tool: {name}"))),
            }
        })
    }

    fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }
}

fn started() -> (Arc<Echo>, Connection, tokio::task::JoinHandle<()>) {
    let echo = Arc::new(Echo {
        changes: watch::channel(()).0,
        let_go: Arc::default(),
    });
    let (near, far) = Connection::pair();
    let serving = tokio::spawn(service::serve(echo.clone(), far));
    (echo, near, serving)
}

fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}

async fn ask(client: &mut Connection, id: u64, method: &str, params: Value) -> Value {
    client.writer.send(Frame::request(id, method, params)).await.unwrap();
    next(client).await
}

async fn next(client: &mut Connection) -> Value {
    let frame = client.reader.recv().await.unwrap().unwrap();
    serde_json::from_str(&frame.to_string()).unwrap()
}

#[tokio::test]
async fn the_handshake_a_call_with_progress_and_a_change() {
    let (echo, mut client, _serving) = started();
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {} });
    let hello = ask(&mut client, 1, "initialize", hello).await;
    assert_eq!(hello["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(hello["result"]["capabilities"], json!({ "tools": { "listChanged": true } }));
    assert_eq!(hello["result"]["instructions"], "Says it again.");
    assert_eq!(ask(&mut client, 2, "ping", json!({})).await["result"], json!({}));
    let call = json!({ "name": "say", "arguments": { "n": 1 }, "_meta": { "progressToken": "t" } });
    let progress = ask(&mut client, 3, "tools/call", call).await;
    assert_eq!(progress["params"], json!({ "progress": 1, "progressToken": "t" }));
    assert_eq!(next(&mut client).await["result"]["content"][0]["text"], "{\"n\":1}");
    for (method, code) in [("tools/call", -32602), ("nothing/known", -32601)] {
        let refused = ask(&mut client, 4, method, json!({ "name": "other" })).await;
        assert_eq!(refused["error"]["code"], code);
    }
    client.writer.send(Frame::notification("notifications/initialized", ())).await.unwrap();
    // Answered behind it, so it has been read.
    ask(&mut client, 5, "ping", json!({})).await;
    echo.changes.send_replace(());
    assert_eq!(next(&mut client).await["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn a_request_that_stands_for_itself() {
    let (echo, mut client, _serving) = started();
    let found = ask(&mut client, 1, "server/discover", modern(json!({}))).await;
    assert_eq!(found["result"]["supportedVersions"], json!(["2026-07-28"]));
    let tools = ask(&mut client, 2, "tools/list", modern(json!({}))).await;
    assert_eq!(
        (&tools["result"]["ttlMs"], &tools["result"]["cacheScope"]),
        (&json!(0), &json!("private"))
    );
    assert_eq!(ask(&mut client, 3, "ping", modern(json!({}))).await["error"]["code"], -32601);
    let mut old = modern(json!({}));
    old["_meta"]["io.modelcontextprotocol/protocolVersion"] = "1900-01-01".into();
    let refused = ask(&mut client, 4, "tools/list", old).await;
    assert_eq!(refused["error"]["data"]["supported"], json!(["2026-07-28"]));
    let filter = modern(json!({ "notifications": { "toolsListChanged": true, "other": true } }));
    let told = ask(&mut client, 5, "subscriptions/listen", filter).await;
    assert_eq!(told["params"]["notifications"], json!({ "toolsListChanged": true }));
    echo.changes.send_replace(());
    let told = next(&mut client).await;
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 5);
}

#[tokio::test]
async fn a_cancelled_call_is_not_answered_and_the_last_one_is() {
    let (echo, mut client, serving) = started();
    for id in [1_u64, 2] {
        let call = Frame::request(id, "tools/call", json!({ "name": "wait" }));
        client.writer.send(call).await.unwrap();
    }
    let cancelled = json!({ "requestId": 1 });
    let cancelled = Frame::notification("notifications/cancelled", cancelled);
    client.writer.send(cancelled).await.unwrap();
    ask(&mut client, 3, "ping", json!({})).await;
    // The client has no more to say.
    drop(client.writer);
    echo.let_go.notify_waiters();
    echo.let_go.notify_one();
    let answer = client.reader.recv().await.unwrap().unwrap();
    assert_eq!(answer.id.unwrap().as_json(), "2");
    assert_eq!(body::text(&answer.result.unwrap(), &["content"]), None);
    assert!(client.reader.recv().await.is_none());
    serving.await.unwrap();
}

//! The shim: what the owner lists and answers is what an MCP client gets.

use std::sync::Arc;

use mcp_bridge::shim::Shim;
use mcp_relay::service;
use mcp_wire::peer::Incoming;
use mcp_wire::{Connection, Peer};
use serde_json::{Value, json};

use crate::api::{host, relayed, schemas};

fn value(raw: &serde_json::value::RawValue) -> Value {
    serde_json::from_str(raw.get()).unwrap()
}

#[tokio::test]
async fn schemas_results_progress_and_changes_go_through_whole() {
    let folder = tempfile::tempdir().unwrap();
    let (host, changes) = host(folder.path(), relayed().1).await;
    let (port, token) = (host.address().port(), host.tokens.file("one"));
    let (database, mut calls) =
        (host.owner.database.clone(), host.owner.agent("one").unwrap().calls());
    let serving = tokio::spawn(host.serve());
    let shim = Shim::start(port, "one", token).await;
    let (near, far) = Connection::pair();
    tokio::spawn(service::serve(Arc::clone(&shim), far));
    let (peer, mut incoming) = Peer::new(near);
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    peer.call("initialize", hello).await.result().await.unwrap();
    peer.notify("notifications/initialized", ()).await.unwrap();

    let list = value(&peer.call("tools/list", ()).await.result().await.unwrap());
    let tool = |name: &str| {
        list["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap().clone()
    };
    for (at, schema) in schemas().iter().enumerate() {
        let tool = tool(&format!("world_schema{at}"));
        assert_eq!(
            (&tool["inputSchema"], &tool["x-more"]["kept"]),
            (schema, &json!(12345678901234567890u64))
        );
    }
    assert_eq!(tool("task_create")["inputSchema"]["required"], json!(["title"]));

    let params = |name: &str| json!({"name": name, "arguments": {}});
    let mut call = peer.call_with_progress("tools/call", params("world_report")).await;
    let report = call.progress().await.expect("progress");
    assert_eq!(value(&report)["total"], 2);
    let done = call.result().await.unwrap();
    assert_eq!(value(&done)["content"][0]["type"], "image");
    assert_eq!(value(&done)["structuredContent"]["big"], json!(12345678901234567890u64));
    for (name, why) in [
        ("task_create", "missing field `title` (HTTP"),
        ("budget_check", "not a tool of one"),
        ("../two/budget_check", "no tool"),
    ] {
        let failed = value(&peer.call("tools/call", params(name)).await.result().await.unwrap());
        let text = failed["content"][0]["text"].as_str().unwrap();
        let same = why.trim_end_matches(" (HTTP");
        assert!(failed["isError"] == true && text.contains(same), "{name}: {text}");
    }

    calls.mark_unchanged();
    let hanging = peer.call("tools/call", params("world_hang")).await;
    calls.changed().await.unwrap();
    drop(hanging);
    let cancelled = async || {
        let sql =
            "SELECT count(*) FROM audit WHERE tool = 'world_hang' AND outcome = '499 cancelled'";
        let count = database.run(move |tx| Ok(tx.query_row(sql, [], |row| row.get::<_, i64>(0))?));
        count.await.unwrap() == 1
    };
    while !cancelled().await {
        tokio::task::yield_now().await;
    }

    changes.send_replace(());
    loop {
        match incoming.recv().await.unwrap() {
            Incoming::Notification(frame) if frame.calls("notifications/tools/list_changed") => {
                break;
            }
            _ => {}
        }
    }
    serving.abort();
}

/// A token of another agent, or none: the client is told, and not that there are no tools.
#[tokio::test]
async fn what_keeps_a_shim_from_its_tools_is_said_in_its_instructions() {
    use mcp_relay::service::Service;
    let folder = tempfile::tempdir().unwrap();
    let (host, _) = host(folder.path(), relayed().1).await;
    let (port, other) = (host.address().port(), host.tokens.file("two"));
    let _serving = tokio::spawn(host.serve());
    tokio::time::pause();
    for (token, why) in [(other, "token of two"), (folder.path().join("none"), "No such file")] {
        let shim = Shim::start(port, "one", token).await;
        while !shim.about().instructions.contains(why) {
            tokio::task::yield_now().await;
        }
        assert!(shim.tools().is_empty());
    }
}

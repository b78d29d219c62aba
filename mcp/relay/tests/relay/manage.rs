//! The five tools: their texts to the letter, and what becomes of the file.

use std::sync::Arc;

use mcp_relay::front::Ready;
use mcp_relay::{Relay, watcher};
use serde_json::{Value, json};

use crate::scene::{backend, client, patience, sound};

#[tokio::test]
async fn the_texts_the_json_and_the_file() {
    let url = backend(|_, method, params| sound(&["a", "b"], method, params)).await;
    let more = backend(|_, method, params| sound(&["c"], method, params)).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("backends.yaml");
    let written = format!("# ours\nbackends:\n  - name: marco   # the browser\n    url: {url}\n");
    std::fs::write(&file, &written).unwrap();
    let entries = watcher::read(&file).unwrap();
    let relay: Arc<Relay> = Relay::start(entries, Some(file.clone()), patience(), Ready::default());
    let client = client(&relay).await;
    client.tools().await;

    let status: Value =
        serde_json::from_str(&client.call("relay_get_status", json!({})).await.unwrap()).unwrap();
    assert_eq!(
        status,
        json!({ "total_servers": 1, "connected_servers": 1, "servers": [
        { "name": "marco", "url": url, "connected": true, "health": "healthy", "tools": 2, "tool_names": ["a", "b"] }
    ] })
    );
    let list = client.call("relay_list_servers", json!({})).await.unwrap();
    assert_eq!(
        list,
        format!(
            "**MCP Relay - Connected Servers:**\n\n- **marco**: ✅ Connected (healthy)\n  - URL: {url}\n  - Valid Tools: 2"
        )
    );
    let again = client.call("relay_reconnect_server", json!({ "name": "marco" })).await.unwrap();
    assert_eq!(again, "✅ Server 'marco' reconnected.\nValid Tools: 2\nHealth: healthy");

    let added = client
        .call("relay_add_server", json!({ "name": "new_backend", "url": more }))
        .await
        .unwrap();
    assert_eq!(
        added,
        format!(
            "✅ Server 'new_backend' added and connected\nURL: {more}\nTools discovered: 1\nHealth: healthy\n\n💾 Configuration saved."
        )
    );
    assert_eq!(client.call("c", json!({})).await.unwrap(), "c");
    let now = format!("{written}  - name: new_backend\n    url: {more}\n");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), now);

    for (tool, arguments, why) in [
        (
            "relay_add_server",
            json!({ "name": "marco", "url": more }),
            "❌ Server 'marco' already exists.",
        ),
        (
            "relay_add_server",
            json!({ "name": "x", "url": "gopher://y" }),
            "❌ Server 'x' not added",
        ),
        (
            "relay_remove_server",
            json!({ "name": "x" }),
            "❌ Server 'x' not found. Servers: marco, new_backend",
        ),
        ("relay_reconnect_server", json!({ "name": "x" }), "❌ Server 'x' not found."),
    ] {
        let answer = client
            .ask("tools/call", json!({ "name": tool, "arguments": arguments }))
            .await
            .unwrap();
        assert_eq!(answer["isError"], true);
        assert!(answer["content"][0]["text"].as_str().unwrap().starts_with(why), "{answer}");
    }
    let why = client.call("relay_remove_server", json!({})).await.unwrap_err();
    assert!(why.contains("`name` is missing"), "{why}");

    let removed =
        client.call("relay_remove_server", json!({ "name": "new_backend" })).await.unwrap();
    assert_eq!(removed, "✅ Server 'new_backend' removed.\n\n💾 Configuration saved.");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), written);
    assert_eq!(client.tools().await, ["a", "b"]);
}

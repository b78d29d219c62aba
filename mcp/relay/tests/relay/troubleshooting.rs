//! The README's table of troubles, line by line: each is brought about, looks as it says, and is gone after what it advises.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mcp_relay::config;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::scene::{Act, Client, backend, client, relay, sound, tool};

/// The row of the README that begins so: what is between backquotes in its first and second cell.
fn row(begin: &str) -> [Vec<&'static str>; 2] {
    let table = include_str!("../../README.md").split("## When something is wrong").nth(1).unwrap();
    let mut rows = table.lines().filter_map(|line| line.strip_prefix("| "));
    let row = rows.find(|row| row.starts_with(begin)).unwrap_or_else(|| panic!("no row {begin}"));
    let mut cells = row.split(" | ");
    let mut quoted = || cells.next().unwrap().split('`').skip(1).step_by(2).collect();
    [quoted(), quoted()]
}

/// Whether a row says what is seen and what the status says; `…` stands for anything.
fn check(begin: &str, seen: &str, status: &Value) {
    let status = status.to_string();
    for (quoted, text) in row(begin).iter().zip([seen, &status]) {
        for part in quoted.iter().flat_map(|quoted| quoted.split('…')) {
            assert!(text.contains(part), "{begin}: {part:?} is not in {text}");
        }
    }
}

async fn reconnected(client: &Client, name: &str) {
    let said = client.call("relay_reconnect_server", json!({ "name": name })).await.unwrap();
    assert!(said.starts_with(&format!("✅ Server '{name}' reconnected.")), "{said}");
}

#[tokio::test]
async fn a_tool_that_is_not_there_and_one_that_is_invalid() {
    let mended = Arc::new(AtomicBool::new(false));
    let (now, then) = (mended.clone(), mended.clone());
    let away = backend(move |_, method, params| {
        let up = now.load(Ordering::Relaxed);
        if up { sound(&["gates_open"], method, params) } else { Act::Die }
    });
    let bad = backend(move |_, method, params| match method {
        "tools/list" if !then.load(Ordering::Relaxed) => Act::Result(
            json!({ "tools": [{ "name": "bad_tool", "description": "d" }, tool("fine")] }),
        ),
        _ => sound(&["bad_tool", "fine"], method, params),
    });
    let (away, bad) = (away.await, bad.await);
    let relay = relay(&format!(
        "backends: [{{name: gates, url: '{away}'}}, {{name: marco, url: '{bad}'}}]"
    ));
    let client = client(&relay).await;
    assert_eq!(client.tools().await, ["fine"]);
    let seen = client.call("gates_open", json!({})).await.unwrap_err();
    check("`No such tool available: gates_open`", &seen, &client.status("gates").await);
    check("a server is `degraded`", "degraded", &client.status("marco").await);
    mended.store(true, Ordering::Relaxed);
    reconnected(&client, "gates").await;
    reconnected(&client, "marco").await;
    assert_eq!(client.call("gates_open", json!({})).await.unwrap(), "gates_open");
    assert_eq!(client.status("marco").await["health"], "healthy");
}

#[tokio::test]
async fn two_with_one_name_and_a_port_where_nobody_is() {
    let (docs, wiki) = (
        backend(|_, method, params| sound(&["search"], method, params)).await,
        backend(|_, method, params| sound(&["search"], method, params)).await,
    );
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let yaml = |prefix: &str| {
        format!(
            "backends: [{{name: docs, url: '{docs}'}}, {{name: wiki, url: '{wiki}'{prefix}}}, {{name: gates, url: 'ws://{closed}'}}]"
        )
    };
    let relay = relay(&yaml(""));
    let client = client(&relay).await;
    assert_eq!(client.tools().await, ["search"]);
    check("a tool of the second server", "", &client.status("wiki").await);
    check("a server is `failed`", "failed", &client.status("gates").await);
    relay.reload(config::parse(&yaml(", prefix: wiki_"), &|_| None).unwrap()).await;
    assert_eq!(client.tools().await, ["search", "wiki_search"]);
    client.call("relay_remove_server", json!({ "name": "gates" })).await.unwrap();
    let right = backend(|_, method, params| sound(&["gates_open"], method, params)).await;
    let added =
        client.call("relay_add_server", json!({ "name": "gates", "url": right })).await.unwrap();
    assert!(added.starts_with("✅ Server 'gates' added and connected"), "{added}");
}

#[tokio::test]
async fn a_slow_tool_and_one_whose_server_dies_in_the_call() {
    let url = backend(|_, method, params| match params["name"].as_str() {
        Some("slow") => Act::Hang,
        Some("die") => Act::Die,
        _ => sound(&["slow", "die"], method, params),
    });
    let relay = relay(&format!("backends: [{{name: b, url: '{}', timeout_s: 1}}]", url.await));
    let client = client(&relay).await;
    let seen = client.call("slow", json!({})).await.unwrap_err();
    check("`… has not answered within", &seen, &client.status("b").await);
    let seen = client.call("die", json!({})).await.unwrap_err();
    check("`…; nobody knows whether", &seen, &json!("failed healthy"));
}

#[test]
fn an_edit_that_cannot_be_read() {
    let why = config::parse("backends: [{name: a, url: 'ws://a'}, {name: b, url: 3}]", &|_| None);
    check("an edit of the file", "", &json!(why.err().unwrap()));
}

//! Each way in which a backend fails, over a real socket, and what becomes of it and of the others.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::net::TcpListener;

use crate::scene::{Act, backend, client, relay, said, sound};

/// A backend that works.
async fn good() -> String {
    backend(|_, method, params| sound(&["good"], method, params)).await
}

#[tokio::test]
async fn one_that_refuses_fails_alone_and_is_named() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let yaml = format!(
        "backends: [{{name: gates, url: 'ws://{closed}'}}, {{name: fine, url: '{}'}}]",
        good().await
    );
    let relay = relay(&yaml);
    let client = client(&relay).await;
    assert_eq!(client.tools().await, ["good"]);
    assert_eq!(client.call("good", json!({})).await.unwrap(), "good");
    let gates = client.status("gates").await;
    assert_eq!((&gates["connected"], &gates["health"]), (&json!(false), &json!("failed")));
    assert!(gates["error"].as_str().unwrap().contains("refused"), "{gates}");
    let why = client.call("gates_open", json!({})).await.unwrap_err();
    assert!(why.starts_with("No such tool available: gates_open"), "{why}");
}

#[tokio::test]
async fn one_that_hangs_in_the_handshake_delays_nobody_else() {
    let hanging = backend(|_, _, _| Act::Hang).await;
    let yaml = format!(
        "backends: [{{name: slow, url: '{hanging}'}}, {{name: fine, url: '{}'}}]",
        good().await
    );
    let relay = relay(&yaml);
    let client = client(&relay).await;
    let began = Instant::now();
    assert_eq!(
        client.call("relay_list_servers", json!({})).await.unwrap().matches("unknown").count(),
        2
    );
    assert_eq!(client.call("good", json!({})).await.unwrap(), "good");
    assert_eq!(client.tools().await, ["good"]);
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_call_that_hangs_ends_in_time_and_others_go_on_meanwhile() {
    let url = backend(|_, method, params| match params["name"].as_str() {
        Some("hang") => Act::Hang,
        _ => sound(&["hang", "other"], method, params),
    });
    let relay = relay(&format!("backends: [{{name: b, url: '{}', timeout_s: 1}}]", url.await));
    let client = client(&relay).await;
    let (hanging, other) =
        tokio::join!(client.call("hang", json!({})), client.call("other", json!({})));
    assert_eq!(other.unwrap(), "other");
    let why = hanging.unwrap_err();
    assert!(why.starts_with("b has not answered within 1 s"), "{why}");
}

#[tokio::test]
async fn three_ends_of_a_call_in_which_the_backend_dies() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let url = backend(move |connection, method, params| {
        if method == "tools/call" {
            counted.fetch_add(1, Ordering::Relaxed);
            if params["arguments"]["die"] == connection {
                return Act::Die;
            }
        }
        sound(&["read", "idempotent", "destroy"], method, params)
    });
    let relay = relay(&format!("backends: [{{name: b, url: '{}'}}]", url.await));
    let client = client(&relay).await;
    assert_eq!(client.call("read", json!({ "die": 0 })).await.unwrap(), "read");
    assert_eq!(client.call("idempotent", json!({ "die": 1 })).await.unwrap(), "idempotent");
    assert_eq!(calls.load(Ordering::Relaxed), 4);
    let why = client.call("destroy", json!({ "die": 2 })).await.unwrap_err();
    assert!(why.starts_with("b: ") && why.contains("nobody knows"), "{why}");
    assert_eq!(client.call("destroy", json!({})).await.unwrap(), "destroy");
    assert_eq!(calls.load(Ordering::Relaxed), 6);
}

#[tokio::test]
async fn one_that_comes_back_with_other_tools_is_listed_anew() {
    let url = backend(|connection, method, params| match (connection, params["name"].as_str()) {
        (0, Some("read_old")) => Act::Die,
        (0, _) => sound(&["read_old"], method, params),
        _ => sound(&["new"], method, params),
    });
    let relay = relay(&format!("backends: [{{name: b, url: '{}'}}]", url.await));
    let mut client = client(&relay).await;
    assert_eq!(client.tools().await, ["read_old"]);
    assert!(client.told().await.calls("notifications/tools/list_changed"));
    client.call("read_old", json!({})).await.unwrap();
    assert!(client.told().await.calls("notifications/tools/list_changed"));
    assert_eq!(client.tools().await, ["new"]);
    assert_eq!(client.status("b").await["tool_names"], json!(["new"]));
}

#[tokio::test]
async fn an_answer_of_twenty_megabytes_and_garbage_cost_a_call_at_most() {
    let url = backend(|_, method, params| match params["name"].as_str() {
        Some("huge") => Act::Result(said(&"x".repeat(20 << 20))),
        Some("garbage") => Act::Text("what is this {".to_owned(), said("garbage")),
        _ => sound(&["huge", "garbage", "small"], method, params),
    });
    let yaml = format!(
        "backends: [{{name: b, url: '{}'}}, {{name: fine, url: '{}'}}]",
        url.await,
        good().await
    );
    let relay = relay(&yaml);
    let client = client(&relay).await;
    assert_eq!(client.call("garbage", json!({})).await.unwrap(), "garbage");
    let (huge, good) = tokio::join!(client.call("huge", json!({})), client.call("good", json!({})));
    assert_eq!(good.unwrap(), "good");
    let why = huge.unwrap_err();
    assert!(why.starts_with("b: "), "{why}");
    assert_eq!(client.call("small", json!({})).await.unwrap(), "small");
}

#[tokio::test]
async fn a_bad_tool_is_left_out_and_named_and_nonsense_instead_of_a_list_is_degraded() {
    let bad = backend(|_, method, params| match method {
        "tools/list" => Act::Result(
            json!({ "tools": [{ "name": "bad_tool", "description": "d" }, crate::scene::tool("fine")] }),
        ),
        _ => sound(&[], method, params),
    });
    let odd = backend(|_, method, params| match method {
        "tools/list" => Act::Result(json!({ "tools": "none" })),
        _ => sound(&[], method, params),
    });
    let yaml = format!(
        "backends: [{{name: bad, url: '{}'}}, {{name: odd, url: '{}'}}]",
        bad.await,
        odd.await
    );
    let relay = relay(&yaml);
    let client = client(&relay).await;
    assert_eq!(client.tools().await, ["fine"]);
    let bad = client.status("bad").await;
    assert_eq!((&bad["health"], &bad["tools"]), (&json!("degraded"), &json!(1)));
    assert_eq!(bad["error"], "Invalid tools: bad_tool - Missing 'inputSchema' field");
    let odd = client.status("odd").await;
    assert_eq!((&odd["health"], &odd["connected"]), (&json!("degraded"), &json!(true)));
    let list = client.call("relay_list_servers", json!({})).await.unwrap();
    assert!(list.contains("- **bad**: ⚠️ Connected (degraded)\n"), "{list}");
    assert!(
        list.contains(
            "  - Valid Tools: 1\n  - Invalid Tools: 1\n  - Error: Invalid tools: bad_tool"
        ),
        "{list}"
    );
}

//! Each way in which a backend fails, over a real socket, and what becomes of it and of the others.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mcp_client::Patience;
use mcp_relay::front::Ready;
use mcp_relay::{Relay, config};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::scene::{Act, backend, client, relay, said, sound, speak};

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

#[tokio::test]
async fn a_connection_that_is_only_half_there_is_noticed_by_its_silence() {
    let url = backend(|connection, method, params| match (connection, method) {
        // It takes nothing more, a ping neither, and hangs up on nobody.
        (0, "tools/call") => Act::Freeze,
        _ => sound(&["read", "destroy"], method, params),
    });
    let patience = Patience {
        connect: Duration::from_secs(60),
        ..crate::scene::patience()
    };
    let entries =
        config::parse(&format!("backends: [{{name: b, url: '{}'}}]", url.await), &|_| None);
    let relay = Relay::start(entries.unwrap(), None, patience, Ready::default());
    let client = client(&relay).await;
    assert_eq!(client.tools().await, ["read", "destroy"]);
    let (read, destroy) = (json!({ "name": "read" }), json!({ "name": "destroy" }));
    let began = tokio::time::Instant::now();
    let (read, destroy) =
        tokio::join!(client.peer.call("tools/call", read), client.peer.call("tools/call", destroy));
    tokio::time::pause();
    let (read, destroy) = tokio::join!(read.result(), destroy.result());
    tokio::time::resume();
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    assert!(read.unwrap().get().contains("read"));
    let why = destroy.unwrap_err().to_string();
    assert!(why.starts_with("b: no sign of life") && why.contains("nobody knows"), "{why}");
}

#[tokio::test]
async fn a_certificate_for_another_name_is_refused_and_named() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/relay/tls");
    let chain = vec![CertificateDer::from_pem_file(folder.join("server.pem")).unwrap()];
    let key = PrivateKeyDer::from_pem_file(folder.join("server.key")).unwrap();
    let config = rustls::ServerConfig::builder().with_no_client_auth();
    let tls = TlsAcceptor::from(Arc::new(config.with_single_cert(chain, key).unwrap()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let tls = tls.clone();
            tokio::spawn(async move {
                if let Ok(stream) = tls.accept(stream).await {
                    speak(stream, 0, Arc::new(|_, method, params| sound(&["a"], method, params)))
                        .await;
                }
            });
        }
    });
    let file = tempfile::NamedTempFile::new().unwrap();
    let yaml = format!(
        "backends:\n  - name: right\n    url: wss://localhost:{port}\n  - name: wrong\n    url: wss://127.0.0.1:{port}\n"
    );
    std::fs::write(file.path(), yaml).unwrap();
    let mut check = tokio::process::Command::new(env!("CARGO_BIN_EXE_mcp_relay"));
    check.args(["--config", file.path().to_str().unwrap(), "check"]);
    let ended = check.env("SSL_CERT_FILE", folder.join("ca.pem")).output().await.unwrap();
    let table = String::from_utf8(ended.stdout).unwrap();
    let rows: Vec<_> = table.lines().collect();
    assert!(rows[1].starts_with("right   ws         healthy  1"), "{table}");
    assert!(rows[2].starts_with("wrong   ws         failed   0"), "{table}");
    assert!(rows[2].contains("certificate not valid for name"), "{table}");
    assert_eq!(ended.status.code(), Some(1));
}

#[tokio::test]
async fn what_a_variable_holds_is_shown_nowhere() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let entries = ["http", "ws", "wss"].map(|scheme| {
        format!(
            "{{name: {scheme}, url: '{scheme}://user:${{KEY}}@{closed}/${{KEY}}?key=${{KEY}}'}}"
        )
    });
    let yaml = format!("backends: [{}]", entries.join(", "));
    let entries = config::parse(&yaml, &|_| Some("sesame".to_owned())).unwrap();
    let relay = Relay::start(entries, None, crate::scene::patience(), Ready::default());
    let client = client(&relay).await;
    client.tools().await;
    for scheme in ["http", "ws", "wss"] {
        let status = client.status(scheme).await;
        assert_eq!(status["health"], "failed");
        assert!(status["error"].as_str().unwrap().contains("refused"), "{status}");
        assert!(!status.to_string().contains("sesame"), "{status}");
    }
}

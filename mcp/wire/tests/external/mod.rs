//! Every transport against programs that nobody here wrote: servers at our clients' ends, clients at our servers' ends, and
//! the official conformance suite through `forward`.
//!
//! Invariant: without `cargo x external`, which installs them, the tests say so in a line and pass.

#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use mcp_wire::frame::FRAME_LIMIT;
use mcp_wire::http::ClientOptions;
use mcp_wire::{Connection, Peer, body, http, stdio, ws};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};

/// Where `cargo x external` has put it.
fn installed(variable: &str) -> Option<PathBuf> {
    let home = std::env::var_os(variable).map(PathBuf::from);
    if home.is_none() {
        println!("skipped: {variable} is not set; cargo x external sets it");
    }
    home
}

/// A program of this crate's examples.
fn example(name: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.ancestors().nth(2).unwrap().join("examples").join(name)
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/external").join(name)
}

/// A program with a port of its own, listening; it ends when it is dropped.
async fn serving(command: &mut Command, port: u16) -> Child {
    let child = command
        .env("PORT", port.to_string())
        .env("NO_PROXY", "127.0.0.1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut every = tokio::time::interval(Duration::from_millis(50));
    for _ in 0..600 {
        every.tick().await;
        if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.is_ok() {
            return child;
        }
    }
    panic!("{command:?} does not listen");
}

async fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    listener.local_addr().unwrap().port()
}

/// A tool that reports its progress, with what its answer says and how many reports come before.
struct Tool(&'static str, Value, &'static str, usize);

/// Shakes hands, or asks without a handshake; lists the tools and calls one.
async fn examine(connection: Connection, modern: bool, tool: &Tool) {
    let (peer, mut incoming) = Peer::new(connection);
    tokio::spawn(async move { while incoming.recv().await.is_some() {} });
    let Tool(name, arguments, says, reports) = tool;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "wire", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let with_meta = |mut params: Value| {
        if modern {
            params["_meta"] = meta.clone();
        }
        params
    };
    let limit = Duration::from_secs(30);
    let first = if modern {
        peer.call("server/discover", with_meta(json!({}))).await
    } else {
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "wire", "version": "1" }
        });
        peer.call("initialize", hello).await
    };
    first.timeout(limit).result().await.unwrap();
    if !modern {
        peer.notify("notifications/initialized", ()).await.unwrap();
    }
    let listed = peer.call("tools/list", with_meta(json!({}))).await;
    let listed = listed.timeout(limit).result().await.unwrap();
    assert!(body::get(&listed, &["tools"]).unwrap().get().contains(name));
    for _ in 0..3 {
        let params = with_meta(json!({ "name": name, "arguments": arguments }));
        let mut call = peer.call_with_progress("tools/call", params).await.timeout(limit);
        let mut seen = 0;
        while call.progress().await.is_some() {
            seen += 1;
        }
        let answer = call.result().await.unwrap();
        assert!(answer.get().contains(says), "{answer}");
        assert_eq!(seen, *reports);
    }
}

fn options(port: u16, path: &str) -> ClientOptions {
    ClientOptions::new(&format!("http://127.0.0.1:{port}{path}"))
}

#[tokio::test]
async fn the_official_server_answers_over_stdio_http_and_legacy_sse() {
    let Some(home) = installed("EXTERNAL_NODE") else {
        return;
    };
    let everything = home.join("node_modules/.bin/mcp-server-everything");
    let arguments = json!({ "duration": 0.2, "steps": 4 });
    let tool = Tool("trigger-long-running-operation", arguments, "completed", 4);
    let mut command = Command::new(&everything);
    let (connection, child) =
        stdio::spawn(command.arg("stdio").stderr(Stdio::null()), FRAME_LIMIT).unwrap();
    examine(connection, false, &tool).await;
    child.stop().await;
    let port = free_port().await;
    let _server = serving(Command::new(&everything).arg("streamableHttp"), port).await;
    examine(http::connect(options(port, "/mcp")), false, &tool).await;
    let port = free_port().await;
    let _server = serving(Command::new(&everything).arg("sse"), port).await;
    examine(http::connect_sse(options(port, "/sse")).await.unwrap(), false, &tool).await;
}

#[tokio::test]
async fn servers_on_the_python_sdks_answer_over_every_transport() {
    let Some(home) = installed("EXTERNAL_PYTHON") else {
        return;
    };
    let tool = Tool("count", json!({ "steps": 5 }), "counted to 5", 5);
    let python = || {
        let mut command = Command::new(home.join("bin/python"));
        command.arg(script("server.py")).stderr(Stdio::null());
        command
    };
    for modern in [false, true] {
        let (connection, child) = stdio::spawn(python().arg("mcp-stdio"), FRAME_LIMIT).unwrap();
        examine(connection, modern, &tool).await;
        child.stop().await;
    }
    for kind in ["mcp-http", "fastmcp-http", "mcp-sse"] {
        let port = free_port().await;
        let _server = serving(python().arg(kind).arg(port.to_string()), port).await;
        if kind == "mcp-sse" {
            let connection = http::connect_sse(options(port, "/sse")).await.unwrap();
            examine(connection, false, &tool).await;
            continue;
        }
        for modern in [false, true] {
            examine(http::connect(options(port, "/mcp")), modern, &tool).await;
        }
    }
}

#[tokio::test]
async fn the_last_python_sdk_with_websocket_answers_over_it() {
    let Some(home) = installed("EXTERNAL_PYTHON_WS") else {
        return;
    };
    let port = free_port().await;
    let mut python = Command::new(home.join("bin/python"));
    let _server =
        serving(python.arg(script("server.py")).arg("ws").arg(port.to_string()), port).await;
    let url = format!("ws://127.0.0.1:{port}/");
    let connection = ws::connect(ClientOptions::new(&url)).await.unwrap();
    examine(connection, false, &Tool("count", json!({ "steps": 5 }), "counted to 5", 5)).await;
}

/// `forward` with the everything server behind it.
async fn forward() -> (Child, String) {
    let port = free_port().await;
    let mut command = Command::new(example("forward"));
    let command = command.args(["--http", &port.to_string(), "--"]).arg(example("everything"));
    let child = serving(command, port).await;
    (child, format!("http://127.0.0.1:{port}/mcp"))
}

/// Runs a referee to its end.
async fn referee(command: &mut Command) -> String {
    let output = command.env("NO_PROXY", "127.0.0.1").stdin(Stdio::null()).output().await.unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{text}\n{errors}");
    text
}

#[tokio::test]
async fn the_inspector_lists_and_calls_through_forward() {
    let Some(home) = installed("EXTERNAL_NODE") else {
        return;
    };
    let (_forward, url) = forward().await;
    for era in ["legacy", "modern"] {
        let ask = async |method: &[&str]| {
            let mut inspector = Command::new(home.join("node_modules/.bin/mcp-inspector"));
            let arguments = ["--cli", &url, "--protocol-era", era, "--method"];
            referee(inspector.args(arguments).args(method)).await
        };
        assert!(ask(&["tools/list"]).await.contains("test_simple_text"));
        let called = ask(&["tools/call", "--tool-name", "test_simple_text"]).await;
        assert!(called.contains("a simple text"), "{called}");
    }
}

#[tokio::test]
async fn clients_on_the_python_sdks_are_served() {
    let Some(home) = installed("EXTERNAL_PYTHON") else {
        return;
    };
    let (_forward, url) = forward().await;
    for kind in ["mcp", "fastmcp"] {
        let mut python = Command::new(home.join("bin/python"));
        referee(python.arg(script("client.py")).args([kind, &url])).await;
    }
}

#[tokio::test]
async fn clients_on_the_typescript_sdks_are_served() {
    let Some(home) = installed("EXTERNAL_SUITE") else {
        return;
    };
    let (_forward, url) = forward().await;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let ws_url = format!("ws://{}/", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move {
        let (client, _) = listener.accept().await.unwrap();
        let front = ws::accept(client, &Default::default(), FRAME_LIMIT).await.unwrap();
        let mut command = Command::new(example("everything"));
        let (mut back, child) = stdio::spawn(&mut command, FRAME_LIMIT).unwrap();
        let mut front = front;
        loop {
            tokio::select! {
                up = front.reader.recv() => match up {
                    Some(frame) => back.writer.send(frame.unwrap()).await.unwrap(),
                    None => break,
                },
                down = back.reader.recv() => {
                    front.writer.send(down.unwrap().unwrap()).await.unwrap();
                }
            }
        }
        child.stop().await;
    });
    let node = home.join("node_modules/.bin/node");
    for (kind, url) in [("v1", &url), ("v2", &url), ("v2-modern", &url), ("ws", &ws_url)] {
        let mut node = Command::new(&node);
        referee(node.arg(script("client.mjs")).arg(&home).args([kind, url])).await;
    }
    serving.await.unwrap();
}

#[tokio::test]
async fn the_conformance_suite_passes_strictly_by_itself_and_through_forward() {
    let Some(home) = installed("EXTERNAL_SUITE") else {
        return;
    };
    let port = free_port().await;
    let mut alone = Command::new(example("everything"));
    let _alone = serving(alone.args(["--http", &port.to_string()]), port).await;
    let (_forward, through) = forward().await;
    for url in [&format!("http://127.0.0.1:{port}/mcp"), &through] {
        for (revision, scored) in [("2025-11-25", 30), ("2026-07-28", 37)] {
            let mut node = Command::new(home.join("node_modules/.bin/node"));
            let run = node.arg(script("suite.mjs")).arg(&home).args([url, revision]);
            let said = referee(run).await;
            assert!(said.contains(&format!("{scored} of them scored")), "{said}");
            println!("{revision} {url}: {said}");
        }
    }
}

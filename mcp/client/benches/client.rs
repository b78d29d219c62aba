//! What a call costs over each transport, beside a bare connection and the SDK's client; what `connect` adds; many at once.
//!
//! `cargo bench -p mcp_client`. All paths take turns in one run, so that the machine's moods fall on all of them. Invariant:
//! servers are processes of their own, as they are in life.

#![expect(clippy::unwrap_used, reason = "a measurement that fails says where")]

use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use mcp_client::fleet::{Limits, each};
use mcp_client::{Client, Options, Server};
use mcp_wire::frame::FRAME_LIMIT;
use mcp_wire::http::{ClientOptions, Listener, ServerOptions};
use mcp_wire::peer::Incoming;
use mcp_wire::{Connection, Peer, http, stdio, ws};
use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

const CALLS: usize = 2000;
const WARM: usize = 100;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let args: Vec<_> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("serve") => serve(&args[1]).await,
        _ => measure().await,
    }
    // Standard input may be read still.
    std::process::exit(0);
}

/// A server that answers every request with a short text.
async fn serve(transport: &str) {
    match transport {
        "stdio" => answer(stdio::own()).await,
        "hang" => std::future::pending().await,
        "ws" => {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            eprintln!("ws://{}/", listener.local_addr().unwrap());
            while let Ok((client, _)) = listener.accept().await {
                client.set_nodelay(true).unwrap();
                let accepted = async move {
                    answer(ws::accept(client, &Default::default(), FRAME_LIMIT).await.unwrap())
                        .await
                };
                tokio::spawn(accepted);
            }
        }
        _ => {
            let mut listener =
                Listener::bind(([127, 0, 0, 1], 0).into(), ServerOptions::default()).await.unwrap();
            eprintln!("http://{}/mcp", listener.address());
            while let Some(client) = listener.accept().await {
                tokio::spawn(answer(client));
            }
        }
    }
}

async fn answer(connection: Connection) {
    let (_peer, mut incoming) = Peer::new(connection);
    while let Some(asked) = incoming.recv().await {
        if let Incoming::Request(request) = asked {
            let result = if request.frame.calls("initialize") {
                let info = json!({ "name": "bench", "version": "1" });
                json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": info })
            } else {
                json!({ "content": [{ "type": "text", "text": "a simple text" }] })
            };
            request.answer(result).await;
        }
    }
}

fn own(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(args).stderr(Stdio::null()).kill_on_drop(true);
    command
}

/// A program that says in its first line where it listens.
async fn listening(args: &[&str]) -> (Child, String) {
    let mut child = own(args).stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let url = lines.next_line().await.unwrap().unwrap();
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (child, url)
}

fn child(args: &[&str]) -> Server {
    Server {
        name: "bench".to_owned(),
        command: std::env::current_exe().unwrap().to_string_lossy().into_owned(),
        args: args.iter().map(|&arg| arg.to_owned()).collect(),
        ..Server::default()
    }
}

type Call = Box<dyn Fn() -> BoxFuture<'static, ()>>;

async fn bare(connection: Connection) -> Call {
    let (peer, mut incoming) = Peer::new(connection);
    tokio::spawn(async move { while incoming.recv().await.is_some() {} });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "bench", "version": "1" } });
    peer.call("initialize", hello).await.result().await.unwrap();
    peer.notify("notifications/initialized", ()).await.unwrap();
    Box::new(move || {
        let peer = peer.clone();
        Box::pin(async move {
            let params = json!({ "name": "simple", "arguments": {} });
            peer.call("tools/call", params).await.result().await.unwrap();
        })
    })
}

async fn ours(server: &Server) -> Call {
    let client = Arc::new(Client::connect(server, Options::default()).await.unwrap());
    Box::new(move || {
        let client = client.clone();
        Box::pin(async move {
            client.call("simple", json!({}), |_| {}).await.unwrap();
        })
    })
}

macro_rules! sdk {
    ($transport:expr) => {{
        let client = Arc::new(().serve($transport).await.unwrap());
        Box::new(move || {
            let client = client.clone();
            Box::pin(async move {
                client.call_tool(CallToolRequestParams::new("simple")).await.unwrap();
            }) as BoxFuture<'static, ()>
        }) as Call
    }};
}

async fn measure() {
    let (_http, http_url) = listening(&["serve", "http"]).await;
    let (_ws, ws_url) = listening(&["serve", "ws"]).await;
    let at = |url: &str| Server::at(url).unwrap();
    let (raw, _child) = stdio::spawn(&mut own(&["serve", "stdio"]), FRAME_LIMIT).unwrap();
    let program = env!("CARGO_BIN_EXE_mcp_client");
    let connect = |url: &str| Server {
        command: program.to_owned(),
        args: vec!["connect".to_owned(), url.to_owned()],
        ..child(&[])
    };
    let paths: Vec<(&str, Call)> = vec![
        ("stdio, bare", bare(raw).await),
        ("stdio", ours(&child(&["serve", "stdio"])).await),
        ("stdio, the SDK", sdk!(TokioChildProcess::new(own(&["serve", "stdio"])).unwrap())),
        ("http, bare", bare(http::connect(ClientOptions::new(&http_url))).await),
        ("http", ours(&at(&http_url)).await),
        ("http, the SDK", sdk!(StreamableHttpClientTransport::from_uri(http_url.clone()))),
        ("http, through connect", ours(&connect(&http_url)).await),
        ("ws, bare", bare(ws::connect(ClientOptions::new(&ws_url)).await.unwrap()).await),
        ("ws", ours(&at(&ws_url)).await),
        ("ws, through connect", ours(&connect(&ws_url)).await),
    ];
    let mut times = vec![Vec::with_capacity(CALLS); paths.len()];
    for round in 0..WARM + CALLS {
        for ((_, call), times) in paths.iter().zip(&mut times) {
            let began = Instant::now();
            call().await;
            if round >= WARM {
                times.push(began.elapsed());
            }
        }
    }
    println!("| path | p50 µs | p99 µs |\n|---|--:|--:|");
    for ((name, _), times) in paths.iter().zip(&mut times) {
        times.sort();
        println!(
            "| {name} | {} | {} |",
            times[CALLS / 2].as_micros(),
            times[CALLS * 99 / 100].as_micros()
        );
    }
    drop(paths);
    many(&http_url).await;
}

/// Thirty servers, one of them hanging; and what thirty idle ones hold.
async fn many(url: &str) {
    let mut servers = vec![Server::at(url).unwrap(); 29];
    servers.insert(0, child(&["serve", "hang"]));
    let before = memory();
    let began = Instant::now();
    let mut options = Options::default();
    options.patience.connect = Duration::from_secs(3);
    let mut clients = Vec::new();
    let mut last = Duration::ZERO;
    let work = |at: usize| Client::connect(&servers[at], options.clone());
    each(&servers, Limits::default(), work, |_, outcome| {
        if let Ok(client) = outcome {
            last = began.elapsed();
            clients.push(client);
        }
    })
    .await;
    println!("{} of 30 servers connected after {} ms, one hangs", clients.len(), last.as_millis());
    println!(
        "{} idle connections over HTTP: {} KiB each",
        clients.len(),
        (memory() - before) / clients.len() as u64
    );
}

/// In KiB.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().split(' ').next()?.parse().ok()).unwrap_or_default()
}

//! What a call costs over each transport, direct and through `forward`, beside the official SDK.
//!
//! `cargo bench -p mcp_wire`. All paths take turns in one run, so that the machine's moods fall on all of them. Invariant:
//! servers are processes of their own, as they are in life.

#![expect(clippy::unwrap_used, reason = "a measurement that fails says where")]

#[path = "../examples/forward.rs"]
mod forward;

use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::{BoxFuture, join_all};
use mcp_wire::frame::FRAME_LIMIT;
use mcp_wire::http::{ClientOptions, Listener, ServerOptions};
use mcp_wire::peer::Incoming;
use mcp_wire::{Connection, Peer, http, stdio, ws};
use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};

const CALLS: usize = 2000;
const WARM: usize = 100;
const UNDER_WAY: usize = 64;
const IDLE: usize = 1000;

fn main() {
    let args: Vec<_> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("--http" | "--stdio") => _ = forward::main(),
        Some("serve") => run(serve(args[1].clone())),
        Some("everything") => run(async move {
            mcp_everything::main(args.into_iter().skip(1)).await.unwrap();
        }),
        _ => run(measure()),
    }
}

fn run(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.unwrap().block_on(work);
    // Standard input may be read still.
    std::process::exit(0);
}

/// A server that answers every request with a short text.
async fn serve(transport: String) {
    match transport.as_str() {
        "stdio" => answer(stdio::own()).await,
        "ws" => {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            eprintln!("ws://{}/", listener.local_addr().unwrap());
            while let Ok((client, _)) = listener.accept().await {
                client.set_nodelay(true).unwrap();
                tokio::spawn(async move {
                    answer(ws::accept(client, &Default::default(), FRAME_LIMIT).await.unwrap())
                        .await;
                });
            }
        }
        _ => {
            let options = ServerOptions::default();
            let mut listener = Listener::bind(([127, 0, 0, 1], 0).into(), options).await.unwrap();
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
            let text = json!({ "type": "text", "text": "a simple text" });
            request.answer(json!({ "protocolVersion": "2025-11-25", "content": [text] })).await;
        }
    }
}

/// A program that says in its first line where it listens.
async fn listening(args: &[&str]) -> (Child, String) {
    let mut child = own(args).stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let url = lines.next_line().await.unwrap().unwrap();
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (child, url)
}

fn own(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(args).stderr(Stdio::null()).kill_on_drop(true);
    command
}

type Call = Box<dyn Fn() -> BoxFuture<'static, ()>>;

/// A way to a server.
struct Way {
    name: &'static str,
    call: Call,
    times: Vec<Duration>,
    _alive: Vec<Child>,
}

async fn ours(name: &'static str, connection: Connection, alive: Vec<Child>) -> Way {
    let (peer, mut incoming) = Peer::new(connection);
    tokio::spawn(async move { while incoming.recv().await.is_some() {} });
    let hello = json!({
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "bench", "version": "1" }
    });
    peer.call("initialize", hello).await.result().await.unwrap();
    peer.notify("notifications/initialized", ()).await.unwrap();
    let call: Call = Box::new(move || {
        let peer = peer.clone();
        Box::pin(async move {
            let params = json!({ "name": "test_simple_text", "arguments": {} });
            peer.call("tools/call", params).await.result().await.unwrap();
        })
    });
    Way {
        name,
        call,
        times: Vec::new(),
        _alive: alive,
    }
}

fn sdk(name: &'static str, client: RunningService<RoleClient, ()>, alive: Vec<Child>) -> Way {
    let client = Arc::new(client);
    let call: Call = Box::new(move || {
        let client = client.clone();
        Box::pin(async move {
            let call = CallToolRequestParams::new("test_simple_text");
            client.call_tool(call).await.unwrap();
        })
    });
    Way {
        name,
        call,
        times: Vec::new(),
        _alive: alive,
    }
}

fn child(args: &[&str]) -> Connection {
    let (connection, child) = stdio::spawn(&mut own(args), FRAME_LIMIT).unwrap();
    // It ends with this process.
    std::mem::forget(child);
    connection
}

async fn ways() -> Vec<Way> {
    let bench = std::env::current_exe().unwrap();
    let bench = bench.to_str().unwrap();
    let (near, far) = Connection::pair();
    tokio::spawn(answer(far));
    let mut ways = vec![
        ours("in process", near, vec![]).await,
        ours("stdio", child(&["serve", "stdio"]), vec![]).await,
        ours("stdio, forward, stdio", child(&["--stdio", "--", bench, "serve", "stdio"]), vec![])
            .await,
        ours("stdio, the SDK's server", child(&["everything"]), vec![]).await,
        ours(
            "stdio, forward, the SDK's server",
            child(&["--stdio", "--", bench, "everything"]),
            vec![],
        )
        .await,
    ];
    let process = TokioChildProcess::new(own(&["everything"])).unwrap();
    ways.push(sdk("stdio, the SDK at both ends", ().serve(process).await.unwrap(), vec![]));
    for (name, args) in [
        ("http", &["serve", "http"][..]),
        ("http, forward, stdio", &["--http", "0", "--", bench, "serve", "stdio"]),
        ("http, the SDK's server", &["everything", "--http", "0"]),
        ("http, forward, the SDK's server", &["--http", "0", "--", bench, "everything"]),
    ] {
        let (server, url) = listening(args).await;
        ways.push(ours(name, http::connect(ClientOptions::new(&url)), vec![server]).await);
    }
    let (server, url) = listening(&["everything", "--http", "0"]).await;
    let transport = StreamableHttpClientTransport::from_uri(url);
    ways.push(sdk("http, the SDK at both ends", ().serve(transport).await.unwrap(), vec![server]));
    let (server, url) = listening(&["serve", "ws"]).await;
    let connection = ws::connect(ClientOptions::new(&url)).await.unwrap();
    ways.push(ours("websocket", connection, vec![server]).await);
    ways
}

async fn measure() {
    let mut ways = ways().await;
    for round in 0..CALLS + WARM {
        for way in &mut ways {
            let began = Instant::now();
            (way.call)().await;
            if round >= WARM {
                way.times.push(began.elapsed());
            }
        }
    }
    println!(
        "| path | p50 µs | p99 µs | calls a second, {UNDER_WAY} under way |\n|---|--:|--:|--:|"
    );
    for way in &mut ways {
        let began = Instant::now();
        for _ in 0..CALLS / UNDER_WAY {
            join_all((0..UNDER_WAY).map(|_| (way.call)())).await;
        }
        let calls = (CALLS / UNDER_WAY * UNDER_WAY) as f64 / began.elapsed().as_secs_f64();
        way.times.sort();
        let at = |share: usize| way.times[CALLS * share / 100].as_secs_f64() * 1e6;
        println!("| {} | {:.0} | {:.0} | {calls:.0} |", way.name, at(50), at(99));
    }
    let http = idle("http").await;
    let ws = idle("ws").await;
    println!(
        "\nAn idle client costs a server {http} KiB over HTTP (two connections: its own and its stream) \
         and {ws} KiB over WebSocket, measured with {IDLE}."
    );
}

/// What one of a thousand clients that do nothing costs a server, in KiB.
async fn idle(transport: &str) -> u64 {
    let (server, url) = listening(&["serve", transport]).await;
    let before = memory(&server);
    let mut idle = Vec::new();
    for _ in 0..IDLE {
        let connection = match transport {
            "ws" => ws::connect(ClientOptions::new(&url)).await.unwrap(),
            _ => http::connect(ClientOptions::new(&url)),
        };
        idle.push(ours("", connection, vec![]).await);
    }
    (memory(&server) - before) / IDLE as u64
}

/// What a process holds, in KiB.
fn memory(child: &Child) -> u64 {
    let mut ps = std::process::Command::new("ps");
    let pid = child.id().unwrap().to_string();
    let said = ps.args(["-o", "rss=", "-p", &pid]).output().unwrap();
    String::from_utf8_lossy(&said.stdout).trim().parse().unwrap()
}

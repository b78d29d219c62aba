//! What the relay costs, and how fast it recovers, beside the direct connection and the bridges of others.
//!
//! `cargo bench -p mcp_relay`. All ways take turns in one run, so that the machine's moods fall on all of them; servers are
//! processes of their own, as they are in life. Invariant: a way that is not installed is left out, and nothing else is.

#![expect(clippy::unwrap_used, reason = "a measurement that fails says where")]

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use mcp_wire::frame::FRAME_LIMIT;
use mcp_wire::http::{ClientOptions, Listener, ServerOptions};
use mcp_wire::peer::Incoming;
use mcp_wire::{Connection, Peer, http, stdio, ws};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tempfile::NamedTempFile;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::time::timeout;

const CALLS: usize = 1000;
const WARM: usize = 50;
const UNDER_WAY: usize = 64;
const HELD: Duration = Duration::from_secs(10);
/// For a way to come back after its server was started again.
const PATIENCE: Duration = Duration::from_secs(10);

fn main() {
    let args: Vec<_> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        match args.first().map(String::as_str) {
            Some("serve") => serve(&args[1], &args[2], args[3].parse().unwrap()).await,
            _ => measure().await,
        }
    });
    // Standard input may be read still.
    std::process::exit(0);
}

/// A server with so many tools that answer with a short text; it says on standard error where it listens.
async fn serve(transport: &str, address: &str, tools: usize) {
    match transport {
        "stdio" => answer(stdio::own(), tools).await,
        "ws" => {
            let listener = TcpListener::bind(address).await.unwrap();
            eprintln!("{}", listener.local_addr().unwrap());
            while let Ok((client, _)) = listener.accept().await {
                client.set_nodelay(true).unwrap();
                tokio::spawn(async move {
                    answer(
                        ws::accept(client, &Default::default(), FRAME_LIMIT).await.unwrap(),
                        tools,
                    )
                    .await;
                });
            }
        }
        _ => {
            let options = ServerOptions::default();
            let mut listener = Listener::bind(address.parse().unwrap(), options).await.unwrap();
            eprintln!("{}", listener.address());
            while let Some(client) = listener.accept().await {
                tokio::spawn(answer(client, tools));
            }
        }
    }
}

async fn answer(connection: Connection, tools: usize) {
    let (_peer, mut incoming) = Peer::new(connection);
    while let Some(asked) = incoming.recv().await {
        let Incoming::Request(request) = asked else { continue };
        let result = match request.frame.method.as_deref().unwrap_or_default() {
            "initialize" => {
                let info = json!({ "name": "bench", "version": "1" });
                json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": info })
            }
            "tools/list" => {
                let tool = |at: usize| {
                    let text = json!({ "type": "string", "description": "What is said again" });
                    let schema = json!({ "type": "object", "properties": { "text": text }, "required": ["text"] });
                    let hints = json!({ "readOnlyHint": true });
                    json!({ "name": format!("echo_{at}"), "description": "Says it again.", "inputSchema": schema, "annotations": hints })
                };
                json!({ "tools": (0..tools).map(tool).collect::<Vec<_>>() })
            }
            "tools/call" => {
                let text = format!("{}", std::process::id());
                json!({ "content": [{ "type": "text", "text": text }] })
            }
            _ => continue,
        };
        request.answer(result).await;
    }
}

fn own(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(args).stderr(Stdio::null()).kill_on_drop(true);
    command
}

/// A server at an address, and the address.
async fn backend(transport: &str, address: &str, tools: usize) -> (Child, String) {
    let tools = tools.to_string();
    let args = ["serve", transport, address, &tools];
    let mut child = own(&args).stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let address = lines.next_line().await.unwrap().unwrap();
    (child, address)
}

/// A way to a server.
struct Way {
    name: String,
    peer: Peer,
    tool: String,
    times: Vec<Duration>,
    /// The process in between.
    child: Option<Child>,
    _file: Option<NamedTempFile>,
}

impl Way {
    async fn new(name: &str, connection: Connection, tool: &str) -> Self {
        let (peer, mut incoming) = Peer::new(connection);
        tokio::spawn(async move { while incoming.recv().await.is_some() {} });
        let info = json!({ "name": "bench", "version": "1" });
        let hello =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
        peer.call("initialize", hello).await.result().await.unwrap();
        peer.notify("notifications/initialized", ()).await.unwrap();
        let (name, tool) = (name.to_owned(), tool.to_owned());
        Self {
            name,
            peer,
            tool,
            times: Vec::new(),
            child: None,
            _file: None,
        }
    }

    /// Through a program that is started on standard input and output.
    async fn through(name: &str, command: &mut Command, tool: &str) -> Self {
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = pipes.env("NO_PROXY", "127.0.0.1").kill_on_drop(true).spawn().unwrap();
        let (output, input) = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
        let mut way = Self::new(name, stdio::lines(output, input, FRAME_LIMIT), tool).await;
        way.child = Some(child);
        way
    }

    /// Through the relay, in front of these entries.
    async fn relay(name: &str, entries: &[Value], tool: &str) -> Self {
        let file = NamedTempFile::new().unwrap();
        std::fs::write(file.path(), json!({ "backends": entries }).to_string()).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcp_relay"));
        command.arg("--config").arg(file.path()).env("RUST_LOG", "error");
        let mut way = Self::through(name, &mut command, tool).await;
        way._file = Some(file);
        way.list().await;
        way
    }

    async fn call(&self) -> Option<String> {
        let params = json!({ "name": self.tool, "arguments": { "text": "a" } });
        let call = self.peer.call("tools/call", params).await.timeout(PATIENCE);
        let answer: Value = serde_json::from_str(call.result().await.ok()?.get()).ok()?;
        // An error may be an answer, too.
        let text = answer["content"][0]["text"].as_str();
        text.filter(|text| text.parse::<i32>().is_ok()).map(str::to_owned)
    }

    async fn list(&self) -> usize {
        let list = self.peer.call("tools/list", json!({})).await.result().await.unwrap();
        serde_json::from_str::<Value>(list.get()).unwrap()["tools"].as_array().unwrap().len()
    }

    /// The median, and what one in a hundred takes.
    fn percentiles(&mut self) -> (f64, f64) {
        self.times.sort();
        let at = |share: f64| self.times[(self.times.len() as f64 * share) as usize].as_secs_f64();
        (at(0.5) * 1e3, at(0.99) * 1e3)
    }
}

/// What `cargo x external` has installed.
fn installed(path: &str) -> Option<PathBuf> {
    let own = std::env::current_exe().unwrap();
    let path = own.ancestors().nth(3).unwrap().join("external").join(path);
    path.is_file().then_some(path)
}

/// The bridges of others from standard input and output to an HTTP server: where each is, and what it is told.
const OTHERS: [(&str, &str, &[&str]); 2] = [
    (
        "supergateway",
        "supergateway/node_modules/.bin/supergateway",
        &["--logLevel", "none", "--streamableHttp"],
    ),
    ("mcp-proxy", "mcp-proxy/bin/mcp-proxy", &["--transport", "streamablehttp"]),
];

/// One of them, when it is installed.
async fn other((name, path, words): (&str, &str, &[&str]), url: &str) -> Option<Way> {
    let mut command = Command::new(installed(path)?);
    command.args(words).arg(url);
    Some(Way::through(&format!("{name} → http"), &mut command, "echo_0").await)
}

async fn measure() {
    let mut backends = Vec::new();
    let mut entries = Vec::new();
    for at in 0..8 {
        let (child, address) = backend("ws", "127.0.0.1:0", 125).await;
        entries.push(json!({ "name": format!("b{at}"), "url": format!("ws://{address}"), "prefix": format!("b{at}_") }));
        backends.push(child);
    }
    let (whole, all) = backend("ws", "127.0.0.1:0", 1000).await;
    backends.push(whole);
    let (web, address) = backend("http", "127.0.0.1:0", 10).await;
    backends.push(web);
    let ws_url = entries[0]["url"].as_str().unwrap().to_owned();
    let url = format!("http://{address}/mcp");
    let ws = ws::connect(ClientOptions::new(&ws_url)).await.unwrap();
    let mut ways = vec![
        Way::new("direct, ws", ws, "echo_0").await,
        Way::relay("mcp_relay → ws, 1 backend", &entries[..1], "b0_echo_0").await,
        Way::relay("mcp_relay → ws, 8 backends", &entries, "b0_echo_0").await,
        Way::new("direct, http", http::connect(ClientOptions::new(&url)), "echo_0").await,
        Way::relay("mcp_relay → http", &[json!({ "name": "b", "url": url })], "echo_0").await,
    ];
    for it in OTHERS {
        ways.extend(other(it, &url).await);
    }
    latency(&mut ways).await;
    let eight = &ways[2];
    throughput(eight).await;
    lists(eight, &all).await;
    println!();
    recovery().await;
}

async fn latency(ways: &mut [Way]) {
    for round in 0..WARM + CALLS {
        // Whoever comes behind another way to the same server finds it awake.
        ways.reverse();
        for way in ways.iter_mut() {
            let began = Instant::now();
            way.call().await.unwrap();
            if round >= WARM {
                way.times.push(began.elapsed());
            }
        }
    }
    println!(
        "| a call, one at a time | p50 | p99 | added p50 | added p99 |\n|---|---|---|---|---|"
    );
    let mut direct = (0.0, 0.0);
    for way in ways {
        let (p50, p99) = way.percentiles();
        if way.name.starts_with("direct") {
            direct = (p50, p99);
            println!("| {} | {p50:.2} ms | {p99:.2} ms | – | – |", way.name);
        } else {
            let (more, most) = (p50 - direct.0, p99 - direct.1);
            println!("| {} | {p50:.2} ms | {p99:.2} ms | {more:.2} ms | {most:.2} ms |", way.name);
        }
    }
}

async fn throughput(way: &Way) {
    let began = Instant::now();
    let caller = async || {
        let mut calls = 0_u32;
        while began.elapsed() < HELD {
            way.call().await.unwrap();
            calls += 1;
        }
        calls
    };
    let calls: u32 = join_all((0..UNDER_WAY).map(|_| caller())).await.into_iter().sum();
    let rate = f64::from(calls) / began.elapsed().as_secs_f64();
    println!("\n| mcp_relay, 8 backends | |\n|---|---|");
    println!(
        "| calls a second, {UNDER_WAY} under way, held for {} s | {rate:.0} |",
        HELD.as_secs()
    );
}

async fn lists(way: &Way, direct: &str) {
    let ws = ws::connect(ClientOptions::new(&format!("ws://{direct}"))).await.unwrap();
    let direct = Way::new("direct", ws, "echo_0").await;
    let (mut times, mut directs) = (Vec::new(), Vec::new());
    for _ in 0..20 {
        for (way, times) in [(way, &mut times), (&direct, &mut directs)] {
            let began = Instant::now();
            assert!(way.list().await >= 1000);
            times.push(began.elapsed().as_secs_f64() * 1e3);
        }
    }
    let median = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    println!(
        "| tools/list of 1,000 tools (a server with all of them, direct) | {:.1} ms ({:.1} ms) |",
        median(&mut times),
        median(&mut directs)
    );
    let status = std::fs::read_to_string(format!(
        "/proc/{}/status",
        way.child.as_ref().and_then(Child::id).unwrap()
    ))
    .unwrap();
    let line = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
        line.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or_default() / 1024.0
    };
    println!("| memory, and at its most | {:.0} MB, {:.0} MB |", line("VmRSS:"), line("VmHWM:"));
}

/// How long a call takes whose server was killed before it and has been started again.
async fn recovery() {
    println!("| the server is killed and started again | a call is answered after |\n|---|---|");
    for transport in ["ws", "http"] {
        let (child, address) = backend(transport, "127.0.0.1:0", 1).await;
        let path = if transport == "http" { "/mcp" } else { "" };
        let entry = json!({ "name": "b", "url": format!("{transport}://{address}{path}") });
        let way = Way::relay(&format!("mcp_relay → {transport}"), &[entry], "echo_0").await;
        recovered(way, Some((child, transport, &address))).await;
    }
    let program = std::env::current_exe().unwrap();
    let entry = json!({ "name": "b", "command": program, "args": ["serve", "stdio", "-", "1"] });
    recovered(Way::relay("mcp_relay → stdio", &[entry], "echo_0").await, None).await;
    for it in OTHERS {
        let (child, address) = backend("http", "127.0.0.1:0", 1).await;
        if let Some(way) = other(it, &format!("http://{address}/mcp")).await {
            recovered(way, Some((child, "http", &address))).await;
        }
    }
}

/// A server on standard input and output is started again by whoever has started it.
async fn recovered(way: Way, server: Option<(Child, &str, &str)>) {
    let server_id: i32 = way.call().await.unwrap().parse().unwrap();
    kill(Pid::from_raw(server_id), Signal::SIGKILL).unwrap();
    let mut again = None;
    if let Some((mut child, transport, address)) = server {
        child.wait().await.unwrap();
        again = Some(backend(transport, address, 1).await);
    }
    let began = Instant::now();
    let (mut lost, mut pause) = (0, tokio::time::interval(Duration::from_millis(100)));
    let done = loop {
        let left = PATIENCE.saturating_sub(began.elapsed());
        if left.is_zero() {
            break format!("not within {} s", PATIENCE.as_secs());
        }
        if timeout(left, way.call()).await.ok().flatten().is_some() {
            break format!("{:.0} ms, {lost} calls lost", began.elapsed().as_secs_f64() * 1e3);
        }
        lost += 1;
        pause.tick().await;
    };
    println!("| {} | {done} |", way.name);
    drop(again);
}

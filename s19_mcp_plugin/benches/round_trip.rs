//! How long a call of a tool takes: our client, the official SDK's client, and the bare pipe between two processes.
//!
//! The server is this program again: the mock docs server, which the official SDK serves, or a loop that answers a line
//! with a line of the same length. 2,000 calls each, after 200 that are not counted.
//! Invariant: nothing here asserts a time; figures are for a reader.
//!
//! `cargo bench -p s19_mcp_plugin`, and `cargo bench -p s19_mcp_plugin --profile dev` for what a class runs.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use s02_tools::Workspace;
use s19_mcp_plugin::{Server, StdioServerConfig, Timeouts};
use serde_json::json;

const CALLS: usize = 2_000;
const WARM_UP: usize = 200;
const STARTS: usize = 20;
const ECHO: &str = "--echo";
const TOOL: &str = "get_version";

#[tokio::main(flavor = "current_thread")]
async fn main() {
    mock_servers::mcp::serve_when_asked().await;
    if std::env::args().nth(1).as_deref() == Some(ECHO) {
        return echo();
    }
    println!("{CALLS} calls of a tool");
    println!("| | median, µs | p99, µs |");
    println!("|---|--:|--:|");
    bare_pipe();
    our_client().await;
    sdk_client().await;
    println!("\nfrom the start of the process to the first answer, {STARTS} times");
    println!("| | median, ms | slowest, ms |");
    println!("|---|--:|--:|");
    first_call().await;
}

/// Answers each line with the answer of the tool.
fn echo() {
    let answer = r#"{"jsonrpc":"2.0","id":1234,"result":{"content":[{"type":"text","text":"0.1.0"}],"isError":false}}"#;
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout());
    let mut line = String::new();
    while input.read_line(&mut line).is_ok_and(|count| count > 0) {
        output.write_all(format!("{answer}\n").as_bytes()).expect("somebody reads");
        line.clear();
    }
}

fn bare_pipe() {
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .arg(ECHO)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts again");
    let mut input = child.stdin.take().expect("piped");
    let mut output = BufReader::new(child.stdout.take().expect("piped"));
    let call = r#"{"id":1234,"jsonrpc":"2.0","method":"tools/call","params":{"arguments":{},"name":"get_version"}}"#;
    let call = format!("{call}\n");
    let mut line = String::new();
    let took = (0..WARM_UP + CALLS)
        .map(|_| {
            let start = Instant::now();
            input.write_all(call.as_bytes()).expect("it reads");
            line.clear();
            output.read_line(&mut line).expect("it answers");
            start.elapsed()
        })
        .skip(WARM_UP)
        .collect();
    drop(input);
    child.wait().expect("it ends");
    print("the bare pipe", took, 1e6, 0.99);
}

async fn our_client() {
    let server = start().await;
    let took = time(async || {
        let result = server.call(TOOL, json!({}), |_| {}).await;
        assert!(!result.expect("an answer").is_error);
    });
    print("our client", took.await, 1e6, 0.99);
    server.shut_down().await;
}

async fn sdk_client() {
    let (program, args) = mock_servers::mcp::command("docs");
    let mut child = tokio::process::Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts again");
    let pipes = (child.stdout.take().expect("piped"), child.stdin.take().expect("piped"));
    let client = ().serve(pipes).await.expect("they shake hands");
    let took = time(async || {
        let call = CallToolRequestParams::new(TOOL);
        client.call_tool(call).await.expect("an answer");
    });
    print("the SDK's client", took.await, 1e6, 0.99);
    client.cancel().await.expect("it ends");
    child.wait().await.expect("it ends");
}

async fn first_call() {
    let mut took = Vec::new();
    for _ in 0..STARTS {
        let began = Instant::now();
        let server = start().await;
        server.call(TOOL, json!({}), |_| {}).await.expect("an answer");
        took.push(began.elapsed());
        server.shut_down().await;
    }
    print("our client", took, 1e3, 1.0);
}

async fn start() -> Server {
    let (command, args) = mock_servers::mcp::command("docs");
    let config = StdioServerConfig {
        name: "docs".to_owned(),
        command,
        args,
        ..StdioServerConfig::default()
    };
    let ws = Workspace::here().expect("a folder");
    Server::start(&config, &ws, Timeouts::default()).await.expect("it starts")
}

async fn time(mut call: impl AsyncFnMut()) -> Vec<Duration> {
    let mut took = Vec::new();
    for _ in 0..WARM_UP + CALLS {
        let start = Instant::now();
        call().await;
        took.push(start.elapsed());
    }
    took.split_off(WARM_UP)
}

/// The median, and the time that this share stays under.
fn print(who: &str, mut took: Vec<Duration>, unit: f64, share: f64) {
    took.sort();
    let at = |share: f64| {
        let index = (took.len() as f64 * share) as usize;
        took[index.min(took.len() - 1)].as_secs_f64() * unit
    };
    println!("| {who} | {:.1} | {:.1} |", at(0.5), at(share));
}

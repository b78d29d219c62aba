//! How long the mock takes for a request, by the length of the conversation.
//!
//! `cargo run -p mock_servers --example load` (and with `--release`) prints the median time of an exchange on loopback
//! while a conversation grows to 400 messages and 100 KB, for a plain and for a streamed answer.
//! Invariant: the client costs next to nothing: one open connection, bodies made beforehand.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use mock_servers::model::{MockModel, Options, Reply, Request, says};
use serde_json::{Value, json};

const MESSAGES: usize = 400;
const CONVERSATIONS: usize = 5;

fn main() {
    let answer = |_: &Request| -> Reply { says("Done. The next one.") };
    let model = MockModel::start(Options::default(), answer).expect("a free port");
    for stream in [false, true] {
        let mut first = Vec::new();
        let mut last = Vec::new();
        let mut bytes = 0;
        for conversation in 0..CONVERSATIONS {
            let requests = requests(conversation, stream, &model);
            bytes = requests.last().map_or(0, Vec::len);
            let times = talk(&model, &requests);
            first.extend_from_slice(&times[..20]);
            last.extend_from_slice(&times[times.len() - 20..]);
        }
        let form = if stream { "streamed" } else { "plain" };
        println!(
            "{form}: first 20 requests {:?}, last 20 of {} ({bytes} bytes) {:?}",
            median(first),
            MESSAGES / 2,
            median(last),
        );
    }
}

/// The requests of a conversation, each with one more call and its result.
fn requests(conversation: usize, stream: bool, model: &MockModel) -> Vec<Vec<u8>> {
    let tools = (0..6).map(|i| {
        let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
        json!({"name": format!("tool_{i}"), "description": "d".repeat(200), "input_schema": schema})
    });
    let tools = tools.collect::<Vec<_>>();
    let mut messages = vec![json!({"role": "user", "content": format!("Story {conversation}.")})];
    let mut requests = Vec::new();
    while messages.len() < MESSAGES {
        let body = json!({
            "model": "claude-sonnet-5-5",
            "max_tokens": 8000,
            "stream": stream,
            "system": [{"type": "text", "text": "s".repeat(2000), "cache_control": {"type": "ephemeral"}}],
            "tools": tools,
            "messages": messages,
        });
        requests.push(with_head(&body, model));
        let id = format!("toolu_{}", messages.len());
        let input = json!({"command": "sed -n 1,20p src/main.rs"});
        let call = json!({"type": "tool_use", "id": id, "name": "tool_1", "input": input});
        let output = "fn main() {\n    println!(\"a line\");\n}\n".repeat(6);
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": output});
        messages.push(json!({"role": "assistant", "content": [call]}));
        messages.push(json!({"role": "user", "content": [result]}));
    }
    requests
}

fn with_head(body: &Value, model: &MockModel) -> Vec<u8> {
    let host = model.url().trim_start_matches("http://");
    let body = body.to_string();
    let head =
        format!("POST /v1/messages HTTP/1.1\r\nhost: {host}\r\nanthropic-version: 2023-06-01");
    format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

fn talk(model: &MockModel, requests: &[Vec<u8>]) -> Vec<Duration> {
    let host = model.url().trim_start_matches("http://");
    let mut connection = TcpStream::connect(host).expect("the mock model listens");
    connection.set_nodelay(true).expect("a socket option");
    requests
        .iter()
        .map(|request| exchange(&mut connection, request))
        .collect()
}

fn exchange(connection: &mut TcpStream, request: &[u8]) -> Duration {
    let start = Instant::now();
    connection.write_all(request).expect("it is sent");
    let mut response = Vec::new();
    let mut buffer = [0; 65536];
    while !is_complete(&response) {
        let length = connection.read(&mut buffer).expect("it is answered");
        assert_ne!(length, 0, "closed: {}", String::from_utf8_lossy(&response));
        response.extend_from_slice(&buffer[..length]);
    }
    let time = start.elapsed();
    assert!(
        response.starts_with(b"HTTP/1.1 200"),
        "{}",
        String::from_utf8_lossy(&response)
    );
    time
}

/// Enough for answers in one piece: the end of a chunked body, or of the JSON of a plain one.
fn is_complete(response: &[u8]) -> bool {
    let text = String::from_utf8_lossy(response);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    match length.and_then(|length| length.parse::<usize>().ok()) {
        Some(length) => body.len() == length,
        None => body.ends_with("0\r\n\r\n"),
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

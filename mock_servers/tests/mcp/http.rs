//! Streamable HTTP, spoken by hand over a socket.
//!
//! Two clients of other languages are tried against it by hand; here is what they rely on.
//! Invariant: the first line of standard output is the address, and a page of another origin is refused.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::talk::{Talk, hello, meta, start};

/// A server on a free port, and its address without `http://`.
fn served(words: &[&str]) -> (Talk, String) {
    let mut talk = start(words);
    let line = String::from_utf8(talk.line()).expect("an address is text");
    let address = line.strip_prefix("http://").expect("it begins with http");
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    let address = address.to_owned();
    (talk, address)
}

/// The head of the response to a POST, and its body, in which nothing is chunked that matters here.
fn post(address: &str, headers: &[(&str, &str)], body: &Value) -> (String, String) {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    let body = body.to_string();
    let mut request = format!(
        "POST / HTTP/1.1\r\nconnection: close\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\ncontent-length: {}\r\n",
        body.len()
    );
    let host = ("host", address);
    let hosts = headers.iter().any(|(name, _)| *name == "host");
    for (name, value) in headers.iter().chain((!hosts).then_some(&host)) {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    let sent = stream.write_all(format!("{request}\r\n{body}").as_bytes());
    sent.expect("the server reads");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("the server answers");
    let (head, body) = response.split_once("\r\n\r\n").expect("a response has a head");
    (head.to_lowercase(), body.to_owned())
}

fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello()})
}

/// The one message of an event stream or of a body.
fn message(body: &str) -> Value {
    let data = body.lines().map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
    let mut messages = data.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    messages.find(Value::is_object).unwrap_or_else(|| panic!("no message: {body}"))
}

#[test]
fn a_session_of_2025_11_25_lists_and_calls() {
    let (_talk, address) = served(&["docs", "--http", "0"]);
    let (head, body) = post(&address, &[], &initialize());
    assert_eq!(message(&body)["result"]["protocolVersion"], "2025-11-25");
    let session = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
    let session = [("mcp-session-id", session.expect("there is a session"))];
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let (head, _) = post(&address, &session, &ready);
    assert!(head.starts_with("http/1.1 202"), "{head}");
    let params = json!({"name": "search", "arguments": {"query": "loop"}});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    let (_, body) = post(&address, &session, &call);
    assert_eq!(message(&body)["result"]["isError"], false);
}

#[test]
fn a_request_of_2026_07_28_needs_no_session_and_all_share_the_data() {
    let (_talk, address) = served(&["jira", "--http", "0"]);
    let call = |tool: &str, arguments: Value| {
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta()});
        let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
        let headers = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", tool),
        ];
        let (_, body) = post(&address, &headers, &call);
        message(&body)["result"]["content"][0]["text"].clone()
    };
    let new = json!({"project": "WEB", "summary": "From one client"});
    let created = "WEB-8 [To Do] From one client";
    assert_eq!(call("create_issue", new), created);
    assert_eq!(call("get_issue", json!({"key": "WEB-8"})), created);
}

#[test]
fn another_origin_or_host_is_refused() {
    let (_talk, address) = served(&["docs", "--http", "0"]);
    let status = |header: (&str, &str)| {
        let (head, _) = post(&address, &[header], &initialize());
        head.split(' ').nth(1).expect("a status line has a status").to_owned()
    };
    assert_eq!(status(("origin", "http://evil.example")), "403");
    assert_eq!(status(("origin", "null")), "403");
    assert_eq!(status(("host", "evil.example")), "403");
    assert_eq!(status(("origin", "http://localhost:5173")), "200");
}

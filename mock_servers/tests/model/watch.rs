//! The page of the mock model, its stream, and the proxy before another model.

use std::io::{Read, Write};
use std::net::TcpStream;

use mock_servers::model::{Fault, MockModel, calls, says};
use serde_json::{Value, json};

use super::client::{asks, hello, post, send};

/// What the stream says behind line `after`, up to the end of exchange `number`.
fn stream(url: &str, after: u64, number: u64) -> Vec<Value> {
    let address = url.strip_prefix("http://").expect("an http address");
    let mut connection = TcpStream::connect(address).expect("the server listens");
    let head = format!("GET /watch HTTP/1.1\r\nhost: {address}\r\nlast-event-id: {after}\r\n\r\n");
    connection.write_all(head.as_bytes()).expect("the request is sent");
    let mut text = String::new();
    loop {
        let mut bytes = [0; 4096];
        let count = connection.read(&mut bytes).expect("the stream goes on");
        assert!(count > 0, "it ended: {text}");
        text.push_str(std::str::from_utf8(&bytes[..count]).expect("these tests are ASCII"));
        let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
        let lines = data.filter_map(|data| serde_json::from_str::<Value>(data).ok());
        let lines = lines.collect::<Vec<_>>();
        if lines.iter().any(|line| line["kind"] == "end" && line["n"] == number) {
            return lines;
        }
    }
}

#[test]
fn a_browser_gets_the_page_and_a_page_from_elsewhere_gets_nothing() {
    let model = MockModel::scripted([]);
    let browser = ("accept", "text/html,application/xhtml+xml,*/*;q=0.8");
    let page = send(&model, "GET", "/", &[browser], b"");
    let kind = page.header("content-type");
    assert_eq!(kind, Some("text/html; charset=utf-8"));
    assert!(page.text().contains("Content-Security-Policy"));
    for other in [("host", "evil.example"), ("origin", "http://evil.example")] {
        let refused = send(&model, "GET", "/watch", &[other, browser], b"");
        assert_eq!(refused.status, 403, "{other:?}");
    }
}

#[test]
fn the_stream_tells_requests_answers_faults_and_refusals() {
    let model = MockModel::scripted([calls("bash", json!({"command": "ls"})), says("Done.")]);
    let tools = json!([{"name": "bash", "description": "", "input_schema": {"type": "object"}}]);
    let mut request = asks("List the files.");
    (request["tools"], request["stream"]) = (tools, json!(true));
    post(&model, &request);
    model.fault(Fault::DropStream, 1);
    post(&model, &request);
    request["messages"] = json!([]);
    post(&model, &request);
    assert_eq!(model.refusals().len(), 1);

    let lines = stream(model.url(), 0, 3);
    assert_eq!(lines[0]["server"], "the mock model");
    let of = |number: u64, kind: &str, field: &str| {
        let mine = lines.iter().filter(|line| line["n"] == number && line["kind"] == kind);
        let values = mine.map(|line| line[field].to_string().replace('"', ""));
        values.collect::<String>()
    };
    assert!(of(1, "chunk", "text").contains("tool_use"));
    assert!(of(3, "chunk", "text").contains("invalid_request_error"));
    for (number, kind, field, value) in [
        (1, "end", "cut", "false"),
        (2, "request", "like", "1"),
        (2, "request", "text", ""),
        (2, "answer", "note", "fault: half an answer, then the connection closes"),
        (2, "end", "cut", "true"),
        (3, "answer", "status", "400"),
    ] {
        assert_eq!(of(number, kind, field), value, "{number} {kind} {field}");
    }
    let later = stream(model.url(), lines.len() as u64 - 2, 3);
    assert_eq!(later.len(), 2, "the greeting, and what was not seen: {later:?}");
    // What did not arrive whole is given again.
    request["messages"] = hello()["messages"].clone();
    post(&model, &request);
}

/// The proxy of the program, before `upstream`; ended with the value.
#[cfg(feature = "watch")]
struct Watch(std::process::Child, String);

#[cfg(feature = "watch")]
impl Watch {
    fn before(upstream: &str, flags: &[&str]) -> Self {
        use std::io::{BufRead, BufReader};
        use std::process::{Command, Stdio};
        let mut command = Command::new(env!("CARGO_BIN_EXE_mock_servers"));
        command.args(["watch", "--upstream", upstream]).args(flags).env("NO_PROXY", "127.0.0.1");
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.expect("the program starts");
        let mut url = String::new();
        let output = child.stdout.take().expect("it is piped");
        BufReader::new(output).read_line(&mut url).expect("it prints its address");
        Self(child, url.trim().to_owned())
    }

    /// One exchange over a connection of its own, as bytes.
    fn exchange(&self, head: &str, body: &str) -> String {
        let address = self.1.strip_prefix("http://").expect("an http address");
        let mut connection = TcpStream::connect(address).expect("the proxy listens");
        let length = body.len();
        let text = format!(
            "{head} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\nx-api-key: s3cret\r\nanthropic-version: 2023-06-01\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        connection.write_all(text.as_bytes()).expect("the request is sent");
        let mut answer = String::new();
        let _ = connection.read_to_string(&mut answer);
        answer
    }

    fn end(mut self) -> String {
        self.0.kill().expect("it runs");
        let mut shown = String::new();
        let mut errors = self.0.stderr.take().expect("it is piped");
        errors.read_to_string(&mut shown).expect("it is text");
        self.0.wait().expect("it has ended");
        shown
    }
}

#[cfg(feature = "watch")]
#[test]
fn the_proxy_passes_streams_and_keeps_no_key() {
    let model = MockModel::scripted([says("From afar."), says("Half.")]);
    let watch = Watch::before(model.url(), &["--show"]);
    let mut request = hello();
    request["stream"] = json!(true);
    let answer = watch.exchange("POST /v1/messages?beta=true", &request.to_string());
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.contains("event: message_stop"),
        "{answer}"
    );
    assert_eq!(model.last_request().body, request.to_string());
    let answer = watch.exchange("GET /v1/models", "");
    assert!(answer.contains("\"data\""), "{answer}");
    model.fault(Fault::DropStream, 1);
    let answer = watch.exchange("POST /v1/messages", &request.to_string());
    assert!(answer.contains("message_start") && !answer.ends_with("0\r\n\r\n"), "{answer}");

    let lines = stream(&watch.1, 0, 2);
    assert_eq!(lines[0]["server"], model.url());
    assert_eq!(lines.last().expect("an end")["cut"], true);
    let shown = watch.end();
    assert!(shown.contains("assistant: From afar."), "{shown}");
    assert!(!format!("{lines:?}{shown}").contains("s3cret"));
    post(&model, &request);
}

#[cfg(feature = "watch")]
#[test]
fn an_upstream_that_is_away_is_one_sentence() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = format!("http://{}", nobody.local_addr().expect("it has one"));
    drop(nobody);
    let watch = Watch::before(&address, &[]);
    let answer = watch.exchange("POST /v1/messages", &hello().to_string());
    assert!(answer.starts_with("HTTP/1.1 502"), "{answer}");
    assert!(answer.contains(&format!("{address} cannot be reached: ")), "{answer}");
    watch.end();
}

//! A small HTTP client that shows what is on the wire.
//!
//! An ordinary client hides what these tests are about: headers, chunks, a body that breaks off.
//! Invariant: one connection for each exchange; what was read before a break is returned.

use std::io::{Read, Write};
use std::net::TcpStream;

use mock_servers::model::MockModel;
use serde_json::{Value, json};

/// A response as it came.
#[derive(Debug)]
pub struct Response {
    /// The status; 0 when the connection closed without one.
    pub status: u16,
    /// Header names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body, chunks joined.
    pub body: Vec<u8>,
    /// Whether the body ended as announced.
    pub complete: bool,
}

impl Response {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("the body is UTF-8")
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The events of a stream, each with its parsed data.
    pub fn events(&self) -> Vec<(String, Value)> {
        let blocks = self.text().split_terminator("\n\n");
        blocks
            .map(|block| {
                let (event, data) = block.split_once('\n').expect("two lines");
                let event = event.strip_prefix("event: ").expect("an event line");
                let data = data.strip_prefix("data: ").expect("a data line");
                (event.to_owned(), serde_json::from_str(data).expect("JSON data"))
            })
            .collect()
    }
}

/// Posts a body to `/v1/messages` with the usual headers.
pub fn post(model: &MockModel, body: &Value) -> Response {
    post_bytes(model, "/v1/messages", body.to_string().as_bytes())
}

/// Posts a body to `/v1/messages` and asks for these betas, in a list with commas.
pub fn post_beta(model: &MockModel, betas: &str, body: &Value) -> Response {
    let headers = [("anthropic-version", "2023-06-01"), ("anthropic-beta", betas)];
    let body = body.to_string();
    send(model, "POST", "/v1/messages", &headers, body.as_bytes())
}

/// Posts bytes with the usual headers.
pub fn post_bytes(model: &MockModel, path: &str, body: &[u8]) -> Response {
    let headers = [("anthropic-version", "2023-06-01"), ("x-api-key", "test")];
    send(model, "POST", path, &headers, body)
}

/// Sends a request.
pub fn send(
    model: &MockModel,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Response {
    let address = model.url().strip_prefix("http://").expect("an http address");
    let mut stream = TcpStream::connect(address).expect("the mock model listens");
    let mut head = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
    if headers.iter().all(|(name, _)| *name != "host") {
        head += &format!("host: {address}\r\n");
    }
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += &format!("content-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).expect("the head is sent");
    stream.write_all(body).expect("the body is sent");
    let mut raw = Vec::new();
    // A reset connection is what some tests are about; what came before it counts.
    let _ = stream.read_to_end(&mut raw);
    parse(&raw)
}

/// A request that breaks no rule: one line from the user.
pub fn hello() -> Value {
    asks("Hello.")
}

/// A request with this line from the user.
pub fn asks(line: &str) -> Value {
    json!({
        "model": "claude-sonnet-5-5",
        "max_tokens": 1000,
        "messages": [{"role": "user", "content": line}],
    })
}

/// The same request, streamed.
pub fn streamed(mut request: Value) -> Value {
    request["stream"] = json!(true);
    request
}

fn parse(raw: &[u8]) -> Response {
    let Some(end) = raw.windows(4).position(|window| window == b"\r\n\r\n") else {
        return Response {
            status: 0,
            headers: Vec::new(),
            body: Vec::new(),
            complete: false,
        };
    };
    let head = std::str::from_utf8(&raw[..end]).expect("the head is ASCII");
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).expect("a status line");
    let headers = lines.map(|line| {
        let (name, value) = line.split_once(": ").expect("a header");
        (name.to_lowercase(), value.to_owned())
    });
    let mut response = Response {
        status: status.parse().expect("a status"),
        headers: headers.collect(),
        body: Vec::new(),
        complete: false,
    };
    let rest = &raw[end + 4..];
    match response.header("content-length").map(str::to_owned) {
        Some(length) => {
            response.body = rest.to_vec();
            response.complete = length == rest.len().to_string();
        }
        None => (response.body, response.complete) = join_chunks(rest),
    }
    response
}

fn join_chunks(mut rest: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|window| window == b"\r\n") {
        let size = std::str::from_utf8(&rest[..end]).expect("a chunk size");
        let size = usize::from_str_radix(size, 16).expect("a hexadecimal chunk size");
        if size == 0 {
            return (body, true);
        }
        let Some(chunk) = rest.get(end + 2..end + 2 + size) else {
            break;
        };
        body.extend_from_slice(chunk);
        rest = rest.get(end + 4 + size..).unwrap_or_default();
    }
    (body, false)
}

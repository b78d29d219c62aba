//! Ends that mean harm, or are broken: nothing panics, nothing hangs, nothing grows.
//!
//! The fuzz runs a tenth of a second a transport by default; `FUZZ=100000` has each transport take that many.

use std::net::SocketAddr;
use std::time::Duration;

use mcp_wire::frame::FRAME_LIMIT;
use mcp_wire::http::{Hosts, Listener, ServerOptions};
use mcp_wire::{Connection, Error, Frame, body, stdio, ws};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{advance, timeout};

use crate::links::{self, listen};

/// Numbers that look like chance and are the same every time.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % sides
    }

    /// A text that was a frame before some of its bytes were changed, dropped, doubled or put elsewhere.
    pub fn mutate(&mut self, text: &str) -> Vec<u8> {
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..=self.roll(4) {
            let length = bytes.len().max(1);
            let (at, to) = (self.roll(length), self.roll(length));
            let (from, to) = (at.min(to), at.max(to).min(bytes.len()));
            match self.roll(5) {
                0 if !bytes.is_empty() => bytes[at] = self.roll(256) as u8,
                1 => drop(bytes.drain(from..to)),
                2 => {
                    let piece = bytes[from..to].to_vec();
                    bytes.splice(at.min(bytes.len())..at.min(bytes.len()), piece);
                }
                3 => bytes.truncate(from),
                _ => {
                    let odd = [
                        "\"", "\\u0000", "{", "}", "null", "1e999", "\n", "\r\n\r\n", "[[[[",
                        "\u{feff}",
                    ];
                    let odd = odd[self.roll(odd.len())];
                    bytes.splice(from..from, odd.bytes());
                }
            }
        }
        bytes
    }
}

const SEEDS: [&str; 5] = [
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":"t"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":0.5}}"#,
    r#"{"jsonrpc":"2.0","id":"a","result":{"tools":[{"name":"x","inputSchema":{"x-mcp-header":{}}}]}}"#,
    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"\ud83d\ude00"}}"#,
    r#"{"jsonrpc":"2.0","id":12345678901234567890123,"method":"subscriptions/listen","params":[]}"#,
];

pub fn rounds(few: usize) -> usize {
    std::env::var("FUZZ").ok().and_then(|many| many.parse().ok()).unwrap_or(few)
}

#[test]
fn mutated_frames_and_bodies_are_read_or_refused() {
    let mut dice = Dice(1);
    for n in 0..rounds(20_000) {
        let text = dice.mutate(SEEDS[n % SEEDS.len()]);
        let Ok(frame) = Frame::parse(&text) else {
            continue;
        };
        let again = Frame::parse(frame.to_line().as_bytes()).unwrap();
        assert_eq!(again.to_line(), frame.to_line());
        let Some(params) = frame.params.as_deref() else {
            continue;
        };
        let seven = serde_json::value::to_raw_value(&7).unwrap();
        for path in [&["_meta", "progressToken"][..], &["name"], &["", "x"]] {
            let found = body::get(params, path).map(|found| found.get().to_owned());
            if let Some(edited) = body::set(params, path, &seven) {
                assert_eq!(body::get(&edited, path).unwrap().get(), "7");
            }
            assert_eq!(body::remove(params, path).is_some(), found.is_some());
        }
    }
}

/// Feeds garbage from one side; in the end a good frame comes through.
async fn survives(mut connection: Connection, name: &str) {
    let good = async {
        loop {
            match connection.reader.recv().await {
                Some(Ok(frame)) if frame.calls("the/end") => return,
                Some(Err(Error::Broken(why))) => panic!("{name}: {why}"),
                None => panic!("{name} has ended"),
                Some(_) => {}
            }
        }
    };
    timeout(Duration::from_secs(600), good).await.expect("it hangs");
}

const END: &str = r#"{"jsonrpc":"2.0","method":"the/end"}"#;

#[tokio::test]
async fn mutated_lines_do_not_end_a_connection() {
    let (ours, mut theirs) = duplex(1 << 16);
    let (read, write) = tokio::io::split(ours);
    let connection = stdio::lines(read, write, 1 << 16);
    let feed = async move {
        let mut dice = Dice(2);
        for n in 0..rounds(5000) {
            let mut line = dice.mutate(SEEDS[n % SEEDS.len()]);
            line.push(b'\n');
            theirs.write_all(&line).await.unwrap();
        }
        theirs.write_all(format!("\n{END}\n").as_bytes()).await.unwrap();
        theirs
    };
    tokio::join!(survives(connection, "stdio"), feed);
}

#[tokio::test]
async fn mutated_messages_do_not_end_a_websocket() {
    use futures_util::{SinkExt, StreamExt};
    use tokio_tungstenite::tungstenite::Message;
    use tokio_tungstenite::tungstenite::client::IntoClientRequest;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}/", listener.local_addr().unwrap());
    let accept = async {
        ws::accept(listener.accept().await.unwrap().0, &Hosts::default(), FRAME_LIMIT)
            .await
            .unwrap()
    };
    let mut request = url.into_client_request().unwrap();
    let name = "sec-websocket-protocol";
    request.headers_mut().insert(name, "mcp".parse().unwrap());
    let (server, client) = tokio::join!(accept, tokio_tungstenite::connect_async(request));
    let (mut sink, mut stream) = client.unwrap().0.split();
    tokio::spawn(async move { while stream.next().await.is_some() {} });
    let feed = async {
        let mut dice = Dice(3);
        for n in 0..rounds(3000) {
            let bytes = dice.mutate(SEEDS[n % SEEDS.len()]);
            let message = match String::from_utf8(bytes) {
                Ok(text) => Message::text(text),
                Err(bytes) => Message::binary(bytes.into_bytes()),
            };
            sink.send(message).await.unwrap();
        }
        sink.send(Message::text(END)).await.unwrap();
    };
    tokio::join!(survives(server, "websocket"), feed);
}

/// A server whose program answers everything with a guess.
async fn guessing() -> SocketAddr {
    let options = ServerOptions {
        limit: 1 << 16,
        ..Default::default()
    };
    let (mut listener, _) = listen(options).await;
    let address = listener.address();
    tokio::spawn(async move {
        while let Some(mut connection) = listener.accept().await {
            tokio::spawn(async move {
                while let Some(Ok(frame)) = connection.reader.recv().await {
                    if let (Some(id), true) = (frame.id, frame.method.is_some()) {
                        let _ = connection.writer.send(Frame::result(id, json!({}))).await;
                    }
                }
            });
        }
    });
    address
}

#[tokio::test]
async fn mutated_http_requests_do_not_end_a_server() {
    let address = guessing().await;
    let mut dice = Dice(4);
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let more = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"a","params":{{{meta}}}}}"#);
    for n in 0..rounds(1500) {
        let seed = if n % 3 == 0 { more.as_str() } else { SEEDS[n % SEEDS.len()] };
        let length = seed.len();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\n\
             Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: a\r\nContent-Length: {length}\r\n\r\n{seed}"
        );
        let request = dice.mutate(&head);
        let mut stream = TcpStream::connect(address).await.unwrap();
        // Half of them wait for an answer that will not come, and hang up.
        let _ = stream.write_all(&request).await;
        if dice.roll(2) == 0 {
            let _ = stream.shutdown().await;
            let mut answer = Vec::new();
            let read = stream.read_to_end(&mut answer);
            let _ = timeout(Duration::from_secs(60), read).await.expect("it hangs");
        }
    }
    let hello = r#"{"jsonrpc":"2.0","id":0,"method":"server/discover"}"#;
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{hello}",
        hello.len()
    );
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.contains("-32602"), "{answer}");
}

#[tokio::test]
async fn a_line_of_a_hundred_megabytes_is_skipped_and_not_kept() {
    let (ours, mut theirs) = duplex(1 << 20);
    let (read, write) = tokio::io::split(ours);
    let mut connection = stdio::lines(read, write, 1 << 20);
    let feed = async move {
        let piece = vec![b'x'; 1 << 20];
        for _ in 0..100 {
            theirs.write_all(&piece).await.unwrap();
        }
        theirs.write_all(format!("\n{END}\n").as_bytes()).await.unwrap();
        theirs
    };
    let read = async {
        let Some(Err(Error::NotAFrame(not))) = connection.reader.recv().await else { panic!() };
        assert!(not.refusal().contains("longer than 1048576 bytes"), "{not}");
        assert!(connection.reader.recv().await.unwrap().unwrap().calls("the/end"));
    };
    tokio::join!(feed, read);
}

#[tokio::test(start_paused = true)]
async fn what_waits_to_be_read_is_bounded_in_number_and_in_bytes() {
    for (bytes, fit) in [(0, 64), (1_000_000, 16), (10 << 20, 1), (40 << 20, 1)] {
        let (near, mut far) = Connection::pair();
        let told = Frame::notification("x", "y".repeat(bytes));
        let mut sent = 0;
        let late = Duration::from_secs(1);
        while timeout(late, near.writer.send(told.clone())).await.is_ok() {
            sent += 1;
        }
        assert_eq!(sent, fit, "{bytes}");
        far.reader.recv().await.unwrap().unwrap();
        near.writer.send(told).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_websocket_that_falls_silent_is_broken_after_a_ping() {
    let (ours, theirs) = duplex(1 << 16);
    let hosts = Hosts::default();
    let request = "ws://localhost/".parse::<hyper::Uri>().unwrap();
    use tokio_tungstenite::tungstenite::client::IntoClientRequest;
    let mut request = request.into_client_request().unwrap();
    request.headers_mut().insert("sec-websocket-protocol", "mcp".parse().unwrap());
    // The other side shakes hands and then reads nothing: no pong.
    let config = None;
    let deaf = tokio_tungstenite::client_async_with_config(request, theirs, config);
    let (server, deaf) = tokio::join!(ws::accept(ours, &hosts, FRAME_LIMIT), deaf);
    let (mut server, _deaf) = (server.unwrap(), deaf.unwrap());
    let Some(Err(Error::Broken(why))) = server.reader.recv().await else { panic!() };
    assert!(why.contains("no sign of life"), "{why}");
}

#[tokio::test(start_paused = true)]
async fn half_a_request_and_half_a_handshake_are_not_waited_for() {
    let (ours, _theirs) = duplex(64);
    let error = ws::accept(ours, &Default::default(), FRAME_LIMIT).await.unwrap_err();
    assert!(matches!(error, Error::Broken(_)), "{error}");
    let address = guessing().await;
    for text in [
        "POST /mcp HT",
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\nContent-Length: 9\r\n\r\n{",
    ] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut answer = String::new();
        // The clock runs as soon as everybody waits.
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.is_empty() || answer.contains("408"), "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_nobody_uses_ends() {
    let mut link = links::in_process();
    let (mut listener, client): (Listener, _) = listen(ServerOptions::default()).await;
    let client = mcp_wire::http::connect(client);
    let hello = Frame::request(0, "initialize", json!({}));
    client.writer.send(hello).await.unwrap();
    link.server = listener.accept().await.unwrap();
    let asked = link.server.reader.recv().await.unwrap().unwrap();
    link.server.writer.send(Frame::result(asked.id.unwrap(), json!({}))).await.unwrap();
    assert!(link.server.reader.recv().await.is_none());
    advance(Duration::ZERO).await;
}

#[tokio::test(start_paused = true)]
async fn one_client_without_a_session_that_does_not_read_cannot_hold_up_the_others_for_long() {
    let (mut listener, _) = listen(ServerOptions::default()).await;
    let meta = json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}
    }});
    let ask = Frame::request(1, "a", meta).to_line();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\n\
         Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: a\r\nContent-Length: {}\r\n\r\n{ask}",
        ask.len()
    );
    let mut deaf = TcpStream::connect(listener.address()).await.unwrap();
    deaf.write_all(head.as_bytes()).await.unwrap();
    let mut server = listener.accept().await.unwrap();
    let _flooded = server.reader.recv().await.unwrap().unwrap();
    let text = "x".repeat(256 << 10);
    for _ in 0..200 {
        let params = json!({ "text": text });
        server.writer.send(Frame::notification("notifications/message", params)).await.unwrap();
    }
    // Fifty megabytes do not fit: its request is cancelled, and the next client is served.
    let cancelled = server.reader.recv().await.unwrap().unwrap();
    assert!(cancelled.calls("notifications/cancelled"), "{cancelled:?}");
    let mut quick = TcpStream::connect(listener.address()).await.unwrap();
    quick.write_all(head.as_bytes()).await.unwrap();
    let asked = server.reader.recv().await.unwrap().unwrap();
    server.writer.send(Frame::result(asked.id.unwrap(), json!({ "served": true }))).await.unwrap();
    let mut answer = vec![0; 4096];
    let length = quick.read(&mut answer).await.unwrap();
    assert!(String::from_utf8_lossy(&answer[..length]).contains("200 OK"));
}

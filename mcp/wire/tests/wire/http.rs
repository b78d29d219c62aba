//! What HTTP asks for: statuses, headers, sessions, resumption. Against raw requests.

use std::net::SocketAddr;

use mcp_wire::http::{Hosts, Listener, ServerOptions};
use mcp_wire::{Connection, Frame, Id, Peer};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::links::{self, listen};

/// A server that answers every request with its own params.
async fn echo(options: ServerOptions) -> SocketAddr {
    let (mut listener, _) = listen(options).await;
    let address = listener.address();
    tokio::spawn(async move {
        while let Some(connection) = listener.accept().await {
            tokio::spawn(answer(connection));
        }
    });
    address
}

async fn answer(mut connection: Connection) {
    while let Some(Ok(frame)) = connection.reader.recv().await {
        let Some(id) = frame.id.filter(|_| frame.method.is_some()) else {
            continue;
        };
        let answer = match frame.method.as_deref() {
            Some("nobody/knows") => Frame::error(Some(id), -32601, "no"),
            Some("tools/list") => Frame::result(
                id,
                json!({ "tools": [{ "name": "t", "inputSchema": {
                    "type": "object", "properties": { "r": { "type": "string", "x-mcp-header": "R" } }
                }}]}),
            ),
            _ => Frame::result(id, frame.params),
        };
        if connection.writer.send(answer).await.is_err() {
            return;
        }
    }
}

/// Sends bytes as they are, closes, and reads what comes back.
async fn exchange(address: SocketAddr, head: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = head.trim().replace('\n', "\r\n");
    let length = body.len();
    let request = format!("{head}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}");
    let _ = stream.write_all(request.as_bytes()).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

const PLAIN: &str =
    "Host: localhost\nContent-Type: application/json\nAccept: application/json, text/event-stream";

async fn post(address: SocketAddr, headers: &str, body: &str) -> (u16, String) {
    let head = format!("POST /mcp HTTP/1.1\n{headers}");
    let answer = exchange(address, &head, body).await;
    let status = answer.get(9..12).and_then(|status| status.parse().ok());
    (status.unwrap_or_default(), answer)
}

#[tokio::test]
async fn a_request_that_http_does_not_allow_is_refused_with_its_status() {
    let address = echo(ServerOptions {
        limit: 4096,
        ..Default::default()
    })
    .await;
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let long = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{}\"}}", "x".repeat(5000));
    let json = "Content-Type: application/json";
    let both = "Accept: application/json, text/event-stream";
    let cookies = "Cookie: x\n".repeat(200);
    let flood = format!("{PLAIN}\n{}", cookies.trim());
    let huge = format!("{PLAIN}\nX: {}", "y".repeat(1 << 20));
    let table: [(&str, String, &str, u16); 16] = [
        ("no session", PLAIN.into(), ping, 400),
        ("unknown session", format!("{PLAIN}\nMcp-Session-Id: none"), ping, 404),
        ("unknown version", format!("{PLAIN}\nMcp-Protocol-Version: 1999-01-01"), ping, 400),
        ("foreign host", PLAIN.replace("localhost", "evil.example"), ping, 403),
        ("rebound host", PLAIN.replace("localhost", "localhost.evil.example:80"), ping, 403),
        ("userinfo", PLAIN.replace("localhost", "localhost@evil.example"), ping, 403),
        ("two hosts", format!("{PLAIN}\nHost: localhost"), ping, 400),
        ("foreign origin", format!("{PLAIN}\nOrigin: https://evil.example"), ping, 403),
        ("null origin", format!("{PLAIN}\nOrigin: null"), ping, 403),
        (
            "no stream accepted",
            format!("Host: localhost\n{json}\nAccept: application/json"),
            ping,
            406,
        ),
        ("no json", format!("Host: localhost\nContent-Type: text/plain\n{both}"), ping, 415),
        ("too long", PLAIN.into(), &long, 413),
        ("no frame", PLAIN.into(), "hello", 400),
        ("a batch", PLAIN.into(), "[]", 400),
        ("header flood", flood, ping, 431),
        ("a huge header", huge, ping, 431),
    ];
    for (what, headers, body, wanted) in table {
        let (status, answer) = post(address, &headers, body).await;
        // What was not read any more can cost the client the refusal.
        let reset = what == "a huge header" && answer.is_empty();
        assert!(status == wanted || reset, "{what}: {answer}");
    }
    let other = exchange(address, "GET /else HTTP/1.1\nHost: localhost", "").await;
    assert!(other.starts_with("HTTP/1.1 404"), "{other}");
    let other = exchange(address, "PUT /mcp HTTP/1.1\nHost: [::1]:80", "").await;
    assert!(other.starts_with("HTTP/1.1 405") && other.contains("POST, GET, DELETE"), "{other}");
    let hosts = Hosts(vec!["mcp.example".into()]);
    let address = echo(ServerOptions {
        hosts,
        ..Default::default()
    })
    .await;
    let named = PLAIN.replace("localhost", "MCP.example:8080\nOrigin: https://mcp.example");
    assert_eq!(post(address, &named, ping).await.0, 400);
}

#[tokio::test]
async fn a_request_without_a_session_is_held_against_its_headers() {
    let address = echo(ServerOptions::default()).await;
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let version = "Mcp-Protocol-Version: 2026-07-28";
    let ask = |method: &str, more: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":"x","method":"{method}","params":{{{meta}{more}}}}}"#)
    };
    let call = ask("tools/call", r#","name":"t","arguments":{"r":"é"}"#);
    let named = "Mcp-Method: tools/call\nMcp-Name: t";
    let listed = post(
        address,
        &format!("{PLAIN}\n{version}\nMcp-Method: tools/list"),
        &ask("tools/list", ""),
    )
    .await;
    assert_eq!(listed.0, 200, "{}", listed.1);
    let table = [
        (format!("{version}\nMcp-Method: a/b"), ask("a/b", ""), 200, "\"id\":\"x\""),
        (version.into(), ask("a/b", ""), 400, "-32020"),
        (format!("{version}\nMcp-Method: b/a"), ask("a/b", ""), 400, "-32020"),
        (format!("{version}\nMcp-Method: a/b\nMcp-Method: a/b"), ask("a/b", ""), 400, "-32020"),
        ("Mcp-Method: a/b".into(), ask("a/b", ""), 400, "-32020"),
        ("Mcp-Protocol-Version: 2027-01-01\nMcp-Method: a/b".into(), ask("a/b", ""), 400, "-32020"),
        (
            format!("{version}\nMcp-Method: a/b"),
            ask("a/b", "").replace("clientCap", "Cap"),
            400,
            "-32602",
        ),
        (format!("{version}\nMcp-Method: nobody/knows"), ask("nobody/knows", ""), 404, "-32601"),
        (format!("{version}\nMcp-Method: initialize"), ask("initialize", ""), 404, "-32601"),
        (format!("{version}\n{named}\nMcp-Param-R: =?base64?w6k=?="), call.clone(), 200, "é"),
        (format!("{version}\n{named}\nMcp-Param-R: e"), call.clone(), 400, "-32020"),
        (format!("{version}\n{named}\nMcp-Param-R: =?base64?!?="), call.clone(), 400, "-32020"),
        (format!("{version}\n{named}"), call, 400, "-32020"),
        (
            format!("{version}\n{named}\nMcp-Param-R: x"),
            ask("tools/call", r#","name":"t""#),
            400,
            "-32020",
        ),
    ];
    for (headers, body, status, says) in table {
        let answer = post(address, &format!("{PLAIN}\n{headers}"), &body).await;
        assert!(answer.0 == status && answer.1.contains(says), "{headers}\n{}", answer.1);
    }
}

/// A raw client in the middle of a session.
struct Session {
    address: SocketAddr,
    headers: String,
    server: Connection,
    _listener: Listener,
}

async fn session() -> Session {
    let (mut listener, _) = listen(ServerOptions::default()).await;
    let address = listener.address();
    let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
    let serve = async {
        let mut server = listener.accept().await.unwrap();
        let asked = server.reader.recv().await.unwrap().unwrap();
        server.writer.send(Frame::result(asked.id.unwrap(), json!({}))).await.unwrap();
        server
    };
    let (server, (status, answer)) = tokio::join!(serve, post(address, PLAIN, hello));
    assert_eq!(status, 200);
    let name = answer.lines().find(|line| line.starts_with("mcp-session-id")).unwrap();
    let headers = format!("{PLAIN}\nMcp-Protocol-Version: 2025-11-25\n{name}");
    Session {
        address,
        headers,
        server,
        _listener: listener,
    }
}

#[tokio::test]
async fn a_stream_that_broke_off_is_resumed_where_it_was_and_a_deleted_session_is_gone() {
    let mut it = session().await;
    let mut stream = TcpStream::connect(it.address).await.unwrap();
    let ask = r#"{"jsonrpc":"2.0","id":7,"method":"slow"}"#;
    let head = format!("POST /mcp HTTP/1.1\n{}\nContent-Length: {}", it.headers, ask.len());
    stream
        .write_all(format!("{}\r\n\r\n{ask}", head.replace('\n', "\r\n")).as_bytes())
        .await
        .unwrap();
    it.server.reader.recv().await.unwrap().unwrap();
    let tell = |n: i32| Frame::notification("notifications/message", json!({ "n": n }));
    it.server.writer.send(tell(1)).await.unwrap();
    let mut read = String::new();
    while !read.contains("\"n\":1") {
        let mut some = [0; 1024];
        let length = stream.read(&mut some).await.unwrap();
        read.push_str(&String::from_utf8_lossy(&some[..length]));
    }
    assert!(read.contains("retry: 1000") && read.contains("id: 2-0"), "{read}");
    drop(stream);
    it.server.writer.send(tell(2)).await.unwrap();
    let answer = Frame::result(Id::from(7), json!("done"));
    it.server.writer.send(answer).await.unwrap();
    let resume = format!("GET /mcp HTTP/1.1\n{}\nLast-Event-ID: 2-1", it.headers);
    let mut rest = String::new();
    while !rest.contains("done") {
        rest = exchange(it.address, &resume, "").await;
    }
    assert!(!rest.contains("\"n\":1") && rest.contains("\"n\":2"), "{rest}");
    let twice = exchange(it.address, &resume, "").await;
    assert!(twice.contains("done"), "{twice}");

    let delete = format!("DELETE /mcp HTTP/1.1\n{}", it.headers);
    assert!(exchange(it.address, &delete, "").await.starts_with("HTTP/1.1 200"));
    assert_eq!(post(it.address, &it.headers, ask).await.0, 404);
    assert!(it.server.reader.recv().await.is_none());
}

#[tokio::test]
async fn a_program_that_ends_answers_what_is_under_way() {
    let it = session().await;
    let (address, headers) = (it.address, it.headers);
    let mut server = it.server;
    let ask = r#"{"jsonrpc":"2.0","id":7,"method":"slow"}"#;
    let dies = async {
        server.reader.recv().await.unwrap().unwrap();
        drop(server);
    };
    let ((), (_, answer)) = tokio::join!(dies, post(address, &headers, ask));
    assert!(
        answer.contains("\"id\":7") && answer.contains("has closed the connection"),
        "{answer}"
    );
    assert_eq!(post(address, &headers, ask).await.0, 404);
}

#[tokio::test]
async fn a_client_that_hangs_up_cancels_a_request_without_a_session() {
    let mut link = links::stateless().await;
    let (peer, _incoming) = Peer::new(link.client);
    let params = json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}
    }});
    let call = peer.call("slow", params).await;
    let asked = link.server.reader.recv().await.unwrap().unwrap();
    drop(call);
    let told = link.server.reader.recv().await.unwrap().unwrap();
    assert!(told.calls("notifications/cancelled"), "{told:?}");
    let named = mcp_wire::body::get(told.params.as_deref().unwrap(), &["requestId"]).unwrap();
    assert_eq!(Id::parse(named), asked.id);
}

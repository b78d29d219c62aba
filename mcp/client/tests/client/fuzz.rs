//! Mutated frames over each transport: whatever a server writes, every call ends and the next one is answered.
//!
//! `FUZZ=100000` has each transport take that many; without it a few hundred.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use http_body_util::BodyExt;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use mcp_client::{Client, Error, Server};
use mcp_wire::frame::{Frame, Kind};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

use super::server::{manners, options, server};

/// Mutated frames before each good one: the third nonsense in a row ends a connection.
const EACH: usize = 2;

const SEEDS: [&str; 6] = [
    r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"\ud83d\ude00"}]}}"#,
    r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"no","data":{"mcp_client":"x"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":0.5}}"#,
    r#"{"jsonrpc":"2.0","id":"a","method":"sampling/createMessage","params":{"messages":[]}}"#,
    r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"look"}],"nextCursor":"x"}}"#,
    r#"{"jsonrpc":"2.0","id":12345678901234567890123,"method":"ping"}"#,
];

static SEED: AtomicU64 = AtomicU64::new(1);

fn roll(sides: usize) -> usize {
    let next = |seed: u64| seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    (next(SEED.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed)) >> 33) as usize % sides.max(1)
}

fn mutated() -> Vec<u8> {
    let mut bytes = SEEDS[roll(SEEDS.len())].as_bytes().to_vec();
    for _ in 0..=roll(4) {
        let (a, b) = (roll(bytes.len() + 1), roll(bytes.len() + 1));
        let (from, to) = (a.min(b), a.max(b));
        let odd = ["\"", "{", "}", "null", "1e999", "[[[[", "\u{feff}", "-1", "\\u0000", ","];
        match roll(4) {
            0 if from < bytes.len() => bytes[from] = roll(256) as u8,
            1 => drop(bytes.drain(from..to)),
            2 => drop(bytes.splice(from..to, odd[roll(odd.len())].bytes())),
            _ => bytes.extend_from_within(from..to),
        }
    }
    bytes
}

/// What is written when this is asked: mutated frames, then the answer.
fn said(asked: &[u8]) -> Vec<Vec<u8>> {
    let Ok(frame) = Frame::parse(asked) else {
        return Vec::new();
    };
    if frame.kind() != Kind::Request {
        return Vec::new();
    }
    let calls = frame.calls("tools/call");
    let result = manners(&frame).unwrap_or_else(|| json!({ "content": [] }));
    let answer = Frame::result(frame.id.unwrap(), result).to_line().into_bytes();
    let odd = (0..EACH).filter(|_| calls).map(|_| mutated());
    odd.chain([answer]).collect()
}

async fn survives(server: &Server) {
    let mut options = options();
    options.patience.jitter = std::sync::Arc::new(|_| Duration::ZERO);
    let client = Client::connect(server, options).await.unwrap();
    client.tools().await.unwrap();
    let many = std::env::var("FUZZ").ok().and_then(|many| many.parse().ok()).unwrap_or(300);
    let mut answered = 0;
    for _ in 0..many / EACH {
        let call = client.call("look", json!({}), |_| {});
        match timeout(Duration::from_secs(60), call).await.expect("every call ends") {
            Ok(_) => answered += 1,
            // A mutated frame may be an answer, or three of them the end of a connection.
            Err(Error::Server(_) | Error::Connection(_) | Error::Unknown(_)) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
    assert!(answered > many / EACH / 4, "{answered}");
}

#[tokio::test]
async fn mutated_lines_of_a_process() {
    let open: mcp_client::config::Sdk = std::sync::Arc::new(|| {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        tokio::spawn(async move {
            let (read, mut write) = tokio::io::split(theirs);
            let mut lines = BufReader::new(read).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                for frame in said(line.as_bytes()) {
                    if write.write_all(&[&frame[..], b"\n"].concat()).await.is_err() {
                        return;
                    }
                }
            }
        });
        let (read, write) = tokio::io::split(ours);
        Box::pin(std::future::ready(Ok(mcp_wire::stdio::lines(read, write, 1 << 20))))
    });
    survives(&server("lines", open)).await;
}

#[tokio::test]
async fn mutated_events_of_a_server_on_http() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = service_fn(|request: Request<hyper::body::Incoming>| async move {
                let body = request.into_body().collect().await.unwrap().to_bytes();
                let said = said(&body);
                let mut response = Response::new(String::new());
                if said.is_empty() {
                    // A notification; a stream is not offered.
                    let is_post = !body.is_empty();
                    *response.status_mut() =
                        if is_post { StatusCode::ACCEPTED } else { StatusCode::METHOD_NOT_ALLOWED };
                    return Ok::<_, Infallible>(response);
                }
                let event = |frame: &Vec<u8>| {
                    format!(
                        "data: {}\n\n",
                        String::from_utf8_lossy(frame).replace(['\r', '\n'], " ")
                    )
                };
                *response.body_mut() = said.iter().map(event).collect();
                let kind = "text/event-stream".parse().unwrap();
                response.headers_mut().insert("content-type", kind);
                Ok(response)
            });
            let server = hyper::server::conn::http1::Builder::new();
            tokio::spawn(server.serve_connection(TokioIo::new(stream), service));
        }
    });
    survives(&Server::at(&url).unwrap()).await;
}

#[tokio::test]
async fn mutated_messages_of_a_server_on_ws() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        use tokio_tungstenite::tungstenite::handshake::server;
        #[expect(clippy::result_large_err, reason = "the type is the library's")]
        let agree = |_: &server::Request, mut response: server::Response| {
            response.headers_mut().insert("sec-websocket-protocol", "mcp".parse().unwrap());
            Ok(response)
        };
        while let Ok((stream, _)) = listener.accept().await {
            stream.set_nodelay(true).unwrap();
            tokio::spawn(async move {
                let mut socket = tokio_tungstenite::accept_hdr_async(stream, agree).await.unwrap();
                while let Some(Ok(Message::Text(text))) = socket.next().await {
                    for frame in said(text.as_bytes()) {
                        let text = String::from_utf8_lossy(&frame).into_owned();
                        if socket.send(Message::text(text)).await.is_err() {
                            return;
                        }
                    }
                }
            });
        }
    });
    survives(&Server::at(&url).unwrap()).await;
}

//! A mock server over WebSocket, on loopback.
//!
//! The specification has no such transport; SDKs and agents speak it all the same, a message a text frame under the
//! subprotocol `mcp`. Invariants: what the server says is the same as over standard input and output; a page of another
//! origin is refused.

use std::net::Ipv4Addr;

use futures_util::{SinkExt, StreamExt};
use rmcp::ServiceExt;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::accept_hdr_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::http::header::{HOST, HeaderValue, ORIGIN};
use tokio_tungstenite::tungstenite::http::{StatusCode, Uri};

use super::MockServer;

/// What is under way between the server and the socket.
const PIPE: usize = 64 << 10;

/// Serves until the process is ended; all clients share the server's data.
pub async fn run(mock: MockServer, port: u16) -> Result<(), String> {
    let failed = |error| format!("Port {port} cannot be taken: {error}");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(failed)?;
    println!("ws://{}", listener.local_addr().map_err(failed)?);
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        tokio::spawn(serve(mock.clone(), stream));
    }
    Ok(())
}

async fn serve(mock: MockServer, stream: TcpStream) {
    #[expect(clippy::result_large_err, reason = "tungstenite wants it so")]
    let answer = |request: &Request, mut response: Response| {
        let places = [HOST, ORIGIN].into_iter().flat_map(|name| request.headers().get_all(name));
        if !places.into_iter().all(is_here) {
            let mut refusal = ErrorResponse::new(Some("not for pages of other origins".to_owned()));
            *refusal.status_mut() = StatusCode::FORBIDDEN;
            return Err(refusal);
        }
        let name = HeaderValue::from_static("mcp");
        response.headers_mut().insert("sec-websocket-protocol", name);
        Ok(response)
    };
    let Ok(socket) = accept_hdr_async(stream, answer).await else { return };
    let (mut sink, mut source) = socket.split();
    let (near, far) = tokio::io::duplex(PIPE);
    let (said, mut heard) = tokio::io::split(near);
    let mut said = BufReader::new(said).lines();
    tokio::spawn(async move {
        while let Ok(Some(line)) = said.next_line().await {
            if sink.send(Message::text(line)).await.is_err() {
                return;
            }
        }
    });
    tokio::spawn(async move {
        while let Some(Ok(message)) = source.next().await {
            let Message::Text(text) = message else { continue };
            // A line is a message there.
            let line = text.replace(['\n', '\r'], " ") + "\n";
            if heard.write_all(line.as_bytes()).await.is_err() {
                return;
            }
        }
        let _ = heard.shutdown().await;
    });
    if let Ok(running) = mock.serve(tokio::io::split(far)).await {
        let _ = running.waiting().await;
    }
}

/// Whether a header names this machine.
fn is_here(place: &HeaderValue) -> bool {
    let place = place.to_str().ok().and_then(|it| it.parse::<Uri>().ok());
    let host = place.as_ref().and_then(Uri::host);
    host.is_some_and(|host| ["127.0.0.1", "localhost", "[::1]"].contains(&host))
}

//! A connection over every transport, with both ends in our hands.

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use mcp_wire::frame::FRAME_LIMIT;
use mcp_wire::http::{ClientOptions, Listener, ServerOptions};
use mcp_wire::{Connection, Frame, Writer, http, stdio, ws};
use serde_json::{Value, json};
use sse_stream::{Sse, SseBody};
use tokio::io::duplex;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

pub struct Link {
    pub name: &'static str,
    pub client: Connection,
    pub server: Connection,
    /// Requests must say who they are from; ids are not the client's.
    pub stateless: bool,
    _listener: Option<Listener>,
}

impl Link {
    fn new(name: &'static str, client: Connection, server: Connection) -> Self {
        Self {
            name,
            client,
            server,
            stateless: false,
            _listener: None,
        }
    }

    /// Params as this transport wants them.
    pub fn params(&self, mut params: Value) -> Value {
        if self.stateless {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        params
    }
}

pub async fn all() -> Vec<Link> {
    vec![
        in_process(),
        lines(),
        http().await,
        stateless().await,
        websocket().await,
        legacy_sse().await,
    ]
}

pub fn in_process() -> Link {
    let (client, server) = Connection::pair();
    Link::new("in process", client, server)
}

pub fn lines() -> Link {
    let (at_client, at_server) = (duplex(4096), duplex(4096));
    let client = stdio::lines(at_client.0, at_server.0, 1 << 20);
    let server = stdio::lines(at_server.1, at_client.1, 1 << 20);
    Link::new("stdio", client, server)
}

pub async fn listen(options: ServerOptions) -> (Listener, ClientOptions) {
    let address = (Ipv4Addr::LOCALHOST, 0).into();
    let listener = Listener::bind(address, options).await.unwrap();
    let url = format!("http://{}/mcp", listener.address());
    (listener, ClientOptions::new(&url))
}

/// With the handshake done.
pub async fn http() -> Link {
    let (mut listener, options) = listen(ServerOptions::default()).await;
    let mut client = http::connect(options);
    let hello = Frame::request(0, "initialize", json!({ "protocolVersion": "2025-11-25" }));
    client.writer.send(hello).await.unwrap();
    let mut server = listener.accept().await.unwrap();
    let asked = server.reader.recv().await.unwrap().unwrap();
    let agreed = json!({ "protocolVersion": "2025-11-25" });
    let answer = Frame::result(asked.id.unwrap(), agreed);
    server.writer.send(answer).await.unwrap();
    client.reader.recv().await.unwrap().unwrap();
    let ready = Frame::notification("notifications/initialized", ());
    client.writer.send(ready).await.unwrap();
    server.reader.recv().await.unwrap().unwrap();
    Link {
        _listener: Some(listener),
        ..Link::new("http", client, server)
    }
}

pub async fn stateless() -> Link {
    let (mut listener, options) = listen(ServerOptions::default()).await;
    let mut client = http::connect(options);
    let mut link = Link {
        stateless: true,
        ..in_process()
    };
    let hello = Frame::request(0, "server/discover", link.params(json!({})));
    client.writer.send(hello).await.unwrap();
    let mut server = listener.accept().await.unwrap();
    let asked = server.reader.recv().await.unwrap().unwrap();
    let answer = Frame::result(asked.id.unwrap(), json!({}));
    server.writer.send(answer).await.unwrap();
    client.reader.recv().await.unwrap().unwrap();
    (link.name, link.client, link.server) = ("http without sessions", client, server);
    link._listener = Some(listener);
    link
}

pub async fn websocket() -> Link {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let url = format!("ws://{}/", listener.local_addr().unwrap());
    let accept = async {
        let (stream, _) = listener.accept().await.unwrap();
        ws::accept(stream, &Default::default(), FRAME_LIMIT).await.unwrap()
    };
    let (client, server) = tokio::join!(ws::connect(ClientOptions::new(&url)), accept);
    Link::new("websocket", client.unwrap(), server)
}

/// Nobody needs the server's end of the old transport but this test.
pub async fn legacy_sse() -> Link {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let (server, mut far) = Connection::pair();
    let (events, stream) = mpsc::channel(8);
    let stream = Arc::new(Mutex::new(Some(stream)));
    let inbox = far.writer;
    tokio::spawn(async move {
        while let Some(Ok(frame)) = far.reader.recv().await {
            let event = Sse::default().event("message").data(frame.to_line());
            let _ = events.send(event).await;
        }
    });
    tokio::spawn(async move {
        while let Ok((tcp, _)) = listener.accept().await {
            let (stream, inbox) = (stream.clone(), inbox.clone());
            let respond = service_fn(move |request| {
                let (stream, inbox) = (stream.clone(), inbox.clone());
                async move { Ok::<_, Infallible>(old(request, &stream, inbox).await) }
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(tcp), respond));
        }
    });
    let options = ClientOptions::new(&format!("http://{address}/sse"));
    Link::new("legacy sse", http::connect_sse(options).await.unwrap(), server)
}

type Stream = Arc<Mutex<Option<mpsc::Receiver<Sse>>>>;

async fn old(
    request: Request<Incoming>,
    stream: &Stream,
    inbox: Writer,
) -> Response<UnsyncBoxBody<Bytes, std::io::Error>> {
    let events = if request.method() == Method::GET {
        let rest = stream.lock().unwrap().take().unwrap();
        let endpoint = Sse::default().event("endpoint").data("/message?id=1");
        let rest = stream::unfold(rest, |mut rest| async move { Some((rest.recv().await?, rest)) });
        stream::iter([endpoint]).chain(rest).left_stream()
    } else {
        let text = request.into_body().collect().await.unwrap().to_bytes();
        inbox.send(Frame::parse(&text).unwrap()).await.unwrap();
        stream::empty().right_stream()
    };
    let body = SseBody::new(events.map(Ok::<_, Infallible>));
    let mut reply = Response::new(body.map_err(std::io::Error::other).boxed_unsync());
    let kind = HeaderValue::from_static("text/event-stream");
    reply.headers_mut().insert(CONTENT_TYPE, kind);
    reply
}

//! WebSocket, both ends: never part of the specification, spoken by SDKs and agents all the same.
//!
//! A frame is a text message, under the subprotocol `mcp`. Invariant: a peer that is gone is noticed by its silence, not by
//! the next call; reading and writing never wait for each other.

use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use hyper::http::HeaderValue;
use hyper::http::header::SEC_WEBSOCKET_PROTOCOL;
use hyper::http::{HeaderMap, Request, Response, StatusCode};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::handshake::server::ErrorResponse;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{WebSocketStream, accept_hdr_async_with_config, client_async_with_config};

use crate::connection::{Connection, Error, Reader, Writer};
use crate::frame::{FRAME_LIMIT, Frame, NotAFrame, code};
use crate::http::Hosts;

const SUBPROTOCOL: HeaderValue = HeaderValue::from_static("mcp");
/// For the handshake.
const PATIENCE: Duration = Duration::from_secs(10);

/// How a WebSocket is held.
#[derive(Clone, Debug)]
pub struct Options {
    /// A client's own, a token for instance.
    pub headers: HeaderMap,
    /// The names that a server answers to.
    pub hosts: Hosts,
    /// The largest frame.
    pub limit: usize,
    /// A ping is sent after so much silence.
    pub ping: Duration,
    /// After a ping, anything must come within this.
    pub pong: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            headers: HeaderMap::new(),
            hosts: Hosts::default(),
            limit: FRAME_LIMIT,
            ping: Duration::from_secs(30),
            pong: Duration::from_secs(10),
        }
    }
}

impl Options {
    fn config(&self) -> WebSocketConfig {
        let config = WebSocketConfig::default();
        let config = config
            .max_message_size(Some(self.limit))
            .max_frame_size(Some(self.limit));
        // What is written goes out, or the writer waits; and an idle connection costs little.
        config.write_buffer_size(0).read_buffer_size(16 << 10)
    }
}

/// Connects to a `ws://` URL.
///
/// # Errors
/// When nobody is there, or the server does not speak WebSocket.
pub async fn connect(url: &str, options: &Options) -> Result<Connection, Error> {
    let mut request = url.into_client_request().map_err(broken)?;
    request.headers_mut().extend(options.headers.clone());
    request
        .headers_mut()
        .insert(SEC_WEBSOCKET_PROTOCOL, SUBPROTOCOL);
    let uri = request.uri();
    if uri.scheme_str() != Some("ws") {
        let reason = "only ws:// is connected here; for wss:// hand over a TLS stream";
        return Err(Error::Broken(reason.to_owned()));
    }
    let host = uri
        .host()
        .unwrap_or_default()
        .trim_matches(['[', ']'])
        .to_owned();
    let tcp = timeout(
        PATIENCE,
        TcpStream::connect((host, uri.port_u16().unwrap_or(80))),
    );
    let tcp = tcp.await.map_err(|_| late())?.map_err(broken)?;
    let _ = tcp.set_nodelay(true);
    over(request, tcp, options).await
}

/// Connects over a stream that is open already, a TLS stream for instance.
///
/// # Errors
/// When the server does not speak WebSocket.
pub async fn over<S>(
    request: Request<()>,
    stream: S,
    options: &Options,
) -> Result<Connection, Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let config = Some(options.config());
    let opening = timeout(PATIENCE, client_async_with_config(request, stream, config));
    match opening.await.map_err(|_| late())? {
        Ok((socket, _)) => Ok(start(socket, options)),
        Err(tungstenite::Error::Http(response)) => Err(Error::Refused {
            id: None,
            status: response.status().as_u16(),
            challenge: header(response.headers(), "www-authenticate"),
            reason: "the server does not open a WebSocket".to_owned(),
        }),
        // Python's server takes the subprotocol without naming it.
        Err(error) => Err(broken(error)),
    }
}

/// Accepts a client on a stream that it has opened.
///
/// # Errors
/// When it does not speak WebSocket, or comes from a foreign page.
pub async fn accept<S>(stream: S, options: &Options) -> Result<Connection, Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    #[expect(clippy::result_large_err, reason = "tungstenite wants it so")]
    let answer = |request: &Request<()>, mut response: Response<()>| {
        if let Err((status, why)) = options.hosts.check(request.headers()) {
            return Err(refusal(status, why));
        }
        let offered = request.headers().get_all(SEC_WEBSOCKET_PROTOCOL).iter();
        let mut offered = offered
            .filter_map(|list| list.to_str().ok())
            .flat_map(|it| it.split(','));
        if !offered.any(|name| name.trim() == "mcp") {
            return Err(refusal(
                StatusCode::BAD_REQUEST,
                "the subprotocol must be mcp",
            ));
        }
        response
            .headers_mut()
            .insert(SEC_WEBSOCKET_PROTOCOL, SUBPROTOCOL);
        Ok(response)
    };
    let opening = accept_hdr_async_with_config(stream, answer, Some(options.config()));
    let socket = timeout(PATIENCE, opening).await.map_err(|_| late())?;
    Ok(start(socket.map_err(broken)?, options))
}

fn start<S>(socket: WebSocketStream<S>, options: &Options) -> Connection
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (near, far) = Connection::pair();
    let (sink, source) = socket.split();
    let (ask, asked) = mpsc::channel(1);
    let options = options.clone();
    tokio::spawn(async move {
        let reading = read(source, far.writer, ask, options);
        let writing = write(far.reader, sink, asked);
        tokio::pin!(reading, writing);
        tokio::select! {
            () = &mut writing => reading.await,
            // Time to say goodbye; a writer that is stuck never will.
            () = &mut reading => { let _ = timeout(PATIENCE, writing).await; }
        }
    });
    near
}

async fn write<S>(
    mut outbox: Reader,
    mut sink: SplitSink<S, Message>,
    mut asked: mpsc::Receiver<()>,
) where
    S: futures_util::Sink<Message> + Unpin,
{
    loop {
        let message = tokio::select! {
            frame = outbox.recv() => match frame {
                Some(Ok(frame)) => Message::text(frame.to_line()),
                _ => break,
            },
            ask = asked.recv() => match ask {
                Some(()) => Message::Ping(bytes::Bytes::new()),
                // The reader has ended.
                None => break,
            },
        };
        if sink.send(message).await.is_err() {
            return;
        }
    }
    let _ = timeout(PATIENCE, sink.close()).await;
}

async fn read<S>(mut source: SplitStream<S>, inbox: Writer, ask: mpsc::Sender<()>, options: Options)
where
    S: futures_util::Stream<Item = Result<Message, tungstenite::Error>>,
{
    let mut asked = false;
    loop {
        let patience = if asked { options.pong } else { options.ping };
        let message = tokio::select! {
            () = inbox.closed() => return,
            message = source.next() => message,
            () = sleep(patience) => {
                if asked {
                    let reason = format!("no sign of life within {patience:?} of a ping");
                    let _ = inbox.fail(Error::Broken(reason)).await;
                    return;
                }
                asked = true;
                // A writer that is stuck has its ping under way already.
                let _ = ask.try_send(());
                continue;
            }
        };
        asked = false;
        let sent = match message {
            Some(Ok(Message::Text(text))) => inbox.receive(text.as_bytes()).await,
            Some(Ok(Message::Binary(_))) => {
                let not = NotAFrame::invalid(None, "a frame is a text message");
                inbox.fail(Error::NotAFrame(not)).await
            }
            Some(Ok(Message::Close(_)) | Err(tungstenite::Error::ConnectionClosed)) | None => {
                return;
            }
            Some(Ok(_)) => continue,
            Some(Err(error)) => {
                let _ = inbox.fail(broken(error)).await;
                return;
            }
        };
        if sent.is_err() {
            return;
        }
    }
}

fn refusal(status: StatusCode, why: &str) -> ErrorResponse {
    let body = Frame::error(None, code::INVALID_REQUEST, why).to_line();
    let mut response = Response::new(Some(body));
    *response.status_mut() = status;
    response
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

fn late() -> Error {
    Error::Broken(format!("the other side did not answer within {PATIENCE:?}"))
}

fn broken(error: impl std::error::Error) -> Error {
    Error::Broken(crate::http::chain(&error))
}

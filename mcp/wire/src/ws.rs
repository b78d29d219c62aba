//! WebSocket, both ends: never part of the specification, spoken by SDKs and agents all the same.
//!
//! A frame is a text message, under the subprotocol `mcp`. Invariant: a peer that is gone is noticed by its silence, not by
//! the next call; reading and writing never wait for each other.

use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt, TryFutureExt, stream};
use hyper::http::header::SEC_WEBSOCKET_PROTOCOL;
use hyper::http::{HeaderValue, Request, Response};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, interval_at, timeout};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::handshake::server::ErrorResponse;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{self, Message, Utf8Bytes};
use tokio_tungstenite::{
    WebSocketStream, accept_hdr_async_with_config, client_async_with_config,
    connect_async_with_config,
};

use crate::connection::{Connection, Error, Reader};
use crate::frame::Frame;
use crate::http::{ClientOptions, Hosts, Refusal, chain, refusal};

const SUBPROTOCOL: HeaderValue = HeaderValue::from_static("mcp");
/// For the handshake, for the answer to a ping, and for the last words.
const PATIENCE: Duration = Duration::from_secs(10);
/// From one ping to the next.
const PING: Duration = Duration::from_secs(30);

/// Connects to a `ws://` URL.
///
/// # Errors
/// When nobody is there, or the server does not speak WebSocket.
pub async fn connect(options: ClientOptions) -> Result<Connection, Error> {
    let opening = connect_async_with_config(request(&options)?, config(options.limit), true);
    opened(opening).await
}

/// Connects over a stream that is open already: a TLS stream, for a `wss://` URL.
///
/// # Errors
/// When the server does not speak WebSocket.
pub async fn over<S>(stream: S, options: ClientOptions) -> Result<Connection, Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    opened(client_async_with_config(request(&options)?, stream, config(options.limit))).await
}

fn request(options: &ClientOptions) -> Result<Request<()>, Error> {
    let mut request = options.url.as_str().into_client_request().map_err(|error| broken(&error))?;
    request.headers_mut().extend(options.headers.lock().unwrap().clone());
    request.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, SUBPROTOCOL);
    Ok(request)
}

fn config(limit: usize) -> Option<WebSocketConfig> {
    let config = WebSocketConfig::default();
    let config = config.max_message_size(Some(limit)).max_frame_size(Some(limit));
    // What is written goes out, or the writer waits; and an idle connection costs little.
    Some(config.write_buffer_size(0).read_buffer_size(16 << 10))
}

/// Accepts a client on a stream that it has opened, by one of these names; `limit` is the largest frame.
///
/// # Errors
/// When it does not speak WebSocket, or comes from a foreign page.
pub async fn accept<S>(stream: S, hosts: &Hosts, limit: usize) -> Result<Connection, Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    #[expect(clippy::result_large_err, reason = "tungstenite wants it so")]
    let answer = |request: &Request<()>, mut response: Response<()>| {
        hosts.check(request.headers()).map_err(refused)?;
        let offered = request.headers().get_all(SEC_WEBSOCKET_PROTOCOL);
        let mut offered = offered.iter().filter_map(|list| list.to_str().ok());
        if !offered.any(|list| list.split(',').any(|name| name.trim() == "mcp")) {
            return Err(refused(refusal(400, "the subprotocol must be mcp")));
        }
        response.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, SUBPROTOCOL);
        Ok(response)
    };
    let opening = accept_hdr_async_with_config(stream, answer, config(limit));
    opened(opening.map_ok(|socket| (socket, Response::new(None)))).await
}

/// As tungstenite wants it.
fn refused((status, frame): Refusal) -> ErrorResponse {
    let response = Response::builder().status(status);
    response.body(Some(frame.to_string())).expect("nothing special is in it")
}

type Opening<S> = tungstenite::Result<(WebSocketStream<S>, Response<Option<Vec<u8>>>)>;

/// Starts the connection once its handshake is done.
async fn opened<S>(handshake: impl Future<Output = Opening<S>>) -> Result<Connection, Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let late = |_| Error::Broken(format!("the other side did not answer within {PATIENCE:?}"));
    let (socket, _) = match timeout(PATIENCE, handshake).await.map_err(late)? {
        Ok(opened) => opened,
        Err(tungstenite::Error::Http(response)) => {
            let why = "the server does not open a WebSocket";
            return Err(Error::refused(None, response.status().as_u16(), response.headers(), why));
        }
        Err(error) => return Err(broken(&error)),
    };
    let (near, far) = Connection::pair();
    let (sink, source) = socket.split();
    tokio::spawn(async move {
        let mut writing = pin!(messages(far.reader).map(Ok).forward(sink));
        let mut reading = pin!(far.writer.fill(texts(source)));
        tokio::select! {
            _ = &mut writing => reading.await,
            // Time for the last words; a writer that is stuck has none.
            () = &mut reading => { let _ = timeout(PATIENCE, writing).await; }
        }
    });
    Ok(near)
}

/// What is written: the frames, and a ping every now and then.
fn messages(outbox: Reader) -> impl Stream<Item = Message> {
    let state = (outbox, interval_at(Instant::now() + PING, PING));
    stream::unfold(state, |(mut outbox, mut ping)| async {
        let message = tokio::select! {
            frame = outbox.recv() => Message::text(frame?.ok()?.to_line()),
            _ = ping.tick() => Message::Ping(Bytes::new()),
        };
        Some((message, (outbox, ping)))
    })
}

/// What is read, until the other side says goodbye or nothing for too long.
fn texts(
    source: impl Stream<Item = tungstenite::Result<Message>> + Unpin,
) -> impl Stream<Item = Result<Utf8Bytes, Error>> {
    stream::unfold(source, |mut source| async {
        let silence = PING + PATIENCE;
        let text = match timeout(silence, source.next()).await {
            Ok(None) => return None,
            Ok(Some(Ok(Message::Text(text)))) => Ok(text),
            Ok(Some(Ok(Message::Binary(_)))) => {
                Err(Error::NotAFrame(Frame::invalid(None, "a frame is a text message")))
            }
            Ok(Some(Ok(_))) => Ok(Utf8Bytes::default()),
            Ok(Some(Err(error))) => Err(broken(&error)),
            Err(_) => {
                let reason = format!("no sign of life within {silence:?}, nor of a ping");
                Err(Error::Broken(reason))
            }
        };
        Some((text, source))
    })
}

fn broken(error: &dyn std::error::Error) -> Error {
    Error::Broken(chain(error))
}

//! The server's end of streamable HTTP.
//!
//! A session is a connection for the program behind; all requests without one share another. What HTTP itself asks for is
//! answered here: hosts, sizes, headers, sessions, statuses. Invariant: the program sees frames only, each with an id of
//! its own, and no request of a foreign page, with contradicting headers or over the limit.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, ALLOW, CONTENT_TYPE};
use hyper::http::HeaderValue;
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use sse_stream::{KeepAlive, Sse, SseBody, Timer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::AbortHandle;
use tokio::time::{Instant, Sleep, timeout};

use super::Hosts;
use super::session::{Exchange, NoStream, Session};
use crate::body;
use crate::connection::Connection;
use crate::frame::{FRAME_LIMIT, Frame, Id, Kind, code};
use crate::headers::{
    self, LAST_EVENT, META_CAPABILITIES, META_VERSION, SESSION, STATELESS, ToolHeaders, VERSION,
};

/// The revisions with sessions. The list is closed: later ones have none.
const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/// From this revision on clients understand an event without data.
const PRIMING: &str = "2025-11-25";
/// How long a client may take for the head of a request, and for its body.
const HEAD_PATIENCE: Duration = Duration::from_secs(10);
const BODY_PATIENCE: Duration = Duration::from_secs(30);
/// How long the head of a stream waits for an event to go out with it.
const SOON: Duration = Duration::from_millis(50);
/// How long a status waits for the answer that it depends on: without a session, and in the handshake.
const SOON_STATELESS: Duration = Duration::from_secs(5);

/// A response.
pub type Reply = Response<UnsyncBoxBody<Bytes, io::Error>>;
/// Looks at a request first: a token, a page of its own. What it returns is the response.
pub type Guard = Arc<dyn Fn(&Parts) -> Option<Response<String>> + Send + Sync>;

/// How a server listens.
#[derive(Clone)]
pub struct Options {
    /// Of the endpoint.
    pub path: String,
    /// The names it answers to.
    pub hosts: Hosts,
    /// Looks at each request that names the right host.
    pub guard: Option<Guard>,
    /// The largest frame.
    pub limit: usize,
    /// The most sessions at a time.
    pub sessions: usize,
    /// The most connections of clients at a time; one more waits.
    pub connections: usize,
    /// Ends a session whose client reads no stream and has sent nothing for that long.
    pub idle: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            path: "/mcp".to_owned(),
            hosts: Hosts::default(),
            guard: None,
            limit: FRAME_LIMIT,
            sessions: 1024,
            connections: 4096,
            idle: Duration::from_secs(30 * 60),
        }
    }
}

/// Accepts clients.
pub struct Listener {
    address: SocketAddr,
    accepted: mpsc::Receiver<Connection>,
    accepting: AbortHandle,
}

impl Listener {
    /// Listens at `address`; port 0 takes a free one.
    ///
    /// # Errors
    /// When the address cannot be had.
    pub async fn bind(address: SocketAddr, options: Options) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let (accept, accepted) = mpsc::channel(1);
        let connections = options.connections;
        let server = Arc::new(Server {
            options,
            accept,
            sessions: Mutex::default(),
            shared: Mutex::default(),
            tools: ToolHeaders::default(),
        });
        let accepting = tokio::spawn(server.accept(listener, connections)).abort_handle();
        Ok(Self {
            address,
            accepted,
            accepting,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next session, or the connection that all requests without a session share.
    pub async fn accept(&mut self) -> Option<Connection> {
        self.accepted.recv().await
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

struct Server {
    options: Options,
    accept: mpsc::Sender<Connection>,
    sessions: Mutex<HashMap<String, Arc<Session>>>,
    /// For requests without a session, once there was one.
    shared: Mutex<Option<Arc<Session>>>,
    tools: ToolHeaders,
}

impl Server {
    async fn accept(self: Arc<Self>, listener: TcpListener, connections: usize) {
        let free = Arc::new(Semaphore::new(connections));
        loop {
            let permit = free.clone().acquire_owned().await;
            match listener.accept().await {
                Ok((client, _)) => {
                    let server = self.clone();
                    tokio::spawn(async move {
                        server.serve(client).await;
                        drop(permit);
                    });
                }
                Err(error) => {
                    // Out of file descriptors, most likely: some will be free again.
                    tracing::warn!(%error, "accepting a connection");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }

    async fn serve(self: Arc<Self>, client: TcpStream) {
        // Without it the last packet of a response waits 40 ms for an acknowledgement.
        let _ = client.set_nodelay(true);
        let respond = service_fn(move |request| {
            let server = self.clone();
            async move { Ok::<_, Infallible>(server.respond(request).await) }
        });
        let served = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_PATIENCE)
            .max_buf_size(64 << 10)
            .serve_connection(TokioIo::new(client), respond)
            .await;
        if let Err(error) = served {
            tracing::debug!(%error, "a client's connection");
        }
    }

    async fn respond(self: Arc<Self>, request: Request<Incoming>) -> Reply {
        let (parts, content) = request.into_parts();
        if let Err((status, why)) = self.options.hosts.check(&parts.headers) {
            return text(status, why);
        }
        if let Some(reply) = self.options.guard.as_ref().and_then(|guard| guard(&parts)) {
            return reply.map(|body| full(body.into()));
        }
        if parts.uri.path() != self.options.path {
            return text(StatusCode::NOT_FOUND, "there is nothing here");
        }
        let done = match parts.method {
            Method::POST => self.post(&parts.headers, content).await,
            Method::GET => self.get(&parts.headers),
            Method::DELETE => self.delete(&parts.headers),
            _ => {
                let mut reply = text(StatusCode::METHOD_NOT_ALLOWED, "POST, GET or DELETE");
                let methods = HeaderValue::from_static("POST, GET, DELETE");
                reply.headers_mut().insert(ALLOW, methods);
                Err(reply)
            }
        };
        done.unwrap_or_else(|refusal| refusal)
    }

    async fn post(
        self: &Arc<Self>,
        headers: &HeaderMap,
        content: Incoming,
    ) -> Result<Reply, Reply> {
        if !accepts(headers, "text/event-stream") || !accepts(headers, "application/json") {
            let why = "Accept must list application/json and text/event-stream";
            return Err(text(StatusCode::NOT_ACCEPTABLE, why));
        }
        if essence(headers).is_none_or(|kind| !kind.eq_ignore_ascii_case("application/json")) {
            let why = "Content-Type must be application/json";
            return Err(text(StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
        }
        let limit = self.options.limit;
        let content = match timeout(BODY_PATIENCE, Limited::new(content, limit).collect()).await {
            Ok(Ok(content)) => content.to_bytes(),
            Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
                let why = format!("the frame is longer than {limit} bytes");
                return Err(text(StatusCode::PAYLOAD_TOO_LARGE, &why));
            }
            Ok(Err(_)) => return Err(text(StatusCode::BAD_REQUEST, "the body broke off")),
            Err(_) => return Err(text(StatusCode::REQUEST_TIMEOUT, "the body did not come")),
        };
        let frame = Frame::parse(&content)
            .map_err(|not| json(StatusCode::BAD_REQUEST, not.reply().to_vec()))?;
        drop(content);
        let own = headers::own_version(&frame);
        let version = headers
            .get(VERSION)
            .and_then(|version| version.to_str().ok());
        let modern = own.is_some()
            || frame.calls("server/discover")
            || version.is_some_and(|version| version >= STATELESS) && !frame.calls("initialize");
        if modern && !headers.contains_key(SESSION) {
            return self.alone(headers, frame, own.as_deref(), version).await;
        }
        if frame.calls("initialize") && frame.kind() == Kind::Request {
            return self.initialize(frame).await;
        }
        let session = self.session(headers)?;
        self.exchange(&session, frame, version).await
    }

    /// A handshake: a new session.
    async fn initialize(self: &Arc<Self>, frame: Frame) -> Result<Reply, Reply> {
        let full = || {
            text(
                StatusCode::SERVICE_UNAVAILABLE,
                "there is no room for another session",
            )
        };
        if self.sessions.lock().unwrap().len() >= self.options.sessions {
            return Err(full());
        }
        let name = secret();
        let session = self.open(Some(name.clone())).await.ok_or_else(full)?;
        self.sessions
            .lock()
            .unwrap()
            .insert(name.clone(), session.clone());
        let mut reply = self.exchange(&session, frame, None).await?;
        if session.inbox().is_some() {
            let name = HeaderValue::try_from(name).expect("hexadecimal digits");
            reply.headers_mut().insert(SESSION, name);
        }
        Ok(reply)
    }

    /// A request that stands for itself (from 2026-07-28 on).
    async fn alone(
        self: &Arc<Self>,
        headers: &HeaderMap,
        frame: Frame,
        own: Option<&str>,
        version: Option<&str>,
    ) -> Result<Reply, Reply> {
        let id = frame.id.clone();
        let refuse = |status, code, why: &str| {
            Err(json(status, Frame::error(id.clone(), code, why).to_vec()))
        };
        match frame.kind() {
            Kind::Request => {}
            // Cancelling is hanging up; nothing else is told without a session.
            Kind::Notification => return Ok(accepted()),
            Kind::Response => {
                let why = "Invalid Request: without a session there is nothing to answer";
                return refuse(StatusCode::BAD_REQUEST, code::INVALID_REQUEST, why);
            }
        }
        let params = frame.params.as_deref();
        let has = |path: &[&str]| params.is_some_and(|params| body::get(params, path).is_some());
        let missing: Vec<_> = [META_VERSION, META_CAPABILITIES]
            .iter()
            .filter(|path| !has(*path))
            .map(|path| path[1])
            .collect();
        if !missing.is_empty() {
            let why = format!("Invalid params: _meta has no {}", missing.join(" and no "));
            return refuse(StatusCode::BAD_REQUEST, code::INVALID_PARAMS, &why);
        }
        let same = match (own, version) {
            (Some(own), Some(version)) if own == version => Ok(()),
            (_, None) => Err(format!("the header {VERSION} is missing")),
            _ => Err(format!(
                "the header {VERSION} says something else than the body"
            )),
        };
        if let Err(why) = same.and_then(|()| headers::check(headers, &frame, &self.tools)) {
            let why = format!("Header mismatch: {why}");
            return refuse(StatusCode::BAD_REQUEST, code::HEADER_MISMATCH, &why);
        }
        if frame.calls("initialize") {
            let why = "Method not found: initialize belongs to earlier revisions";
            return refuse(StatusCode::NOT_FOUND, code::METHOD_NOT_FOUND, why);
        }
        let shared = self.shared.lock().unwrap().clone();
        let shared = match shared.filter(|shared| shared.inbox().is_some()) {
            Some(shared) => shared,
            None => {
                let full = || text(StatusCode::SERVICE_UNAVAILABLE, "the server is closing");
                let shared = self.open(None).await.ok_or_else(full)?;
                let mut known = self.shared.lock().unwrap();
                // Somebody else may have been as early.
                match known.clone().filter(|other| other.inbox().is_some()) {
                    Some(other) => other,
                    None => known.insert(shared).clone(),
                }
            }
        };
        self.exchange(&shared, frame, None).await
    }

    /// Opens a connection to the program.
    async fn open(self: &Arc<Self>, name: Option<String>) -> Option<Arc<Session>> {
        let (near, far) = Connection::pair();
        timeout(HEAD_PATIENCE, self.accept.send(near))
            .await
            .ok()?
            .ok()?;
        let session = Session::new(name.clone(), far.writer);
        let (server, running) = (self.clone(), session.clone());
        tokio::spawn(async move {
            running
                .run(far.reader, &server.tools, server.options.idle)
                .await;
            if let Some(name) = name {
                server.sessions.lock().unwrap().remove(&name);
            }
        });
        Some(session)
    }

    /// The session that a client names.
    fn session(&self, headers: &HeaderMap) -> Result<Arc<Session>, Reply> {
        let version = headers.get(VERSION).map(HeaderValue::as_bytes);
        if version.is_some_and(|version| !REVISIONS.iter().any(|it| it.as_bytes() == version)) {
            let why = format!("{VERSION} must be one of {}", REVISIONS.join(", "));
            return Err(text(StatusCode::BAD_REQUEST, &why));
        }
        let Some(name) = headers.get(SESSION) else {
            let why = "the header Mcp-Session-Id is missing; initialize begins a session";
            return Err(text(StatusCode::BAD_REQUEST, why));
        };
        let sessions = self.sessions.lock().unwrap();
        let session = name
            .to_str()
            .ok()
            .and_then(|name| sessions.get(name).cloned());
        session.ok_or_else(|| text(StatusCode::NOT_FOUND, "there is no such session"))
    }

    /// Gives a frame to the program, and its answers to the client.
    async fn exchange(
        &self,
        session: &Arc<Session>,
        mut frame: Frame,
        version: Option<&str>,
    ) -> Result<Reply, Reply> {
        let ended = || text(StatusCode::NOT_FOUND, "the session has ended");
        if frame.kind() != Kind::Request {
            let inbox = session.inbox().ok_or_else(ended)?;
            inbox.send(frame).await.map_err(|_| ended())?;
            return Ok(accepted());
        }
        let handshake = frame.calls("initialize");
        let (inbox, mut exchange) = session.begin(&mut frame).map_err(|none| match none {
            NoStream::Ended => ended(),
            NoStream::Twice(not) => json(StatusCode::BAD_REQUEST, not.reply().to_vec()),
        })?;
        inbox.send(frame).await.map_err(|_| ended())?;
        let stateless = session.name.is_none();
        let soon = if stateless || handshake {
            SOON_STATELESS
        } else {
            SOON
        };
        let first = match timeout(soon, exchange.next()).await {
            Ok(None) => return Err(ended()),
            Ok(Some(item)) => Some(item),
            Err(_) => None,
        };
        match first {
            Some(item) if item.answer.is_some() && (stateless || handshake) => {
                let failed = item.answer.filter(|code| *code != 0);
                if handshake && failed.is_some() {
                    session.close();
                }
                let status = failed
                    .filter(|_| stateless)
                    .map_or(StatusCode::OK, status_of);
                Ok(json(status, item.text.into_bytes()))
            }
            first => {
                let primed = version.is_some_and(|version| version >= PRIMING);
                let priming = (!stateless && primed).then(|| exchange.priming());
                let first = first.map(super::session::Item::into_event);
                Ok(events(priming.into_iter().chain(first).collect(), exchange))
            }
        }
    }

    /// The stream for what belongs to no request, or the rest of one that broke off.
    fn get(&self, headers: &HeaderMap) -> Result<Reply, Reply> {
        if !accepts(headers, "text/event-stream") {
            return Err(text(
                StatusCode::NOT_ACCEPTABLE,
                "Accept must list text/event-stream",
            ));
        }
        let session = self.session(headers)?;
        let last = headers.get(LAST_EVENT).and_then(|id| id.to_str().ok());
        Ok(events(Vec::new(), session.resume(last)))
    }

    fn delete(&self, headers: &HeaderMap) -> Result<Reply, Reply> {
        let session = self.session(headers)?;
        session.close();
        if let Some(name) = &session.name {
            self.sessions.lock().unwrap().remove(name);
        }
        Ok(text(StatusCode::OK, "the session has ended"))
    }
}

/// What an error means to HTTP, where there is no session (2026-07-28).
fn status_of(code: i64) -> StatusCode {
    match code {
        code::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        code::HEADER_MISMATCH | code::MISSING_CAPABILITY | code::UNSUPPORTED_VERSION => {
            StatusCode::BAD_REQUEST
        }
        _ => StatusCode::OK,
    }
}

/// A name that nobody can guess.
fn secret() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the system has random numbers");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn essence(headers: &HeaderMap) -> Option<&str> {
    let kind = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    Some(kind.split(';').next().unwrap_or_default().trim())
}

fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    let listed = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok());
    let mut kinds = listed.flat_map(|value| value.split(',')).map(|range| {
        let range = range.split(';').next().unwrap_or_default();
        range.trim().to_ascii_lowercase()
    });
    let all = kind.split('/').next().map(|main| format!("{main}/*"));
    kinds.any(|range| range == kind || range == "*/*" || Some(&range) == all.as_ref())
}

fn full(bytes: Bytes) -> UnsyncBoxBody<Bytes, io::Error> {
    Full::new(bytes)
        .map_err(|never: Infallible| match never {})
        .boxed_unsync()
}

fn reply(status: StatusCode, kind: &'static str, body: Vec<u8>) -> Reply {
    let mut reply = Response::new(full(body.into()));
    *reply.status_mut() = status;
    let kind = HeaderValue::from_static(kind);
    reply.headers_mut().insert(CONTENT_TYPE, kind);
    reply
}

fn text(status: StatusCode, why: &str) -> Reply {
    json(
        status,
        Frame::error(None::<Id>, code::INVALID_REQUEST, why).to_vec(),
    )
}

fn json(status: StatusCode, body: Vec<u8>) -> Reply {
    reply(status, "application/json", body)
}

fn accepted() -> Reply {
    let mut reply = Response::new(full(Bytes::new()));
    *reply.status_mut() = StatusCode::ACCEPTED;
    reply
}

fn events(first: Vec<Sse>, exchange: Exchange) -> Reply {
    let rest = stream::unfold(exchange, |mut exchange| async move {
        Some((exchange.next().await?.into_event(), exchange))
    });
    let all = stream::iter(first).chain(rest).map(Ok::<_, Infallible>);
    let body: SseBody<_, Alarm> = SseBody::new_keep_alive(all, KeepAlive::new());
    let mut reply = Response::new(body.map_err(io::Error::other).boxed_unsync());
    for (name, value) in [
        ("content-type", "text/event-stream"),
        ("cache-control", "no-store"),
    ] {
        reply
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    reply
}

/// tokio's clock for the comments that keep a silent stream open.
struct Alarm(Pin<Box<Sleep>>);

impl Future for Alarm {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(cx)
    }
}

impl Timer for Alarm {
    fn from_duration(duration: Duration) -> Self {
        Self(Box::pin(tokio::time::sleep(duration)))
    }

    fn reset(mut self: Pin<&mut Self>, when: std::time::Instant) {
        self.0.as_mut().reset(Instant::from_std(when));
    }
}

//! The server's end of streamable HTTP.
//!
//! A session is a connection for the program behind; all requests without one share another. What HTTP itself asks for is
//! answered here: hosts, sizes, headers, sessions, statuses. Invariant: the program sees frames only, each with an id of
//! its own, and no request of a foreign page, with contradicting headers or over the limit.

#![expect(
    clippy::result_large_err,
    reason = "a refusal is a response like any other"
)]

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::ALLOW;
use hyper::http::HeaderValue;
use hyper::{HeaderMap, Method, Request, StatusCode};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::is;
use super::listener::Options;
use super::reply::{Reply, accepted, accepts, events, full, json, text};
use super::session::{NoStream, Session};
use super::streams::Item;
use crate::body;
use crate::connection::Connection;
use crate::frame::{Frame, Kind, code};
use crate::headers::{
    self, LAST_EVENT, META_CAPABILITIES, META_VERSION, SESSION, STATELESS, ToolHeaders, VERSION,
};

/// The revisions with sessions. The list is closed: later ones have none.
const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/// From this revision on clients understand an event without data.
const PRIMING: &str = "2025-11-25";
/// How long the program may take to accept another session.
const ACCEPT_PATIENCE: Duration = Duration::from_secs(10);
/// How long a client may take for a body.
const BODY_PATIENCE: Duration = Duration::from_secs(30);
/// How long the head of a stream waits for an event to go out with it.
const SOON: Duration = Duration::from_millis(50);
/// How long a status waits for the answer that it depends on: without a session, and in the handshake.
const SOON_STATELESS: Duration = Duration::from_secs(5);

/// One endpoint and its sessions.
pub(super) struct Server {
    options: Options,
    accept: mpsc::Sender<Connection>,
    sessions: Mutex<HashMap<String, Arc<Session>>>,
    /// For requests without a session, once there was one.
    shared: Mutex<Option<Arc<Session>>>,
    tools: ToolHeaders,
}

impl Server {
    pub(super) fn new(options: Options, accept: mpsc::Sender<Connection>) -> Arc<Self> {
        Arc::new(Self {
            options,
            accept,
            sessions: Mutex::default(),
            shared: Mutex::default(),
            tools: ToolHeaders::default(),
        })
    }

    pub(super) async fn respond(self: Arc<Self>, request: Request<Incoming>) -> Reply {
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
        if !is(headers, "application/json") {
            let why = "Content-Type must be application/json";
            return Err(text(StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
        }
        let limit = self.options.limit;
        let content = match timeout(BODY_PATIENCE, Limited::new(content, limit).collect()).await {
            Ok(Ok(content)) => content.to_bytes(),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
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
        timeout(ACCEPT_PATIENCE, self.accept.send(near))
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
                let first = first.map(Item::into_event);
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

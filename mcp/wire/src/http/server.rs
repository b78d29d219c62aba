//! The server's end of streamable HTTP.
//!
//! A session is a connection for the program behind; all requests without one share another. What HTTP itself asks for is
//! answered here: hosts, sizes, headers, sessions, statuses. Invariant: the program sees frames only, each with an id of
//! its own, and no request of a foreign page, with contradicting headers or over the limit.

#![expect(clippy::result_large_err, reason = "a refusal is a response like any other")]

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited, StreamBody};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use hyper::http::HeaderValue;
use hyper::{HeaderMap, Method, Request, StatusCode};
use sse_stream::Sse;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::is;
use super::listener::Options;
use super::session::{Event, Response, Session};
use crate::body;
use crate::connection::Connection;
use crate::frame::{Frame, Kind, code};
use crate::headers::{
    self, LAST_EVENT, META_CAPABILITIES, META_VERSION, SESSION, STATELESS, ToolHeaders, VERSION,
};

const PATH: &str = "/mcp";
/// The revisions with sessions. The list is closed: later ones have none.
const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/// From this revision on clients understand an event without data.
const PRIMING: &str = "2025-11-25";
/// How long the program may take to accept another session.
const ACCEPT_PATIENCE: Duration = Duration::from_secs(10);
/// How long a client may take for a body.
const BODY_PATIENCE: Duration = Duration::from_secs(30);
/// How long a status waits for the answer that it depends on: without a session, and in the handshake.
const SOON: Duration = Duration::from_secs(5);
/// The silence after which a comment keeps a stream open.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// A response.
pub type Reply = hyper::Response<UnsyncBoxBody<Bytes, Infallible>>;

/// One endpoint and its sessions.
pub(super) struct Server {
    options: Options,
    accept: mpsc::Sender<Connection>,
    /// By their names; requests without a session share the one that has none.
    sessions: Mutex<HashMap<Option<String>, Arc<Session>>>,
    tools: ToolHeaders,
}

impl Server {
    pub(super) fn new(options: Options, accept: mpsc::Sender<Connection>) -> Arc<Self> {
        Arc::new(Self {
            options,
            accept,
            sessions: Mutex::default(),
            tools: ToolHeaders::default(),
        })
    }

    /// Tells the program that no client has more to say.
    pub(super) fn drain(&self) {
        self.sessions.lock().unwrap().values().for_each(|session| session.drain());
    }

    pub(super) async fn respond(self: Arc<Self>, request: Request<Incoming>) -> Reply {
        let (parts, content) = request.into_parts();
        if let Err((status, why)) = self.options.hosts.check(&parts.headers) {
            return refusal(status.as_u16(), why);
        }
        if let Some(reply) = self.options.guard.as_ref().and_then(|guard| guard(&parts)) {
            return reply.map(|body| Full::from(body).boxed_unsync());
        }
        if parts.uri.path() != PATH {
            return match &self.options.pages {
                Some(pages) => pages(Request::from_parts(parts, content)).await,
                None => refusal(404, "there is nothing here"),
            };
        }
        let done = match parts.method {
            Method::POST => self.post(&parts.headers, content).await,
            Method::GET => self.get(&parts.headers),
            Method::DELETE => self.session(&parts.headers).map(|session| {
                session.close();
                self.sessions.lock().unwrap().remove(&session.name);
                reply(200, "application/json", "{}".into())
            }),
            _ => {
                let mut reply = refusal(405, "POST, GET or DELETE");
                set(&mut reply, ALLOW, "POST, GET, DELETE");
                Err(reply)
            }
        };
        done.unwrap_or_else(|refusal| refusal)
    }

    async fn post(self: &Arc<Self>, headers: &HeaderMap, body: Incoming) -> Result<Reply, Reply> {
        accepts(headers, "text/event-stream")?;
        accepts(headers, "application/json")?;
        if !is(headers, "application/json") {
            return Err(refusal(415, "Content-Type must be application/json"));
        }
        let limit = self.options.limit;
        let content = match timeout(BODY_PATIENCE, Limited::new(body, limit).collect()).await {
            Ok(Ok(content)) => content.to_bytes(),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                let why = format!("the frame is longer than {limit} bytes");
                return Err(refusal(413, &why));
            }
            Ok(Err(_)) => return Err(refusal(400, "the body broke off")),
            Err(_) => {
                return Err(refusal(408, "the body did not come"));
            }
        };
        let frame = Frame::parse(&content).map_err(|not| frame_reply(400, &not.reply()))?;
        drop(content);
        let version = headers.get(VERSION).and_then(|it| it.to_str().ok());
        let modern = headers::own_version(&frame).is_some()
            || frame.calls("server/discover")
            || version.is_some_and(|version| version >= STATELESS) && !frame.calls("initialize");
        if modern && !headers.contains_key(SESSION) {
            // Cancelling is hanging up; nothing else is told without a session.
            if frame.kind() == Kind::Notification {
                return Ok(accepted());
            }
            self.check_alone(headers, &frame).map_err(|refused| {
                let (status, code, why) = refused;
                let kind = frame.id.clone().filter(|_| frame.method.is_some());
                frame_reply(status, &Frame::error(kind, code, &why))
            })?;
            let shared = self.open(None).await?;
            return self.exchange(&shared, frame, None).await;
        }
        if frame.calls("initialize") && frame.kind() == Kind::Request {
            let name = secret();
            let session = self.open(Some(name.clone())).await?;
            let mut reply = self.exchange(&session, frame, None).await?;
            if session.inbox().is_some() {
                set(&mut reply, SESSION, &name);
            }
            return Ok(reply);
        }
        let session = self.session(headers)?;
        self.exchange(&session, frame, version).await
    }

    /// What a request that stands for itself must have (from 2026-07-28 on).
    fn check_alone(&self, headers: &HeaderMap, frame: &Frame) -> Result<(), (u16, i64, String)> {
        let wrong = |code, why| Err((400, code, why));
        if frame.kind() == Kind::Response {
            let why = "Invalid Request: without a session there is nothing to answer";
            return wrong(code::INVALID_REQUEST, why.to_owned());
        }
        let params = frame.params.as_deref();
        let missing = [META_VERSION, META_CAPABILITIES]
            .into_iter()
            .filter(|path| params.is_none_or(|params| body::get(params, path).is_none()));
        let missing: Vec<_> = missing.map(|path| path[1]).collect();
        if !missing.is_empty() {
            let why = format!("Invalid params: _meta has no {}", missing.join(" and no "));
            return wrong(code::INVALID_PARAMS, why);
        }
        if let Err(why) = self.tools.check(frame, headers) {
            return wrong(code::HEADER_MISMATCH, format!("Header mismatch: {why}"));
        }
        if frame.calls("initialize") {
            let why = "Method not found: initialize belongs to earlier revisions";
            return Err((404, code::METHOD_NOT_FOUND, why.to_owned()));
        }
        Ok(())
    }

    /// The session of this name; if there is none, a new connection to the program.
    async fn open(self: &Arc<Self>, name: Option<String>) -> Result<Arc<Session>, Reply> {
        let (near, outbox, session) = {
            let mut sessions = self.sessions.lock().unwrap();
            if let Some(session) = sessions.get(&name).filter(|it| it.inbox().is_some()) {
                return Ok(session.clone());
            }
            if name.is_some() && sessions.len() >= self.options.sessions {
                return Err(no_room());
            }
            let (near, far) = Connection::pair();
            let session = Session::new(name.clone(), far.writer);
            sessions.insert(name, session.clone());
            (near, far.reader, session)
        };
        let accepted = timeout(ACCEPT_PATIENCE, self.accept.send(near)).await;
        let (server, running) = (self.clone(), session.clone());
        tokio::spawn(async move {
            let idle = server.options.idle;
            running.run(outbox, &server.tools, idle).await;
            let mut sessions = server.sessions.lock().unwrap();
            sessions.retain(|_, session| !Arc::ptr_eq(session, &running));
        });
        match accepted {
            Ok(Ok(())) => Ok(session),
            _ => Err(no_room()),
        }
    }

    /// The session that a client names.
    fn session(&self, headers: &HeaderMap) -> Result<Arc<Session>, Reply> {
        let version = headers.get(VERSION).map(HeaderValue::as_bytes);
        if version.is_some_and(|version| !REVISIONS.iter().any(|it| it.as_bytes() == version)) {
            let why = format!("{VERSION} must be one of {}", REVISIONS.join(", "));
            return Err(refusal(400, &why));
        }
        let Some(name) = headers.get(SESSION) else {
            let why = "the header Mcp-Session-Id is missing; initialize begins a session";
            return Err(refusal(400, why));
        };
        let name = name.to_str().ok().map(str::to_owned);
        let session = name.and_then(|name| self.sessions.lock().unwrap().get(&Some(name)).cloned());
        session.ok_or_else(|| refusal(404, "there is no such session"))
    }

    /// Gives a frame to the program, and its answers to the client.
    async fn exchange(
        &self,
        session: &Arc<Session>,
        mut frame: Frame,
        version: Option<&str>,
    ) -> Result<Reply, Reply> {
        let ended = || refusal(404, "the session has ended");
        let inbox = session.inbox().ok_or_else(ended)?;
        if frame.kind() != Kind::Request {
            inbox.send(frame).await.map_err(|_| ended())?;
            return Ok(accepted());
        }
        let (alone, handshake) = (session.name.is_none(), frame.calls("initialize"));
        let mut response =
            session.begin(&mut frame).map_err(|not| frame_reply(400, &not.reply()))?;
        inbox.send(frame).await.map_err(|_| ended())?;
        if !alone && !handshake {
            let primed = version.is_some_and(|version| version >= PRIMING);
            // Tells the client how to resume before anything has happened.
            let first = Sse::default().id(format!("{}-0", response.stream));
            return Ok(events(primed.then(|| first.retry(1000).data("")), response));
        }
        let first = match timeout(SOON, response.events.recv()).await {
            Ok(first) => Some(first.ok_or_else(ended)?),
            Err(_) => None,
        };
        let Some(code) = first.as_ref().and_then(|first| first.answer) else {
            let first = first.map(|first| sse(first, &response));
            return Ok(events(first, response));
        };
        if handshake && code != 0 {
            session.close();
        }
        let status = match code {
            code::METHOD_NOT_FOUND if alone => 404,
            code::UNSUPPORTED_VERSION..=code::HEADER_MISMATCH if alone => 400,
            _ => 200,
        };
        let text = first.map(|first| first.text).unwrap_or_default();
        Ok(reply(status, "application/json", text))
    }

    /// The stream for what belongs to no request, or the rest of one that broke off.
    fn get(&self, headers: &HeaderMap) -> Result<Reply, Reply> {
        accepts(headers, "text/event-stream")?;
        let session = self.session(headers)?;
        let last = headers.get(LAST_EVENT).and_then(|id| id.to_str().ok());
        Ok(events(None, session.resume(last)))
    }
}

/// Whether the client takes this type.
fn accepts(headers: &HeaderMap, kind: &str) -> Result<(), Reply> {
    let listed = headers.get_all(ACCEPT).iter();
    let listed = listed.filter_map(|value| value.to_str().ok());
    let mut ranges = listed.flat_map(|value| value.split(','));
    let main = kind.split_once('/').map_or(kind, |(main, _)| main);
    let all = format!("{main}/*");
    let taken = ranges.any(|range| {
        let range = range.split(';').next().unwrap_or_default().trim();
        [kind, "*/*", &all].iter().any(|it| it.eq_ignore_ascii_case(range))
    });
    let why = format!("Accept must list {kind}");
    taken.then_some(()).ok_or_else(|| refusal(406, &why))
}

fn set(reply: &mut Reply, name: HeaderName, value: &str) {
    let value = HeaderValue::from_str(value).expect("it is ASCII");
    reply.headers_mut().insert(name, value);
}

fn reply(status: u16, kind: &str, body: String) -> Reply {
    let mut reply = Reply::new(Full::from(body).boxed_unsync());
    *reply.status_mut() = StatusCode::from_u16(status).expect("one of a dozen");
    set(&mut reply, CONTENT_TYPE, kind);
    reply
}

fn frame_reply(status: u16, frame: &Frame) -> Reply {
    reply(status, "application/json", frame.to_string())
}

/// A refusal, as a frame without an id, so that a client can read it like any other error.
fn refusal(status: u16, why: &str) -> Reply {
    frame_reply(status, &Frame::error(None, code::INVALID_REQUEST, why))
}

fn no_room() -> Reply {
    refusal(503, "there is no room for another session")
}

/// What needs no answer was taken.
fn accepted() -> Reply {
    let mut reply = Reply::new(Full::default().boxed_unsync());
    *reply.status_mut() = StatusCode::ACCEPTED;
    reply
}

/// A stream of events: the first one, and those of the response.
fn events(first: Option<Sse>, response: Response) -> Reply {
    let rest = stream::unfold(response, |mut response| async move {
        let bytes = match timeout(KEEP_ALIVE, response.events.recv()).await {
            Ok(event) => encoded(sse(event?, &response)),
            Err(_) => Bytes::from_static(b":\n\n"),
        };
        Some((bytes, response))
    });
    let all = stream::iter(first.map(encoded)).chain(rest);
    let all = all.map(|bytes| Ok(hyper::body::Frame::data(bytes)));
    let mut reply = Reply::new(StreamBody::new(all).boxed_unsync());
    set(&mut reply, CONTENT_TYPE, "text/event-stream");
    set(&mut reply, CACHE_CONTROL, "no-store");
    reply
}

/// An event with a name for a client that resumes; nothing is resumed without a session.
fn sse(event: Event, response: &Response) -> Sse {
    let named = response.session.name.as_ref();
    let id = named.map(|_| format!("{}-{}", response.stream, event.number));
    let data = Some(event.text);
    Sse {
        id,
        data,
        ..Sse::default()
    }
}

fn encoded(event: Sse) -> Bytes {
    event.encode().expect("an id of digits")
}

/// A name that nobody can guess.
fn secret() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the system has random numbers");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

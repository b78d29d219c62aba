//! The server's end of streamable HTTP.
//!
//! A session is a connection for the program behind; all requests without one share another. What HTTP itself asks for is
//! answered here: hosts, sizes, headers, sessions, statuses. Invariant: the program sees frames only, each with an id of
//! its own, and no request of a foreign page, with contradicting headers or over the limit.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty, Full, LengthLimitError, Limited, StreamBody};
use hyper::body::{Body, Incoming};
use hyper::header::{ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use hyper::http::HeaderValue;
use hyper::{HeaderMap, Method, Request};
use sse_stream::Sse;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::listener::Options;
use super::session::{Event, Response, Session};
use super::{Refusal, is, refusal};
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
/// The most sessions at a time.
const SESSIONS: usize = 1024;
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
        let answered = self.answer(request).await;
        answered.unwrap_or_else(|(status, frame)| json(status, &frame))
    }

    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Result<Reply, Refusal> {
        let (parts, content) = request.into_parts();
        self.options.hosts.check(&parts.headers)?;
        if let Some(reply) = self.options.guard.as_ref().and_then(|guard| guard(&parts)) {
            return Ok(reply.map(|body| Full::from(body).boxed_unsync()));
        }
        if parts.uri.path() != PATH {
            let pages = self.options.pages.as_ref();
            let pages = pages.ok_or_else(|| refusal(404, "there is nothing here"))?;
            return Ok(pages(Request::from_parts(parts, content)).await);
        }
        match parts.method {
            Method::POST => self.post(&parts.headers, content).await,
            // The stream for what belongs to no request, or the rest of one that broke off.
            Method::GET => {
                accepts(&parts.headers, "text/event-stream")?;
                let session = self.session(&parts.headers)?;
                Ok(events(None, session.resume(text(&parts.headers, LAST_EVENT))))
            }
            Method::DELETE => {
                let session = self.session(&parts.headers)?;
                session.close();
                Ok(reply(200, "application/json", Full::from("{}")))
            }
            _ => {
                let (status, frame) = refusal(405, "POST, GET or DELETE");
                let mut reply = json(status, &frame);
                reply.headers_mut().insert(ALLOW, HeaderValue::from_static("POST, GET, DELETE"));
                Ok(reply)
            }
        }
    }

    async fn post(self: &Arc<Self>, headers: &HeaderMap, body: Incoming) -> Result<Reply, Refusal> {
        accepts(headers, "text/event-stream")?;
        accepts(headers, "application/json")?;
        if !is(headers, "application/json") {
            return Err(refusal(415, "Content-Type must be application/json"));
        }
        let limit = self.options.limit;
        let content = timeout(BODY_PATIENCE, Limited::new(body, limit).collect()).await;
        let content = content.map_err(|_| refusal(408, "the body did not come"))?;
        let content = content.map_err(|error| {
            let long = || refusal(413, &format!("the frame is longer than {limit} bytes"));
            if error.is::<LengthLimitError>() { long() } else { refusal(400, "the body broke off") }
        })?;
        let frame = Frame::parse(&content.to_bytes()).map_err(|not| (400, not))?;
        let version = text(headers, VERSION);
        let greets = frame.calls("initialize");
        let modern = headers::own_version(&frame).is_some()
            || frame.calls("server/discover")
            || version.is_some_and(|version| version >= STATELESS) && !greets;
        let session = if modern && !headers.contains_key(SESSION) {
            // Cancelling is hanging up; nothing else is told without a session.
            if frame.kind() == Kind::Notification {
                return Ok(accepted());
            }
            self.check_alone(headers, &frame)?;
            self.open(None).await?
        } else if greets && frame.kind() == Kind::Request {
            self.open(Some(secret())).await?
        } else {
            self.session(headers)?
        };
        self.exchange(&session, frame, version).await
    }

    /// What a request that stands for itself must have (from 2026-07-28 on).
    fn check_alone(&self, headers: &HeaderMap, frame: &Frame) -> Result<(), Refusal> {
        if frame.kind() == Kind::Response {
            return Err(refusal(400, "without a session there is nothing to answer"));
        }
        let wrong =
            |status, code, why: &str| Err((status, Frame::error(frame.id.clone(), code, why)));
        let params = frame.params.as_deref();
        let missing = [META_VERSION, META_CAPABILITIES]
            .into_iter()
            .filter(|path| params.is_none_or(|params| body::get(params, path).is_none()));
        let missing: Vec<_> = missing.map(|path| path[1]).collect();
        if !missing.is_empty() {
            let why = format!("Invalid params: _meta has no {}", missing.join(" and no "));
            return wrong(400, code::INVALID_PARAMS, &why);
        }
        if let Err(why) = self.tools.check(frame, headers) {
            return wrong(400, code::HEADER_MISMATCH, &format!("Header mismatch: {why}"));
        }
        if frame.calls("initialize") {
            let why = "Method not found: initialize belongs to earlier revisions";
            return wrong(404, code::METHOD_NOT_FOUND, why);
        }
        Ok(())
    }

    /// The session of this name; if there is none, a new connection to the program.
    async fn open(self: &Arc<Self>, name: Option<String>) -> Result<Arc<Session>, Refusal> {
        let no_room = || refusal(503, "there is no room for another session");
        let (near, session) = {
            let mut sessions = self.sessions.lock().unwrap();
            if let Some(session) = sessions.get(&name).filter(|it| it.inbox().is_some()) {
                return Ok(session.clone());
            }
            if name.is_some() && sessions.len() >= SESSIONS {
                return Err(no_room());
            }
            let (near, far) = Connection::pair();
            let session = Session::new(name.clone(), far.writer);
            sessions.insert(name, session.clone());
            let (server, running) = (self.clone(), session.clone());
            tokio::spawn(async move {
                running.run(far.reader, &server.tools).await;
                let mut sessions = server.sessions.lock().unwrap();
                sessions.retain(|_, session| !Arc::ptr_eq(session, &running));
            });
            (near, session)
        };
        match timeout(ACCEPT_PATIENCE, self.accept.send(near)).await {
            Ok(Ok(())) => Ok(session),
            _ => Err(no_room()),
        }
    }

    /// The session that a client names.
    fn session(&self, headers: &HeaderMap) -> Result<Arc<Session>, Refusal> {
        let version = headers.get(VERSION).map(HeaderValue::as_bytes);
        if version.is_some_and(|version| !REVISIONS.iter().any(|it| it.as_bytes() == version)) {
            let why = format!("{VERSION} must be one of {}", REVISIONS.join(", "));
            return Err(refusal(400, &why));
        }
        if !headers.contains_key(SESSION) {
            let why = "the header Mcp-Session-Id is missing; initialize begins a session";
            return Err(refusal(400, why));
        }
        let name = text(headers, SESSION).map(str::to_owned);
        let session = name.and_then(|name| self.sessions.lock().unwrap().get(&Some(name)).cloned());
        let session = session.filter(|session| session.inbox().is_some());
        session.ok_or_else(|| refusal(404, "there is no such session"))
    }

    /// Gives a frame to the program, and its answers to the client.
    async fn exchange(
        &self,
        session: &Arc<Session>,
        mut frame: Frame,
        version: Option<&str>,
    ) -> Result<Reply, Refusal> {
        let ended = || refusal(404, "the session has ended");
        let inbox = session.inbox().ok_or_else(ended)?;
        if frame.kind() != Kind::Request {
            inbox.send(frame).await.map_err(|_| ended())?;
            return Ok(accepted());
        }
        let greets = frame.calls("initialize");
        let mut response = session.begin(&mut frame).map_err(|not| (400, not))?;
        inbox.send(frame).await.map_err(|_| ended())?;
        let mut reply = if session.name.is_some() && !greets {
            // Tells the client how to resume before anything has happened.
            let first = Sse::default().id(format!("{}-0", response.stream)).retry(1000).data("");
            events(Some(first).filter(|_| version.is_some_and(|it| it >= PRIMING)), response)
        } else {
            match timeout(SOON, response.events.recv()).await {
                Err(_) => events(None, response),
                Ok(None) => return Err(ended()),
                Ok(Some(event)) if event.frame.kind() == Kind::Response => {
                    if greets && event.frame.error.is_some() {
                        session.close();
                    }
                    json(if greets { 200 } else { status(&event.frame) }, &event.frame)
                }
                Ok(Some(event)) => events(Some(sse(&event, &response)), response),
            }
        };
        if let Some(name) = session.name.as_ref().filter(|_| greets && session.inbox().is_some()) {
            reply.headers_mut().insert(SESSION, name.parse().expect("it is hexadecimal"));
        }
        Ok(reply)
    }
}

/// Of an answer without a session.
fn status(answer: &Frame) -> u16 {
    let code = answer.error.as_deref().and_then(|error| body::get(error, &["code"]));
    match code.and_then(|code| code.get().parse().ok()) {
        Some(code::METHOD_NOT_FOUND) => 404,
        Some(code::UNSUPPORTED_VERSION..=code::HEADER_MISMATCH) => 400,
        _ => 200,
    }
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// Whether the client takes this type.
fn accepts(headers: &HeaderMap, kind: &str) -> Result<(), Refusal> {
    let mut listed = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let taken = listed.any(|value| value.contains(kind) || value.contains("*/*"));
    taken.then_some(()).ok_or_else(|| refusal(406, &format!("Accept must list {kind}")))
}

fn reply<B>(status: u16, kind: &'static str, body: B) -> Reply
where
    B: Body<Data = Bytes, Error = Infallible> + Send + 'static,
{
    let reply = hyper::Response::builder().status(status).header(CONTENT_TYPE, kind);
    let reply = reply.header(CACHE_CONTROL, "no-store").body(body.boxed_unsync());
    reply.expect("nothing special is in it")
}

fn json(status: u16, frame: &Frame) -> Reply {
    reply(status, "application/json", Full::from(frame.to_string()))
}

/// What needs no answer was taken.
fn accepted() -> Reply {
    reply(202, "application/json", Empty::new())
}

/// A stream of events: the first one, and those of the response.
fn events(first: Option<Sse>, response: Response) -> Reply {
    let encoded = |event: Sse| event.encode().expect("an id of digits");
    let rest = stream::unfold(response, move |mut response| async move {
        let bytes = match timeout(KEEP_ALIVE, response.events.recv()).await {
            Ok(event) => encoded(sse(&event?, &response)),
            Err(_) => Bytes::from_static(b":\n\n"),
        };
        Some((bytes, response))
    });
    let all = stream::iter(first.map(encoded)).chain(rest);
    let all = all.map(|bytes| Ok(hyper::body::Frame::data(bytes)));
    reply(200, "text/event-stream", StreamBody::new(all))
}

/// An event with a name for a client that resumes; nothing is resumed without a session.
fn sse(event: &Event, response: &Response) -> Sse {
    let named = response.session.name.as_ref();
    let id = named.map(|_| format!("{}-{}", response.stream, event.number));
    let data = Some(event.frame.to_line());
    Sse {
        id,
        data,
        ..Sse::default()
    }
}

/// A name that nobody can guess.
fn secret() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the system has random numbers");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

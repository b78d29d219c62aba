//! The client's end of streamable HTTP, and of the transport before it.
//!
//! Requests are posted side by side, each with a response of its own; notifications and answers one after the other, each
//! before what follows it. Invariant: every request that is not cancelled ends in one frame or one error with its id; a
//! stream that breaks off is resumed where the server says so, and nothing is posted twice.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyper::http::header::{ACCEPT, CONTENT_TYPE};
use hyper::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use reqwest::Response;
use tokio::sync::Semaphore;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};

use super::events::{Events, LARGE_ONES, Place};
use super::{chain, is};
use crate::body;
use crate::connection::{Cause, Closed, Connection, Error, Reader, Writer};
use crate::frame::{FRAME_LIMIT, Frame, Id, Kind};
use crate::headers::{self, LAST_EVENT, SESSION, ToolHeaders, VERSION};

/// Requests that may be under way; one more is refused.
const UNDER_WAY: usize = 1024;
/// For a server to take what needs no answer, or to open its stream.
const PATIENCE: Duration = Duration::from_secs(30);
/// For `initialize`, behind which all else waits.
const HANDSHAKE: Duration = Duration::from_secs(120);
/// For a server to end a session.
const GOODBYE: Duration = Duration::from_secs(5);
/// For a server to say why it refuses, and the most that is read of it.
const REASON_PATIENCE: Duration = Duration::from_secs(10);
const REASON_LIMIT: usize = 64 << 10;
/// Attempts to resume a stream, without an event in between.
const ATTEMPTS: u32 = 5;

/// Where a server is, and how it is spoken to; the same for all transports with a URL.
#[derive(Clone, Debug)]
pub struct Options {
    /// Of the one endpoint, or of the stream.
    pub url: String,
    /// Sent with every request: a token, for instance. They may change while connected.
    pub headers: Arc<Mutex<HeaderMap>>,
    /// Carries the requests; TLS and proxies are set up in it.
    pub http: reqwest::Client,
    /// The largest frame.
    pub limit: usize,
}

impl Options {
    /// A server without a login, over a client that does not follow redirects: they could lead a token elsewhere.
    pub fn new(url: &str) -> Self {
        // Fails when the program has chosen one already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .connect_timeout(Duration::from_secs(10))
            .redirect(reqwest::redirect::Policy::none());
        Self {
            url: url.to_owned(),
            headers: Arc::default(),
            http: http.build().expect("a client with nothing special"),
            limit: FRAME_LIMIT,
        }
    }
}

/// Connects to a server. The first exchange shows whether it is there.
pub fn connect(options: Options) -> Connection {
    let (near, far) = Connection::pair();
    let client = Arc::new(Client::new(options, far.writer));
    tokio::spawn(client.run(far.reader));
    near
}

/// Connects over HTTP+SSE, the transport of 2024-11-05 that many servers still offer, to the URL of a stream: `/sse` as a
/// rule. It brings all frames, after an event that names where frames are posted: one after the other, and only to the
/// server that the stream comes from.
///
/// # Errors
/// When there is no such stream, or it does not name a place of the same server.
pub async fn connect_sse(options: Options) -> Result<Connection, Error> {
    let late = |_| Error::failed(None, Cause::Unanswered, "the server does not answer");
    timeout(PATIENCE, open_sse(options)).await.map_err(late)?
}

async fn open_sse(options: Options) -> Result<Connection, Error> {
    let (near, mut far) = Connection::pair();
    let mut client = Client::new(options, far.writer.clone());
    let response = client.request(Method::GET).send().await;
    let response = response.map_err(|error| Error::Broken(chain(&error.without_url())))?;
    if response.status() != StatusCode::OK {
        // Without an id it answers nothing.
        let refused = client.explain(response, None).await;
        return Err(refused.map_or_else(|error| error, Error::NotAFrame));
    }
    let base = response.url().clone();
    let mut events = client.events(response);
    let first = events.next().await.map_err(Error::Broken)?;
    let named = Some(first).filter(|event| event.event.as_deref() == Some("endpoint"));
    let place = named.and_then(|event| base.join(event.data?.trim()).ok());
    let Some(place) = place.filter(|place| place.origin() == base.origin()) else {
        let reason = "the stream does not begin with an endpoint of the same server";
        return Err(Error::Broken(reason.to_owned()));
    };
    client.options.url = place.into();
    tokio::spawn(async move {
        let post = async {
            while let Some(Ok(frame)) = far.reader.recv().await {
                client.tell(frame).await;
            }
        };
        // The stream is the connection: closing it is how either side says goodbye.
        tokio::select! {
            broken = client.pass_on(&mut events, None) => if let Ok(Some(why)) = broken {
                let _ = far.writer.put(Err(Error::Broken(why))).await;
            },
            () = post => {}
            () = far.writer.closed() => {}
        }
    });
    Ok(near)
}

/// Speaks to one URL.
struct Client {
    options: Options,
    inbox: Writer,
    large: Arc<Semaphore>,
    tools: ToolHeaders,
    /// Session and version, as the handshake has agreed. Without them, to hang up is to cancel.
    agreed: Mutex<HeaderMap>,
}

impl Client {
    fn new(options: Options, inbox: Writer) -> Self {
        Self {
            large: Arc::new(Semaphore::new(LARGE_ONES)),
            options,
            inbox,
            tools: ToolHeaders::default(),
            agreed: Mutex::default(),
        }
    }

    async fn run(self: Arc<Self>, mut outbox: Reader) {
        // All are aborted when it is dropped.
        let mut tasks = JoinSet::new();
        let mut calls: HashMap<Id, AbortHandle> = HashMap::new();
        let mut standing: Option<AbortHandle> = None;
        while let Some(Ok(frame)) = outbox.recv().await {
            while tasks.try_join_next().is_some() {}
            calls.retain(|_, call| !call.is_finished());
            match (frame.kind(), frame.id.clone()) {
                // The frames behind it need the session that it brings.
                (Kind::Request, id) if frame.calls("initialize") => {
                    let opening = timeout(HANDSHAKE, self.clone().exchange(frame));
                    if opening.await.is_err() {
                        let _ = self.fail(id, "the server does not answer").await;
                    }
                }
                (Kind::Request, id) if calls.len() >= UNDER_WAY => {
                    let reason = format!("{UNDER_WAY} requests are under way");
                    let _ = self.fail(id, reason).await;
                }
                (Kind::Request, Some(id)) => {
                    calls.insert(id, tasks.spawn(self.clone().exchange(frame)));
                }
                _ if frame.calls("notifications/cancelled") => {
                    let call = frame.names(&["requestId"]);
                    let call = call.and_then(|id| calls.remove(&id));
                    let alone = !self.agreed.lock().unwrap().contains_key(VERSION);
                    if !alone || call.is_none() {
                        self.tell(frame).await;
                    }
                    call.inspect(AbortHandle::abort);
                }
                _ => {
                    let ready = frame.calls("notifications/initialized");
                    if self.tell(frame).await && ready {
                        let next = tasks.spawn(self.clone().listen());
                        standing.replace(next).inspect(AbortHandle::abort);
                    }
                }
            }
        }
        standing.inspect(AbortHandle::abort);
        tokio::select! {
            () = async { while tasks.join_next().await.is_some() {} } => {}
            () = self.inbox.closed() => {}
        }
        let session = self.agreed.lock().unwrap().contains_key(SESSION);
        if session {
            let _ = timeout(GOODBYE, self.request(Method::DELETE).send()).await;
        }
    }

    /// Tells the program that a request has no answer, or why a frame was not taken.
    async fn fail(&self, id: Option<Id>, reason: impl Into<String>) -> Result<(), Closed> {
        self.inbox.put(Err(Error::failed(id, Cause::Unanswered, reason))).await
    }

    /// Posts a frame and forgets the response. Whether the server has taken it.
    async fn tell(&self, frame: Frame) -> bool {
        let _ = match timeout(PATIENCE, self.post(&frame)).await {
            Ok(Ok(_)) => return true,
            Ok(Err(came)) => self.inbox.put(came).await,
            Err(_) => {
                let id = frame.id.filter(|_| frame.method.is_some());
                self.fail(id, "the server does not answer").await
            }
        };
        false
    }

    /// Posts a request and passes on what comes until its answer.
    async fn exchange(self: Arc<Self>, frame: Frame) {
        // Nobody reads any more: what cannot be handed on is nobody's loss.
        let _ = match self.post(&frame).await {
            Err(came) => self.inbox.put(came).await,
            Ok(None) => {
                let reason = "the server took the request and did not answer it";
                self.fail(frame.id, reason).await
            }
            Ok(Some(events)) => self.follow(events, Some(&frame)).await,
        };
    }

    /// Listens for what belongs to no request, if the server has a stream for it.
    async fn listen(self: Arc<Self>) {
        if let Ok(Some(events)) = self.get(None).await {
            let _ = self.follow(events, None).await;
        }
    }

    /// Passes on the events of a stream, and of those that continue it: of a request's until the answer, of the other
    /// as long as the server has it.
    async fn follow(&self, mut events: Events, request: Option<&Frame>) -> Result<(), Closed> {
        while let Some(broken) = self.pass_on(&mut events, request).await? {
            let place = std::mem::take(&mut events.place);
            drop(events);
            events = match (self.resume(place, request.is_some()).await, request) {
                (Some(next), _) => next,
                (None, Some(request)) => return self.fail(request.id.clone(), broken).await,
                (None, None) => break,
            };
        }
        Ok(())
    }

    /// Passes on what a stream brings, of a request's until the answer; what has ended it before.
    async fn pass_on(
        &self,
        events: &mut Events,
        request: Option<&Frame>,
    ) -> Result<Option<String>, Closed> {
        let about = request.and_then(|request| request.id.clone());
        loop {
            let event = match events.next().await {
                Ok(event) => event,
                Err(broken) => return Ok(Some(broken)),
            };
            if event.event.is_some_and(|name| name != "message") {
                continue;
            }
            let answers = |frame: &Frame| frame.kind() == Kind::Response && about.is_some();
            let mut frame = match Frame::parse(event.data.unwrap_or_default().as_bytes()) {
                Ok(frame) if !answers(&frame) || frame.id == about => frame,
                Err(not) if events.whole => return Ok(Some(not.refusal())),
                odd => {
                    let foreign = |_| Frame::invalid(None, "an answer to another request");
                    let not = odd.map_or_else(|not| not, foreign);
                    self.inbox.put(Err(Error::NotAFrame(not))).await?;
                    continue;
                }
            };
            let last = request.filter(|_| answers(&frame));
            if let Some(request) = last {
                self.learn(request, &frame);
            }
            frame.about.clone_from(&about);
            self.inbox.send(frame).await?;
            if last.is_some() {
                return Ok(None);
            }
        }
    }

    /// The stream that continues a broken one. None when the server numbers no events, or does not know it any more; and,
    /// where somebody waits, after some attempts.
    async fn resume(&self, mut place: Place, hasty: bool) -> Option<Events> {
        while !hasty || place.last_event.is_some() && place.failed < ATTEMPTS {
            let wait = place.retry.unwrap_or(Duration::from_secs(1));
            sleep(wait * 2_u32.pow(place.failed.min(ATTEMPTS))).await;
            place.failed += 1;
            let next = timeout(PATIENCE, self.get(place.last_event.clone()));
            if let Ok(Ok(next)) = next.await {
                let mut next = next?;
                next.place = place;
                return Some(next);
            }
        }
        None
    }

    /// Opens a stream. None when the server does not offer it.
    async fn get(&self, last_event: Option<HeaderValue>) -> Result<Option<Events>, reqwest::Error> {
        let last_event = last_event.map(|id| (LAST_EVENT, id));
        let request = self.request(Method::GET).headers(last_event.into_iter().collect());
        let response = request.send().await?;
        if response.status().is_server_error() {
            return response.error_for_status().map(|_| None);
        }
        let stream =
            response.status() == StatusCode::OK && is(response.headers(), "text/event-stream");
        Ok(stream.then(|| self.events(response)))
    }

    fn events(&self, response: Response) -> Events {
        Events::new(response, self.options.limit, self.large.clone())
    }

    fn request(&self, method: Method) -> reqwest::RequestBuilder {
        let own = self.options.headers.lock().unwrap().clone();
        let agreed = self.agreed.lock().unwrap().clone();
        let request = self.options.http.request(method, &self.options.url);
        request.headers(own).headers(agreed).header(ACCEPT, "application/json, text/event-stream")
    }

    /// Posts a frame. None when the server has taken it and says no more; else what there is in the place of a response.
    async fn post(&self, frame: &Frame) -> Result<Option<Events>, Result<Frame, Error>> {
        let id = frame.id.clone().filter(|_| frame.method.is_some());
        let mut about = HeaderMap::new();
        about.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if headers::own_version(frame).is_some() {
            self.tools.write(frame, &mut about);
        }
        if frame.calls("initialize") {
            self.agreed.lock().unwrap().clear();
        }
        let request = self.request(Method::POST).headers(about).body(frame.to_string());
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) => {
                let cause = if error.is_connect() { Cause::Unsent } else { Cause::Unanswered };
                // There may be a key in it.
                return Err(Err(Error::failed(id, cause, chain(&error.without_url()))));
            }
        };
        if !response.status().is_success() {
            return Err(self.explain(response, id).await);
        }
        if frame.calls("initialize") {
            self.agree(SESSION, response.headers().get(SESSION).cloned());
        }
        let silent = id.is_none() || response.status() == StatusCode::ACCEPTED;
        Ok((!silent).then(|| self.events(response)))
    }

    /// A response that is no success: an answer all the same, when its body is one.
    async fn explain(&self, response: Response, id: Option<Id>) -> Result<Frame, Error> {
        let (status, headers) = (response.status(), response.headers().clone());
        let mut events = Events::new(response, REASON_LIMIT, self.large.clone());
        let said = timeout(REASON_PATIENCE, events.next()).await.ok().and_then(Result::ok);
        let text = said.and_then(|event| event.data).unwrap_or_default();
        let words: Vec<_> = text.split_whitespace().collect();
        let words = words.join(" ");
        let why: String = words.chars().filter(|c| !c.is_control()).take(200).collect();
        // Of servers on the TypeScript SDK, whose error has no id, as a frame must have.
        let said = why.to_lowercase();
        let says_so = said.contains("session") || said.contains("not initialized");
        let lost = status == StatusCode::NOT_FOUND || status == StatusCode::BAD_REQUEST && says_so;
        if lost && self.agreed.lock().unwrap().contains_key(SESSION) {
            self.agreed.lock().unwrap().clear();
            let why = "the server has forgotten the session";
            return Err(Error::failed(id, Cause::SessionLost, why));
        }
        let login = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        match Frame::parse(text.as_bytes()) {
            // What could not be read has no id in the answer; here it is known.
            Ok(frame) if frame.error.is_some() && id.is_some() && !login => {
                Ok(Frame { id, ..frame })
            }
            _ => {
                let why = if why.is_empty() { "no reason given" } else { &why };
                Err(Error::refused(id, status.as_u16(), &headers, why))
            }
        }
    }

    /// What later requests need of an answer.
    fn learn(&self, request: &Frame, answer: &Frame) {
        let Some(result) = answer.result.as_deref() else { return };
        if request.calls("tools/list") {
            self.tools.learn(result);
        }
        if request.calls("initialize") {
            let version = body::text(result, &["protocolVersion"]);
            self.agree(VERSION, version.and_then(|version| version.parse().ok()));
        }
    }

    fn agree(&self, name: HeaderName, value: Option<HeaderValue>) {
        if let Some(value) = value {
            self.agreed.lock().unwrap().insert(name, value);
        }
    }
}

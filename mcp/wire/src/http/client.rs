//! The client's end of streamable HTTP.
//!
//! Requests are posted side by side, each with a response of its own; notifications and answers one after the other, each
//! before what follows it. Invariant: every request that is not cancelled ends in one frame or one error with its id; a
//! stream that breaks off is resumed where the server says so, and nothing is posted twice.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join_all;
use hyper::http::header::{ACCEPT, CONTENT_TYPE};
use hyper::http::{HeaderMap, HeaderValue, Method, StatusCode};
use reqwest::Response;
use tokio::sync::Semaphore;
use tokio::task::{AbortHandle, JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};

use super::events::{Events, large_ones, refusal};
use super::{chain, is};
use crate::body;
use crate::connection::{Closed, Connection, Error, Reader, Writer};
use crate::frame::{FRAME_LIMIT, Frame, Id, Kind, NotAFrame};
use crate::headers::{self, LAST_EVENT, SESSION, ToolHeaders, VERSION};

/// Requests that may be under way; one more is refused.
const UNDER_WAY: usize = 1024;
/// For a server to take what needs no answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// For `initialize`, behind which all else waits.
const HANDSHAKE: Duration = Duration::from_secs(120);
/// Attempts to resume a stream, without an event in between.
const ATTEMPTS: u32 = 5;

/// Where the server is, and how it is spoken to.
#[derive(Clone, Debug)]
pub struct Options {
    /// Of the one endpoint.
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

/// Speaks to one URL.
pub(crate) struct Client {
    options: Options,
    inbox: Writer,
    large: Arc<Semaphore>,
    tools: ToolHeaders,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    session: Option<HeaderValue>,
    /// What the handshake has agreed on. Without one, to hang up is to cancel.
    version: Option<HeaderValue>,
    /// Listens for what belongs to no request. Aborted when it is dropped.
    standing: JoinSet<()>,
}

impl Client {
    pub(crate) fn new(options: Options, inbox: Writer) -> Self {
        Self {
            large: large_ones(),
            options,
            inbox,
            tools: ToolHeaders::default(),
            state: Mutex::default(),
        }
    }

    async fn run(self: Arc<Self>, mut outbox: Reader) {
        let mut calls: HashMap<Id, JoinHandle<()>> = HashMap::new();
        while let Some(Ok(frame)) = outbox.recv().await {
            match (frame.kind(), frame.id.clone()) {
                // The frames behind it need the session that it brings.
                (Kind::Request, id) if frame.calls("initialize") => {
                    let opening = timeout(HANDSHAKE, self.clone().exchange(frame));
                    if opening.await.is_err() {
                        self.fail(id, "the server does not answer").await;
                    }
                }
                (Kind::Request, Some(id)) => {
                    calls.retain(|_, call| !call.is_finished());
                    if calls.len() >= UNDER_WAY {
                        let reason = format!("{UNDER_WAY} requests are under way");
                        self.fail(Some(id), &reason).await;
                        continue;
                    }
                    calls.insert(id, tokio::spawn(self.clone().exchange(frame)));
                }
                _ if frame.calls("notifications/cancelled") => {
                    let call = frame.names(&["requestId"]);
                    let call = call.and_then(|id| calls.remove(&id));
                    let alone = self.state.lock().unwrap().version.is_none();
                    if !alone || call.is_none() {
                        self.tell(frame).await;
                    }
                    call.inspect(JoinHandle::abort);
                }
                _ => {
                    let ready = frame.calls("notifications/initialized");
                    if self.tell(frame).await && ready {
                        let mut standing = JoinSet::new();
                        standing.spawn(self.clone().listen());
                        self.state.lock().unwrap().standing = standing;
                    }
                }
            }
        }
        let left: Vec<_> = calls.values().map(JoinHandle::abort_handle).collect();
        tokio::select! {
            _ = join_all(calls.into_values()) => {}
            () = self.inbox.closed() => left.iter().for_each(AbortHandle::abort),
        }
        self.end_session().await;
    }

    /// Tells the program that a request has no answer, or why a frame was not taken.
    async fn fail(&self, id: Option<Id>, reason: &str) {
        let _ = self.inbox.put(Err(Error::unanswered(id, reason))).await;
    }

    /// Posts a frame and forgets the response. Whether the server has taken it.
    pub(crate) async fn tell(&self, frame: Frame) -> bool {
        match timeout(PATIENCE, self.post(&frame)).await {
            Ok(Ok(_)) => return true,
            Ok(Err(came)) => _ = self.inbox.put(came).await,
            Err(_) => {
                let id = frame.id.filter(|_| frame.method.is_some());
                self.fail(id, "the server does not answer").await;
            }
        }
        false
    }

    /// Posts a request and passes on what comes until its answer.
    async fn exchange(self: Arc<Self>, frame: Frame) {
        match self.post(&frame).await {
            // Nobody reads any more: what cannot be handed on is nobody's loss.
            Err(came) => _ = self.inbox.put(came).await,
            Ok(None) => {
                let reason = "the server took the request and did not answer it";
                self.fail(frame.id, reason).await;
            }
            Ok(Some(events)) => _ = self.follow(events, Some(&frame)).await,
        }
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
        let about = request.and_then(|request| request.id.clone());
        let mut failed = 0;
        loop {
            let broken = loop {
                let data = match events.next().await {
                    Ok(Some(event)) => event.data.unwrap_or_default(),
                    Ok(None) => break "the stream ended before the answer".to_owned(),
                    Err(error) => break error,
                };
                failed = 0;
                let mut frame = match Frame::parse(data.as_bytes()) {
                    Ok(frame) => frame,
                    Err(not) if events.whole => break not.reason,
                    Err(not) => {
                        self.inbox.put(Err(not.into())).await?;
                        continue;
                    }
                };
                let last = frame.kind() == Kind::Response;
                if last && (frame.id.is_none() || frame.id != about) {
                    let not = NotAFrame::invalid(None, "an answer to another request");
                    self.inbox.put(Err(not.into())).await?;
                    continue;
                }
                if let Some(request) = request.filter(|_| last) {
                    self.learn(request, &frame);
                }
                frame.about.clone_from(&about);
                self.inbox.send(frame).await?;
                if last {
                    return Ok(());
                }
            };
            match self.resume(events, &mut failed, request.is_some()).await {
                Some(next) => events = next,
                None if request.is_none() => return Ok(()),
                None => {
                    let unanswered = Error::unanswered(about, broken);
                    return self.inbox.put(Err(unanswered)).await;
                }
            }
        }
    }

    /// The stream that continues a broken one. None when the server numbers no events, or does not know it any more; and,
    /// where somebody waits, after some attempts.
    async fn resume(&self, broken: Events, failed: &mut u32, hasty: bool) -> Option<Events> {
        let (last_event, retry) = (broken.last_event.clone(), broken.retry);
        drop(broken);
        while !hasty || last_event.is_some() && *failed < ATTEMPTS {
            let wait = retry.unwrap_or(Duration::from_secs(1));
            sleep(wait * 2_u32.pow((*failed).min(ATTEMPTS))).await;
            *failed += 1;
            if let Ok(Ok(next)) = timeout(PATIENCE, self.get(last_event.clone())).await {
                return next.map(|mut next| {
                    (next.last_event, next.retry) = (last_event, retry);
                    next
                });
            }
        }
        None
    }

    /// Opens a stream. None when the server does not offer it.
    async fn get(&self, last_event: Option<HeaderValue>) -> Result<Option<Events>, String> {
        let mut request = self.request(Method::GET);
        if let Some(id) = last_event {
            request = request.header(LAST_EVENT, id);
        }
        let response = request.send().await.map_err(|error| chain(&error.without_url()))?;
        if response.status().is_server_error() {
            return Err(response.status().to_string());
        }
        let stream =
            response.status() == StatusCode::OK && is(response.headers(), "text/event-stream");
        Ok(stream.then(|| self.events(response)))
    }

    fn events(&self, response: Response) -> Events {
        Events::new(response, self.options.limit, &self.large)
    }

    fn request(&self, method: Method) -> reqwest::RequestBuilder {
        let own = self.options.headers.lock().unwrap().clone();
        let accept = if method == Method::GET {
            "text/event-stream"
        } else {
            "application/json, text/event-stream"
        };
        let request = self.options.http.request(method, &self.options.url);
        let mut request = request.headers(own).header(ACCEPT, accept);
        let state = self.state.lock().unwrap();
        for (name, value) in [(SESSION, &state.session), (VERSION, &state.version)] {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        request
    }

    /// Posts a frame. None when the server has taken it and says no more; else what there is in the place of a response.
    async fn post(&self, frame: &Frame) -> Result<Option<Events>, Result<Frame, Error>> {
        let id = frame.id.as_ref().filter(|_| frame.method.is_some());
        let mut about = HeaderMap::new();
        about.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if headers::own_version(frame).is_some() {
            self.tools.write(frame, &mut about);
        }
        let request = self.request(Method::POST).headers(about);
        let response = match request.body(frame.to_vec()).send().await {
            Ok(response) => response,
            Err(error) => {
                // There may be a key in it.
                let error = error.without_url();
                let (id, reason) = (id.cloned(), chain(&error));
                return Err(Err(if error.is_connect() {
                    Error::Unsent { id, reason }
                } else {
                    Error::unanswered(id, reason)
                }));
            }
        };
        if !response.status().is_success() {
            return Err(self.explain(response, id).await);
        }
        if frame.calls("initialize") {
            let session = response.headers().get(SESSION).cloned();
            self.state.lock().unwrap().session = session;
        }
        let silent = id.is_none() || response.status() == StatusCode::ACCEPTED;
        Ok((!silent).then(|| self.events(response)))
    }

    /// A response that is no success: an answer all the same, when its body is one.
    async fn explain(&self, response: Response, id: Option<&Id>) -> Result<Frame, Error> {
        let status = response.status();
        let (error, frame) = refusal(response, id.cloned()).await;
        if self.is_lost(status, &error) {
            return Err(Error::SessionLost { id: id.cloned() });
        }
        let login = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        match frame {
            Some(mut frame) if id.is_some() && !login => {
                // What could not be read has no id in the answer; here it is known.
                frame.id = id.cloned();
                Ok(frame)
            }
            _ => Err(error),
        }
    }

    /// Whether the server does not know the session any more: 404, or the 400 of servers on the TypeScript SDK.
    fn is_lost(&self, status: StatusCode, error: &Error) -> bool {
        // Theirs is an error without the id that a frame must have.
        let said = error.to_string().to_lowercase();
        let says_so = said.contains("session") || said.contains("not initialized");
        let lost = status == StatusCode::NOT_FOUND || status == StatusCode::BAD_REQUEST && says_so;
        let mut state = self.state.lock().unwrap();
        if !lost || state.session.is_none() {
            return false;
        }
        *state = State::default();
        true
    }

    /// What later requests need of an answer.
    fn learn(&self, request: &Frame, answer: &Frame) {
        let Some(result) = answer.result.as_deref() else {
            return;
        };
        if request.calls("tools/list") {
            self.tools.learn(result);
        }
        if request.calls("initialize") {
            let version = body::text(result, &["protocolVersion"]);
            let version = version.and_then(|version| version.parse().ok());
            self.state.lock().unwrap().version = version;
        }
    }

    async fn end_session(&self) {
        let session = {
            let mut state = self.state.lock().unwrap();
            state.standing.abort_all();
            state.session.is_some()
        };
        if session {
            let request = self.request(Method::DELETE).timeout(Duration::from_secs(5));
            let _ = request.send().await;
        }
    }
}

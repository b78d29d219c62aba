//! The client's end of streamable HTTP.
//!
//! Requests are posted side by side, each with a response of its own; notifications and answers one after the other, each
//! before what follows it. Invariant: every request ends in one frame or one error with its id; a stream that breaks off is
//! resumed where the server says so, and nothing is posted twice.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyper::http::header::{ACCEPT, CONTENT_TYPE};
use hyper::http::{HeaderMap, HeaderValue, Method, StatusCode};
use reqwest::Response;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};

use super::answer::{refusal, whole};
use super::{chain, is};
use crate::body;
use crate::connection::{Closed, Connection, Error, Reader, Writer};
use crate::frame::{FRAME_LIMIT, Frame, Id, Kind, NotAFrame};
use crate::headers::{self, LAST_EVENT, SESSION, ToolHeaders, VERSION};
use crate::sse::{Events, Resume};

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
        Self {
            url: url.to_owned(),
            headers: Arc::default(),
            http: default_client(),
            limit: FRAME_LIMIT,
        }
    }
}

fn default_client() -> reqwest::Client {
    // Fails when the program has chosen one already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder()
        .connect_timeout(Duration::from_secs(10))
        .redirect(reqwest::redirect::Policy::none());
    client.build().expect("a client with nothing special")
}

/// Connects to a server. The first exchange shows whether it is there.
pub fn connect(options: Options) -> Connection {
    let (near, far) = Connection::pair();
    let client = Arc::new(Client {
        options,
        inbox: far.writer,
        tools: ToolHeaders::default(),
        state: Mutex::default(),
    });
    tokio::spawn(client.run(far.reader));
    near
}

struct Client {
    options: Options,
    inbox: Writer,
    tools: ToolHeaders,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    session: Option<HeaderValue>,
    /// What the handshake has agreed on.
    version: Option<HeaderValue>,
    /// Requests under way.
    calls: HashMap<Id, UnderWay>,
    /// Listens for what belongs to no request.
    standing: Option<AbortHandle>,
}

struct UnderWay {
    task: AbortHandle,
    /// Without a session, to hang up is to cancel.
    alone: bool,
}

/// What a response turned out to be.
enum Answer {
    Accepted,
    Json(Box<Frame>),
    Stream(Events),
}

impl Client {
    async fn run(self: Arc<Self>, mut outbox: Reader) {
        let mut calls = JoinSet::new();
        loop {
            let frame = tokio::select! {
                frame = outbox.recv() => frame,
                Some(_) = calls.join_next() => continue,
            };
            let Some(Ok(frame)) = frame else { break };
            match frame.kind() {
                // The frames behind it need the session that it brings.
                Kind::Request if frame.calls("initialize") => {
                    let id = frame.id.clone();
                    let opening = timeout(HANDSHAKE, self.clone().exchange(frame));
                    if opening.await.is_err() {
                        let _ = self.inbox.fail(Error::silent(id)).await;
                    }
                }
                Kind::Request if calls.len() >= UNDER_WAY => {
                    let reason = format!("{UNDER_WAY} requests are under way");
                    let _ = self.inbox.fail(Error::unanswered(frame.id, reason)).await;
                }
                Kind::Request => {
                    let alone = headers::own_version(&frame).is_some();
                    let id = frame.id.clone().expect("a request has one");
                    // Held until the call is known: the call takes itself off the list.
                    let mut state = self.state.lock().unwrap();
                    let task = calls.spawn(self.clone().exchange(frame));
                    state.calls.insert(id, UnderWay { task, alone });
                }
                Kind::Notification | Kind::Response => self.clone().tell(frame).await,
            }
        }
        tokio::select! {
            () = async { while calls.join_next().await.is_some() {} } => {}
            () = self.inbox.closed() => calls.abort_all(),
        }
        self.end_session().await;
    }

    /// Posts what has no answer.
    async fn tell(self: Arc<Self>, frame: Frame) {
        if frame.calls("notifications/cancelled") && self.hang_up(&frame) {
            return;
        }
        let posted = match timeout(PATIENCE, self.post(&frame)).await {
            Ok(posted) => posted,
            Err(_) => Err(Error::silent(None)),
        };
        match posted {
            Err(error) => _ = self.inbox.fail(error).await,
            Ok(_) if frame.calls("notifications/initialized") => {
                let standing = tokio::spawn(self.clone().listen()).abort_handle();
                let old = self.state.lock().unwrap().standing.replace(standing);
                old.inspect(AbortHandle::abort);
            }
            Ok(_) => {}
        }
    }

    /// Ends a cancelled request. True when that is all that the server needs.
    fn hang_up(&self, cancelled: &Frame) -> bool {
        let params = cancelled.params.as_deref();
        let id = params.and_then(|params| Id::parse(body::get(params, &["requestId"])?));
        let call = id.and_then(|id| self.state.lock().unwrap().calls.remove(&id));
        let Some(UnderWay { task, alone }) = call else {
            return false;
        };
        if alone {
            task.abort();
        } else {
            // The server is told, and may answer all the same.
            tokio::spawn(async move {
                sleep(PATIENCE).await;
                task.abort();
            });
        }
        alone
    }

    /// Posts a request and passes on what comes until its answer.
    async fn exchange(self: Arc<Self>, frame: Frame) {
        let id = frame.id.clone();
        // Nobody reads any more: what cannot be handed on is nobody's loss.
        let _ = match self.post(&frame).await {
            Err(error) => self.inbox.fail(error).await,
            Ok(Answer::Accepted) => {
                let reason = "the server took the request and did not answer it".to_owned();
                self.inbox.fail(Error::unanswered(id.clone(), reason)).await
            }
            Ok(Answer::Json(answer)) => {
                self.learn(&frame, &answer);
                self.inbox.send(*answer).await
            }
            Ok(Answer::Stream(events)) => self.follow(events, Some(&frame)).await,
        };
        if let Some(id) = id {
            self.state.lock().unwrap().calls.remove(&id);
        }
    }

    /// Listens for what belongs to no request, if the server has a stream for it.
    async fn listen(self: Arc<Self>) {
        if let Ok(Some(events)) = self.get(&Resume::default()).await {
            let _ = self.follow(events, None).await;
        }
    }

    /// Passes on the events of a stream, and of those that continue it: of a request's until the answer, of the other
    /// as long as the server has it.
    async fn follow(&self, mut events: Events, request: Option<&Frame>) -> Result<(), Closed> {
        let about = request.and_then(|request| request.id.clone());
        let mut resume = Resume::default();
        let mut failed = 0;
        loop {
            let broken = loop {
                let data = match events.next(&mut resume).await {
                    Ok(Some(event)) => event.data.unwrap_or_default(),
                    Ok(None) => break "the stream ended before the answer".to_owned(),
                    Err(error) => break error,
                };
                failed = 0;
                let mut frame = match Frame::parse(data.as_bytes()) {
                    Ok(frame) => frame,
                    Err(not) => {
                        self.inbox.fail(Error::NotAFrame(not)).await?;
                        continue;
                    }
                };
                let last = frame.kind() == Kind::Response;
                if last && (frame.id.is_none() || frame.id != about) {
                    let not = NotAFrame::invalid(None, "an answer on another request's stream");
                    self.inbox.fail(Error::NotAFrame(not)).await?;
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
            if request.is_none() {
                let beginning = HeaderValue::from_static("");
                resume.last_event.get_or_insert(beginning);
            }
            match self.resume(&resume, &mut failed, request.is_some()).await {
                Some(next) => events = next,
                None if request.is_none() => return Ok(()),
                None => return self.inbox.fail(Error::unanswered(about, broken)).await,
            }
        }
    }

    /// The stream that continues a broken one. None when the server numbers no events, or does not know it any more; and,
    /// where somebody waits, after some attempts.
    async fn resume(&self, resume: &Resume, failed: &mut u32, hasty: bool) -> Option<Events> {
        resume.last_event.as_ref()?;
        while *failed < ATTEMPTS || !hasty {
            let wait = resume.retry.unwrap_or(Duration::from_secs(1));
            sleep(wait * 2_u32.pow((*failed).min(ATTEMPTS))).await;
            *failed += 1;
            match timeout(PATIENCE, self.get(resume)).await {
                Ok(Ok(Some(events))) => return Some(events),
                Ok(Ok(None)) => return None,
                Ok(Err(_)) | Err(_) => {}
            }
        }
        None
    }

    /// Opens a stream. None when the server does not offer it.
    async fn get(&self, resume: &Resume) -> Result<Option<Events>, String> {
        let mut request = self
            .request(Method::GET)
            .header(ACCEPT, "text/event-stream");
        if let Some(id) = resume.last_event.as_ref().filter(|id| !id.is_empty()) {
            request = request.header(LAST_EVENT, id.clone());
        }
        let response = request.send().await.map_err(|error| chain(&error))?;
        if response.status().is_server_error() {
            return Err(response.status().to_string());
        }
        let stream =
            response.status() == StatusCode::OK && is(response.headers(), "text/event-stream");
        Ok(stream.then(|| Events::new(response, self.options.limit)))
    }

    fn request(&self, method: Method) -> reqwest::RequestBuilder {
        let state = self.state.lock().unwrap();
        let own = self.options.headers.lock().unwrap().clone();
        let mut request = self
            .options
            .http
            .request(method, &self.options.url)
            .headers(own);
        for (name, value) in [(SESSION, &state.session), (VERSION, &state.version)] {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        request
    }

    async fn post(&self, frame: &Frame) -> Result<Answer, Error> {
        let id = frame.id.as_ref().filter(|_| frame.method.is_some());
        let mut about = HeaderMap::new();
        about.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let both = HeaderValue::from_static("application/json, text/event-stream");
        about.insert(ACCEPT, both);
        if headers::own_version(frame).is_some() {
            headers::write(frame, &self.tools, &mut about);
        }
        let request = self
            .request(Method::POST)
            .headers(about)
            .body(frame.to_vec());
        let failed = |reason: String| Error::unanswered(id.cloned(), reason);
        let response = request
            .send()
            .await
            .map_err(|error| Error::unsent(id.cloned(), &error))?;
        if !response.status().is_success() {
            return self.explain(response, id).await;
        }
        if frame.calls("initialize") {
            let mut state = self.state.lock().unwrap();
            state.session = response.headers().get(SESSION).cloned();
        }
        if id.is_none() || response.status() == StatusCode::ACCEPTED {
            return Ok(Answer::Accepted);
        }
        if is(response.headers(), "text/event-stream") {
            return Ok(Answer::Stream(Events::new(response, self.options.limit)));
        }
        let text = whole(response, self.options.limit).await.map_err(failed)?;
        let answer = Frame::parse(&text).map_err(|not| failed(not.reason))?;
        if answer.id.as_ref() != id || answer.kind() != Kind::Response {
            return Err(failed("the server answered another request".to_owned()));
        }
        Ok(Answer::Json(Box::new(answer)))
    }

    /// A response that is no success: an answer all the same, when its body is one.
    async fn explain(&self, response: Response, id: Option<&Id>) -> Result<Answer, Error> {
        let status = response.status();
        let (error, frame) = refusal(response, id.cloned()).await;
        if self.is_lost(status, frame.as_ref()) {
            return Err(Error::SessionLost { id: id.cloned() });
        }
        let login = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        match frame {
            Some(mut frame) if id.is_some() && !login => {
                // What could not be read has no id in the answer; here it is known.
                frame.id = id.cloned();
                Ok(Answer::Json(Box::new(frame)))
            }
            _ => Err(error),
        }
    }

    /// Whether the server does not know the session any more: 404, or the 400 of servers on the TypeScript SDK.
    fn is_lost(&self, status: StatusCode, frame: Option<&Frame>) -> bool {
        let said = frame.and_then(|frame| frame.error.as_deref());
        let says_so = |error| {
            let text = body::text(error, &["message"])
                .unwrap_or_default()
                .to_lowercase();
            text.contains("session") || text.contains("not initialized")
        };
        let lost = status == StatusCode::NOT_FOUND
            || status == StatusCode::BAD_REQUEST && said.is_some_and(says_so);
        let mut state = self.state.lock().unwrap();
        if !lost || state.session.is_none() {
            return false;
        }
        (state.session, state.version) = (None, None);
        state.standing.take().inspect(AbortHandle::abort);
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
            state.standing.take().inspect(AbortHandle::abort);
            state.session.is_some()
        };
        if session {
            let request = self.request(Method::DELETE).timeout(Duration::from_secs(5));
            let _ = request.send().await;
        }
    }
}

//! Which frame of the program goes to which response of the client.
//!
//! The program behind has one ordered connection; its client has a response for each request, and perhaps a standing one.
//! Invariant: an answer goes to the response of its request and nowhere else, with what was sent before it on the same
//! connection in front of it; what a client has missed of a session is kept, within bounds, until it asks again.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, timeout};

use crate::body;
use crate::connection::{Reader, Receiver, Sender, Writer, queue};
use crate::frame::{Frame, Id, Kind, NotAFrame, code};
use crate::headers::{META_PROGRESS, META_SUBSCRIPTION, ToolHeaders};

/// What is kept of a session for a client that comes back.
const KEPT_EVENTS: usize = 1000;
const KEPT_BYTES: usize = 4 << 20;
/// The requests of a session that may be under way.
const UNDER_WAY: usize = 4096;
/// How long, all in all, one client without a session may keep the others waiting.
const STALL: Duration = Duration::from_secs(5);
/// The stream for what belongs to no request.
const STANDING: u64 = 0;

/// A connection to the program, and the client's streams on it.
pub(super) struct Session {
    /// What the client calls it. Requests without a session share one connection that has no name.
    pub(super) name: Option<String>,
    state: Mutex<State>,
}

struct State {
    /// None when the session has ended.
    inbox: Option<Writer>,
    /// The standing one, and one for each request under way.
    streams: BTreeMap<u64, Stream>,
    kept: VecDeque<Event>,
    last: u64,
    used: Instant,
}

#[derive(Default)]
struct Stream {
    /// None on the standing stream.
    call: Option<Call>,
    /// None while the client is not there.
    response: Option<Sender<Event>>,
    responses: u64,
    /// The last event, and the last one that a response was given.
    written: u64,
    given: u64,
    stalled: Duration,
}

/// A request under way. The program knows it, and its token, by the client's names or by our own.
struct Call {
    client: Id,
    program: Id,
    token: Option<(Id, Id)>,
    method: Box<str>,
}

/// A frame for the client, as text.
#[derive(Clone)]
pub(super) struct Event {
    stream: u64,
    pub(super) number: u64,
    pub(super) text: String,
    /// It is the answer, after which the stream ends: the code of its error, or 0.
    pub(super) answer: Option<i64>,
}

/// A response to a client. Dropped before its end, the client has gone.
pub(super) struct Response {
    pub(super) session: Arc<Session>,
    pub(super) stream: u64,
    serial: u64,
    pub(super) events: Receiver<Event>,
}

impl Drop for Response {
    fn drop(&mut self) {
        let mut state = self.session.state.lock().unwrap();
        state.used = Instant::now();
        let own = state.streams.get_mut(&self.stream);
        if let Some(own) = own.filter(|own| own.responses == self.serial) {
            own.response = None;
            if self.session.name.is_none() {
                state.cancel(self.stream);
            }
        }
    }
}

impl Session {
    pub(super) fn new(name: Option<String>, inbox: Writer) -> Arc<Self> {
        let state = State {
            inbox: Some(inbox),
            streams: BTreeMap::from([(STANDING, Stream::default())]),
            kept: VecDeque::new(),
            last: STANDING,
            used: Instant::now(),
        };
        Arc::new(Self {
            name,
            state: Mutex::new(state),
        })
    }

    /// The way to the program, unless the session has ended.
    pub(super) fn inbox(&self) -> Option<Writer> {
        let mut state = self.state.lock().unwrap();
        state.used = Instant::now();
        state.inbox.clone()
    }

    /// Opens the stream of a request. Without a session the frame gets an id that nobody else on the connection has.
    ///
    /// # Errors
    /// When too many requests are under way, or one with the same id.
    pub(super) fn begin(self: &Arc<Self>, frame: &mut Frame) -> Result<Response, NotAFrame> {
        let mut state = self.state.lock().unwrap();
        let stream = state.last + 1;
        let named = |client: Id| match self.name {
            Some(_) => client,
            None => Id::from(stream),
        };
        let client = frame.id.clone().expect("a request has one");
        let program = named(client.clone());
        if state.calls().any(|(_, call)| call.program == program) {
            let reason = "another request with this id is under way";
            return Err(NotAFrame::invalid(Some(client), reason));
        }
        if state.streams.len() > UNDER_WAY {
            let reason = "too many requests are under way";
            return Err(NotAFrame::invalid(Some(client), reason));
        }
        let token = frame.names(&META_PROGRESS);
        let token = token.map(|token| (token.clone(), named(token)));
        if let Some((client, program)) = &token {
            rename(&mut frame.params, &META_PROGRESS, client, program);
        }
        frame.id = Some(program.clone());
        let own = Stream {
            call: Some(Call {
                client,
                program,
                token,
                method: frame.method.clone().unwrap_or_default(),
            }),
            ..Stream::default()
        };
        state.last = stream;
        state.streams.insert(stream, own);
        Ok(self.respond(&mut state, stream, None))
    }

    /// The stream for what belongs to no request, or the rest of one that broke off after `last_event`. A stream that
    /// another response still brings is taken over.
    pub(super) fn resume(self: &Arc<Self>, last_event: Option<&str>) -> Response {
        let mut state = self.state.lock().unwrap();
        let named = last_event.and_then(|id| id.split_once('-'));
        match named.and_then(|(stream, event)| Some((stream.parse().ok()?, event.parse().ok()?))) {
            Some((stream, seen)) => self.respond(&mut state, stream, Some(seen)),
            None => self.respond(&mut state, STANDING, None),
        }
    }

    fn respond(self: &Arc<Self>, state: &mut State, stream: u64, seen: Option<u64>) -> Response {
        state.used = Instant::now();
        let (sender, events) = queue();
        let own = state.streams.get_mut(&stream);
        let seen = seen.or(own.as_ref().map(|own| own.given));
        let missed = state.kept.iter();
        for event in missed.filter(|it| it.stream == stream && Some(it.number) > seen) {
            sender.force(event.clone());
        }
        let mut serial = 0;
        if let Some(own) = own.filter(|_| state.inbox.is_some()) {
            own.responses += 1;
            own.given = own.written;
            own.response.replace(sender).inspect(Sender::close);
            serial = own.responses;
        }
        Response {
            session: self.clone(),
            stream,
            serial,
            events,
        }
    }

    /// Moves the program's frames to the client's streams, until the program or the session ends. A session that has
    /// been `idle` for so long ends.
    pub(super) async fn run(&self, mut outbox: Reader, tools: &ToolHeaders, idle: Duration) {
        loop {
            match timeout(idle, outbox.recv()).await {
                Ok(Some(Ok(frame))) => self.deliver(frame, tools).await,
                Ok(_) => break,
                Err(_) => {
                    let state = self.state.lock().unwrap();
                    let mut streams = state.streams.values();
                    let read = streams.any(|own| own.response.is_some());
                    if !read && state.used.elapsed() >= idle {
                        break;
                    }
                }
            }
        }
        let left: Vec<_> = {
            let mut state = self.state.lock().unwrap();
            state.inbox = None;
            let calls = state.calls();
            calls.map(|(_, call)| call.program.clone()).collect()
        };
        let why = "the server behind has closed the connection";
        for id in left {
            let answer = Frame::error(Some(id), code::INTERNAL_ERROR, why);
            self.deliver(answer, tools).await;
        }
        self.close();
    }

    /// Takes nothing more from the client; what the program still says goes out.
    pub(super) fn drain(&self) {
        self.state.lock().unwrap().inbox = None;
    }

    /// Ends it at once: its streams break off.
    pub(super) fn close(&self) {
        let mut state = self.state.lock().unwrap();
        state.inbox = None;
        let streams = std::mem::take(&mut state.streams);
        let responses = streams.into_values().filter_map(|own| own.response);
        responses.for_each(|response| response.close());
    }

    /// Hands a frame to the response that it belongs to, and keeps it for one who resumes.
    async fn deliver(&self, mut frame: Frame, tools: &ToolHeaders) {
        let (event, response, stalled) = {
            let mut state = self.state.lock().unwrap();
            let Some((stream, answer)) = state.route(&mut frame, tools) else {
                return tracing::debug!(id = ?frame.id, "an answer to no request under way");
            };
            let Some(own) = state.streams.get_mut(&stream) else {
                return;
            };
            own.written += 1;
            let event = Event {
                stream,
                number: own.written,
                text: frame.to_line(),
                answer,
            };
            let (response, stalled) = (own.response.clone(), own.stalled);
            if response.is_some() {
                own.given = own.written;
            }
            if answer.is_some() {
                state.streams.remove(&stream);
            }
            if self.name.is_some() {
                state.keep(event.clone());
            }
            (event, response, stalled)
        };
        // A client that has gone finds it among what is kept.
        let Some(response) = response else { return };
        let (began, stream, bytes) = (Instant::now(), event.stream, event.text.len());
        let sending = response.send(event, bytes);
        if self.name.is_some() {
            let _ = sending.await;
        } else if timeout(STALL.saturating_sub(stalled), sending).await.is_err() {
            tracing::warn!("a client does not read its response, which is closed");
            self.state.lock().unwrap().cancel(stream);
        } else if let Some(own) = self.state.lock().unwrap().streams.get_mut(&stream) {
            own.stalled += began.elapsed();
        }
    }
}

impl State {
    fn calls(&self) -> impl DoubleEndedIterator<Item = (u64, &Call)> {
        let streams = self.streams.iter();
        streams.filter_map(|(stream, own)| Some((*stream, own.call.as_ref()?)))
    }

    /// Finds the stream of a frame, and puts the client's names back. Of an answer also its code; None when there is no
    /// such request.
    fn route(&self, frame: &mut Frame, tools: &ToolHeaders) -> Option<(u64, Option<i64>)> {
        if frame.kind() != Kind::Response {
            return Some((self.stream_of(frame), None));
        }
        let id = frame.id.as_ref()?;
        let (stream, call) = self.calls().find(|(_, call)| call.program == *id)?;
        if let Some(result) = frame.result.as_deref() {
            if &*call.method == "tools/list" {
                tools.learn(result);
            }
            if body::get(result, &META_SUBSCRIPTION).is_some() {
                let (from, to) = (&call.program, &call.client);
                rename(&mut frame.result, &META_SUBSCRIPTION, from, to);
            }
        }
        frame.id = Some(call.client.clone());
        let error = frame.error.as_deref();
        let code = error.map_or(Some(0), |error| body::get(error, &["code"])?.get().parse().ok());
        Some((stream, code.or(Some(code::INTERNAL_ERROR))))
    }

    /// The stream that a notification or a request of the program belongs to.
    fn stream_of(&self, frame: &mut Frame) -> u64 {
        let token = frame.names(&["progressToken"]);
        let token = token.filter(|_| frame.calls("notifications/progress"));
        let subscription = frame.names(&META_SUBSCRIPTION);
        for (stream, call) in self.calls() {
            let own = call.token.as_ref().zip(token.as_ref());
            if let Some(((client, program), _)) = own.filter(|(own, named)| own.1 == **named) {
                rename(&mut frame.params, &["progressToken"], program, client);
                return stream;
            }
            if Some(&call.program) == subscription.as_ref() {
                let (from, to) = (&call.program, &call.client);
                rename(&mut frame.params, &META_SUBSCRIPTION, from, to);
                return stream;
            }
        }
        let told = |call: &Call| Some(&call.program) == frame.about.as_ref();
        // A program on stdio does not say; the latest request is the likeliest.
        let likely = |call: &Call| &*call.method != "subscriptions/listen";
        let stream = self.calls().find(|(_, call)| told(call));
        let stream = stream.or_else(|| self.calls().rfind(|(_, call)| likely(call)));
        stream.map_or(STANDING, |(stream, _)| stream)
    }

    fn keep(&mut self, event: Event) {
        self.kept.push_back(event);
        let mut bytes: usize = self.kept.iter().map(|event| event.text.len()).sum();
        while self.kept.len() > KEPT_EVENTS || self.kept.len() > 1 && bytes > KEPT_BYTES {
            bytes -= self.kept.pop_front().map_or(0, |event| event.text.len());
        }
    }

    /// Ends a stream without a session, and its request with it.
    fn cancel(&mut self, stream: u64) {
        let call = self.streams.remove(&stream).and_then(|own| own.call);
        if let Some((call, inbox)) = call.zip(self.inbox.clone()) {
            let params =
                json!({ "requestId": call.program.to_raw(), "reason": "the client hung up" });
            let cancelled = Frame::notification("notifications/cancelled", params);
            tokio::spawn(async move { inbox.send(cancelled).await });
        }
    }
}

/// Puts one name where a body has the other.
fn rename(body: &mut Option<Box<serde_json::value::RawValue>>, path: &[&str], from: &Id, to: &Id) {
    let own = body.as_deref().filter(|_| from != to);
    if let Some(renamed) = own.and_then(|own| body::set(own, path, &to.to_raw())) {
        *body = Some(renamed);
    }
}

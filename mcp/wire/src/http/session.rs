//! Which frame of the program goes to which response of the client.
//!
//! The program behind has one ordered connection; its client has a response for each request, and perhaps a standing one.
//! Invariant: an answer goes to the response of its request and nowhere else, with what was sent before it on the same
//! connection in front of it; what a client has missed of a session is kept, within bounds, until it asks again.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, interval_at, timeout};

use crate::connection::{Reader, Receiver, Sender, Writer, queue};
use crate::frame::{Frame, Id, Kind, code};
use crate::headers::{META_PROGRESS, META_SUBSCRIPTION, ToolHeaders};

/// What is kept of a session for a client that comes back.
const KEPT_EVENTS: usize = 1000;
const KEPT_BYTES: usize = 4 << 20;
/// A session ends whose client reads no stream and has sent nothing for at least that long.
const IDLE: Duration = Duration::from_secs(30 * 60);
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

#[derive(Default)]
struct State {
    /// None when the session has ended.
    inbox: Option<Writer>,
    /// The standing one, and one for each request under way.
    streams: BTreeMap<u64, Stream>,
    kept: VecDeque<Event>,
    last: u64,
    /// The client was here since somebody looked.
    used: bool,
}

#[derive(Default)]
struct Stream {
    /// None on the standing stream.
    call: Option<Call>,
    response: Option<Sender<Event>>,
    /// The last event, and the last one that a response was given.
    written: u64,
    given: u64,
    stalled: Duration,
}

impl Stream {
    /// None while the client is not there.
    fn response(&self) -> Option<&Sender<Event>> {
        self.response.as_ref().filter(|response| !response.is_closed())
    }
}

/// A request under way.
struct Call {
    id: Name,
    token: Option<Name>,
    method: Box<str>,
}

/// What client and program call a thing: the same in a session; without one the program has a name of our own.
struct Name {
    client: Id,
    program: Id,
}

impl Name {
    fn is(&self, program: Option<&Id>) -> bool {
        program == Some(&self.program)
    }
}

/// A frame for the client.
#[derive(Clone)]
pub(super) struct Event {
    stream: u64,
    pub(super) number: u64,
    pub(super) frame: Arc<Frame>,
}

/// A response to a client. Dropped before its end, the client has gone.
pub(super) struct Response {
    pub(super) session: Arc<Session>,
    pub(super) stream: u64,
    pub(super) events: Receiver<Event>,
}

impl Drop for Response {
    fn drop(&mut self) {
        let mut state = self.session.state();
        state.used = true;
        if self.session.name.is_none() {
            state.cancel(self.stream);
        }
    }
}

impl Session {
    pub(super) fn new(name: Option<String>, inbox: Writer) -> Arc<Self> {
        let state = State {
            inbox: Some(inbox),
            streams: BTreeMap::from([(STANDING, Stream::default())]),
            ..State::default()
        };
        Arc::new(Self {
            name,
            state: Mutex::new(state),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// The way to the program, unless the session has ended.
    pub(super) fn inbox(&self) -> Option<Writer> {
        let mut state = self.state();
        state.used = true;
        state.inbox.clone()
    }

    /// Opens the stream of a request. Without a session the frame gets an id that nobody else on the connection has.
    ///
    /// # Errors
    /// The refusal when too many requests are under way, or one with the same id.
    pub(super) fn begin(self: &Arc<Self>, frame: &mut Frame) -> Result<Response, Frame> {
        let mut state = self.state();
        let stream = state.last + 1;
        let name = |client: Id| Name {
            program: if self.name.is_some() { client.clone() } else { Id::from(stream) },
            client,
        };
        let id = name(frame.id.clone().expect("a request has one"));
        if state.calls().any(|(_, call)| call.id.program == id.program) {
            let why = "another request with this id is under way";
            return Err(Frame::invalid(Some(id.client), why));
        }
        if state.streams.len() > UNDER_WAY {
            return Err(Frame::invalid(Some(id.client), "too many requests are under way"));
        }
        let token = frame.names(&META_PROGRESS).map(name);
        if let Some(token) = token.as_ref().filter(|token| token.client != token.program) {
            frame.rename(&META_PROGRESS, &token.program);
        }
        frame.id = Some(id.program.clone());
        let method = frame.method.clone().unwrap_or_default();
        let call = Some(Call { id, token, method });
        state.last = stream;
        state.streams.insert(
            stream,
            Stream {
                call,
                ..Stream::default()
            },
        );
        Ok(self.respond(&mut state, stream, None))
    }

    /// The stream for what belongs to no request, or the rest of one that broke off after `last_event`. A stream that
    /// another response still brings is taken over.
    pub(super) fn resume(self: &Arc<Self>, last_event: Option<&str>) -> Response {
        let named = last_event.and_then(|id| id.split_once('-'));
        let named =
            named.and_then(|(stream, seen)| Some((stream.parse().ok()?, seen.parse().ok()?)));
        let (stream, seen) = named.map_or((STANDING, None), |(stream, seen)| (stream, Some(seen)));
        self.respond(&mut self.state(), stream, seen)
    }

    fn respond(self: &Arc<Self>, state: &mut State, stream: u64, seen: Option<u64>) -> Response {
        state.used = true;
        let (sender, events) = queue();
        let own = state.streams.get_mut(&stream);
        let seen = seen.or(own.as_ref().map(|own| own.given));
        let missed = state.kept.iter();
        for event in missed.filter(|it| it.stream == stream && Some(it.number) > seen) {
            sender.force(event.clone());
        }
        if let Some(own) = own.filter(|_| state.inbox.is_some()) {
            own.given = own.written;
            own.response.replace(sender).inspect(Sender::close);
        }
        Response {
            session: self.clone(),
            stream,
            events,
        }
    }

    /// Moves the program's frames to the client's streams, until the program or the session ends.
    pub(super) async fn run(&self, mut outbox: Reader, tools: &ToolHeaders) {
        let mut look = interval_at(Instant::now() + IDLE, IDLE);
        loop {
            tokio::select! {
                came = outbox.recv() => match came {
                    Some(Ok(frame)) => self.deliver(frame, tools).await,
                    _ => break,
                },
                _ = look.tick() => {
                    let mut state = self.state();
                    let read = state.streams.values().any(|own| own.response().is_some());
                    if !std::mem::replace(&mut state.used, read) && !read {
                        break;
                    }
                }
            }
        }
        self.drain();
        let left: Vec<_> = self.state().calls().map(|(_, call)| call.id.program.clone()).collect();
        let why = "the server behind has closed the connection";
        for id in left {
            let answer = Frame::error(Some(id), code::INTERNAL_ERROR, why);
            self.deliver(answer, tools).await;
        }
        self.close();
    }

    /// Takes nothing more from the client; what the program still says goes out.
    pub(super) fn drain(&self) {
        self.state().inbox = None;
    }

    /// Ends it at once: its streams break off.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.inbox = None;
        let streams = std::mem::take(&mut state.streams);
        let responses = streams.into_values().filter_map(|own| own.response);
        responses.for_each(|response| response.close());
    }

    /// Hands a frame to the response that it belongs to, and keeps it for one who resumes.
    async fn deliver(&self, mut frame: Frame, tools: &ToolHeaders) {
        let (event, response, stalled) = {
            let state = &mut *self.state();
            let stream = state.route(&mut frame);
            let Some(own) = stream.and_then(|stream| state.streams.get_mut(&stream)) else {
                return tracing::debug!(id = ?frame.id, "an answer to no request under way");
            };
            if let Some((result, call)) = frame.result.as_deref().zip(own.call.as_ref())
                && &*call.method == "tools/list"
            {
                tools.learn(result);
            }
            own.written += 1;
            let event = Event {
                stream: stream.unwrap_or(STANDING),
                number: own.written,
                frame: Arc::new(frame),
            };
            let (response, stalled) = (own.response().cloned(), own.stalled);
            if response.is_some() {
                own.given = own.written;
            }
            if event.frame.kind() == Kind::Response {
                state.streams.remove(&event.stream);
            }
            if self.name.is_some() {
                state.keep(event.clone());
            }
            (event, response, stalled)
        };
        // A client that has gone finds it among what is kept.
        let Some(response) = response else { return };
        let (began, stream, bytes) = (Instant::now(), event.stream, event.frame.size());
        let alone = self.name.is_none();
        let patience = if alone { STALL.saturating_sub(stalled) } else { Duration::MAX };
        if timeout(patience, response.send(event, bytes)).await.is_err() {
            tracing::warn!("a client does not read its response, which is closed");
            self.state().cancel(stream);
        } else if let Some(own) = self.state().streams.get_mut(&stream) {
            own.stalled += began.elapsed();
        }
    }
}

impl State {
    fn calls(&self) -> impl DoubleEndedIterator<Item = (u64, &Call)> {
        let streams = self.streams.iter();
        streams.filter_map(|(stream, own)| Some((*stream, own.call.as_ref()?)))
    }

    /// Finds the stream of a frame, and puts the client's names back. None for an answer to no request.
    fn route(&self, frame: &mut Frame) -> Option<u64> {
        let answers = frame.kind() == Kind::Response;
        let id = frame.id.clone().filter(|_| answers);
        let progress = Some(&*frame).filter(|frame| frame.calls("notifications/progress"));
        let token = progress.and_then(|frame| frame.names(&["progressToken"]));
        let subscription = frame.names(&META_SUBSCRIPTION);
        let reports = |call: &Call| call.token.as_ref().is_some_and(|own| own.is(token.as_ref()));
        let named = |(_, call): &(u64, &Call)| {
            call.id.is(id.as_ref())
                || !answers && (call.id.is(subscription.as_ref()) || reports(call))
        };
        let told = |(_, call): &(u64, &Call)| call.id.is(frame.about.as_ref());
        // A program on stdio does not say; the latest request is the likeliest.
        let likely = |(_, call): &(u64, &Call)| &*call.method != "subscriptions/listen";
        let guess = || self.calls().find(told).or_else(|| self.calls().rfind(likely));
        let found = self.calls().find(named).or_else(|| guess().filter(|_| !answers));
        let Some((stream, call)) = found else {
            return (!answers).then_some(STANDING);
        };
        if answers {
            frame.id = Some(call.id.client.clone());
        }
        let subscription = Some(&call.id).filter(|own| own.is(subscription.as_ref()));
        let token = call.token.as_ref().filter(|_| reports(call));
        for (path, own) in [(&META_SUBSCRIPTION[..], subscription), (&["progressToken"], token)] {
            if let Some(own) = own.filter(|own| own.client != own.program) {
                frame.rename(path, &own.client);
            }
        }
        Some(stream)
    }

    fn keep(&mut self, event: Event) {
        self.kept.push_back(event);
        let mut bytes: usize = self.kept.iter().map(|event| event.frame.size()).sum();
        while self.kept.len() > KEPT_EVENTS || self.kept.len() > 1 && bytes > KEPT_BYTES {
            bytes -= self.kept.pop_front().map_or(0, |event| event.frame.size());
        }
    }

    /// Ends a stream without a session, and its request with it.
    fn cancel(&mut self, stream: u64) {
        let call = self.streams.remove(&stream).and_then(|own| own.call);
        if let Some((call, inbox)) = call.zip(self.inbox.clone()) {
            let id = call.id.program.to_raw();
            let params = json!({ "requestId": id, "reason": "the client hung up" });
            let cancelled = Frame::notification("notifications/cancelled", params);
            inbox.0.force(Ok(cancelled));
        }
    }
}

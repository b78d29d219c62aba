//! Which frame of the program goes to which response of the client.
//!
//! The program behind has one ordered connection; its client has a response for each request, and perhaps a standing one.
//! Invariant: an answer goes to the response of its request and nowhere else, with what was sent before it on the same
//! connection in front of it; what a client has missed of a session is kept, within bounds, until it asks again.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use sse_stream::Sse;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, sleep_until, timeout};

use super::streams::{Call, Item, STANDING, State, rewrite};
use crate::body;
use crate::connection::{Reader, Writer};
use crate::frame::{Frame, Id, Kind, NotAFrame, code};
use crate::headers::{META_PROGRESS, META_SUBSCRIPTION, ToolHeaders};

/// The frames that wait for a response to be written.
const QUEUE: usize = 64;
/// How long, all in all, one client without a session may keep the others waiting.
const STALL: Duration = Duration::from_secs(5);

/// A connection to the program, and the client's streams on it.
pub(super) struct Session {
    /// What the client calls it. Requests without a session share one connection that has no name.
    pub(super) name: Option<String>,
    state: Mutex<State>,
    /// A stream has been taken over, or the session has ended.
    changed: Notify,
}

/// A response that is being written. Dropped before its end, the client has gone.
pub(super) struct Exchange {
    session: Arc<Session>,
    stream: u64,
    sender: mpsc::WeakSender<Item>,
    items: mpsc::Receiver<Item>,
}

/// Why a request has no stream.
pub(super) enum NoStream {
    Ended,
    Twice(NotAFrame),
}

impl Exchange {
    pub(super) async fn next(&mut self) -> Option<Item> {
        self.items.recv().await
    }

    /// Tells the client how to resume before anything has happened.
    pub(super) fn priming(&self) -> Sse {
        Sse::default()
            .id(format!("{}-0", self.stream))
            .retry(1000)
            .data("")
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.session.hang_up(self.stream, &self.sender);
    }
}

impl Session {
    pub(super) fn new(name: Option<String>, inbox: Writer) -> Arc<Self> {
        let state = State::new(inbox);
        Arc::new(Self {
            name,
            state: Mutex::new(state),
            changed: Notify::new(),
        })
    }

    /// The way to the program, unless the session has ended.
    pub(super) fn inbox(&self) -> Option<Writer> {
        let mut state = self.state.lock().unwrap();
        state.used = Instant::now();
        state.inbox.clone()
    }

    /// Opens the stream of a request. The frame gets an id that nobody else on the connection has.
    ///
    /// # Errors
    /// When the session has ended, or the client uses an id for a second request before the first has ended.
    pub(super) fn begin(
        self: &Arc<Self>,
        frame: &mut Frame,
    ) -> Result<(Writer, Exchange), NoStream> {
        let mut state = self.state.lock().unwrap();
        let inbox = state.inbox.clone().ok_or(NoStream::Ended)?;
        state.last += 1;
        let stream = state.last;
        let id = frame.id.clone().expect("a request");
        let token = frame
            .params
            .as_deref()
            .and_then(|params| body::get(params, &META_PROGRESS));
        let token = token.and_then(Id::parse);
        let mut known = id.clone();
        if self.name.is_none() {
            known = Id::from(stream);
            frame.id = Some(known.clone());
            if token.is_some() {
                rewrite(frame, &META_PROGRESS, &known);
            }
        } else if state.calls.contains_key(&known) {
            let reason = "another request with this id is under way";
            return Err(NoStream::Twice(NotAFrame::invalid(Some(id), reason)));
        }
        let method = frame.method.clone().unwrap_or_default();
        let call = Call {
            stream,
            id,
            token,
            method,
        };
        state.calls.insert(known, call);
        let (sender, items) = mpsc::channel(QUEUE);
        Ok((inbox, self.exchange(&mut state, stream, sender, items)))
    }

    /// The stream for what belongs to no request, or the rest of one that broke off after `last_event`. A stream that
    /// another response still writes to is taken over.
    pub(super) fn resume(self: &Arc<Self>, last_event: Option<&str>) -> Exchange {
        let mut state = self.state.lock().unwrap();
        let named = last_event.and_then(|id| id.split_once('-'));
        let parsed =
            named.and_then(|(stream, event)| Some((stream.parse().ok()?, event.parse().ok()?)));
        let (stream, seen): (u64, u64) = parsed.unwrap_or((STANDING, state.told));
        let missed = state
            .kept
            .iter()
            .filter(|it| it.stream == stream && it.event > seen);
        let missed: Vec<_> = missed.map(|it| (it.event, it.text.clone())).collect();
        let (sender, items) = mpsc::channel(QUEUE + missed.len());
        for (event, text) in missed {
            if stream == STANDING {
                state.told = event;
            }
            let item = Item {
                text,
                event: Some(format!("{stream}-{event}")),
                answer: None,
            };
            let _ = sender.try_send(item);
        }
        let exchange = self.exchange(&mut state, stream, sender, items);
        self.changed.notify_waiters();
        exchange
    }

    fn exchange(
        self: &Arc<Self>,
        state: &mut State,
        stream: u64,
        sender: mpsc::Sender<Item>,
        items: mpsc::Receiver<Item>,
    ) -> Exchange {
        state.used = Instant::now();
        let exchange = Exchange {
            session: self.clone(),
            stream,
            sender: sender.downgrade(),
            items,
        };
        let under_way = stream == STANDING || state.calls.values().any(|it| it.stream == stream);
        if under_way && state.inbox.is_some() {
            state.streams.entry(stream).or_default().client = Some(sender);
        }
        exchange
    }

    /// The client no longer reads a stream. Without a session that cancels the request.
    fn hang_up(&self, stream: u64, sender: &mpsc::WeakSender<Item>) {
        let mut state = self.state.lock().unwrap();
        state.used = Instant::now();
        let Some(own) = state.streams.get_mut(&stream) else {
            return;
        };
        let current = own.client.as_ref().zip(sender.upgrade());
        if !current.is_some_and(|(current, sender)| current.same_channel(&sender)) {
            return;
        }
        own.client = None;
        if self.name.is_none() {
            state.cancel(stream);
        }
    }

    /// Moves the program's frames to the client's streams, until the program or the session ends. With `idle`, a session
    /// without a stream ends after that long.
    pub(super) async fn run(&self, mut outbox: Reader, tools: &ToolHeaders, idle: Duration) {
        loop {
            let frame = match timeout(idle, outbox.recv()).await {
                Ok(Some(Ok(frame))) => frame,
                Ok(Some(Err(_)) | None) => break,
                Err(_) => {
                    let mut state = self.state.lock().unwrap();
                    let streams = state.streams.values();
                    let read = streams.filter(|stream| stream.client.is_some()).count();
                    if read > 0 || state.used.elapsed() < idle {
                        continue;
                    }
                    state.inbox = None;
                    break;
                }
            };
            self.deliver(frame, tools).await;
        }
        self.end("the server behind has closed the connection")
            .await;
    }

    /// Ends it: requests under way are answered with `why`.
    pub(super) async fn end(&self, why: &str) {
        let calls: Vec<_> = self.state.lock().unwrap().calls.keys().cloned().collect();
        for id in calls {
            let answer = Frame::error(Some(id), code::INTERNAL_ERROR, why);
            self.deliver(answer, &ToolHeaders::default()).await;
        }
        let mut state = self.state.lock().unwrap();
        state.inbox = None;
        state.streams.clear();
        self.changed.notify_waiters();
    }

    /// Ends it at once: its streams break off.
    pub(super) fn close(&self) {
        let mut state = self.state.lock().unwrap();
        state.inbox = None;
        state.calls.clear();
        state.streams.clear();
        self.changed.notify_waiters();
    }

    async fn deliver(&self, frame: Frame, tools: &ToolHeaders) {
        let changed = self.changed.notified();
        tokio::pin!(changed);
        let Some((stream, client, stalled, item)) = self.route(frame, tools) else {
            return;
        };
        let item = match client.try_send(item) {
            Err(TrySendError::Full(item)) => item,
            // A client that has gone finds it among what is kept.
            Ok(()) | Err(TrySendError::Closed(_)) => return,
        };
        let began = Instant::now();
        let patience = STALL.saturating_sub(stalled);
        let send = client.send(item);
        tokio::pin!(send);
        loop {
            tokio::select! {
                _ = &mut send => break,
                () = &mut changed => {
                    changed.set(self.changed.notified());
                    let state = self.state.lock().unwrap();
                    let own = state.streams.get(&stream).and_then(|it| it.client.as_ref());
                    if !own.is_some_and(|own| own.same_channel(&client)) {
                        break;
                    }
                }
                () = sleep_until(began + patience), if self.name.is_none() => {
                    tracing::warn!("a client does not read its response, which is closed");
                    self.state.lock().unwrap().cancel(stream);
                    break;
                }
            }
        }
        if let Some(own) = self.state.lock().unwrap().streams.get_mut(&stream) {
            own.stalled += began.elapsed();
        }
    }

    /// Finds the stream of a frame, puts the client's id and token back, and keeps the text for one who resumes.
    fn route(
        &self,
        mut frame: Frame,
        tools: &ToolHeaders,
    ) -> Option<(u64, mpsc::Sender<Item>, Duration, Item)> {
        let mut state = self.state.lock().unwrap();
        let mut answer = None;
        let stream = if frame.kind() == Kind::Response {
            let Some(call) = frame.id.as_ref().and_then(|id| state.calls.remove(id)) else {
                tracing::debug!(id = ?frame.id, "an answer to no request that is under way");
                return None;
            };
            if let Some(result) = frame
                .result
                .as_deref()
                .filter(|_| &*call.method == "tools/list")
            {
                tools.learn(result);
            }
            if let (None, Some(result)) = (&self.name, frame.result.as_deref())
                && body::get(result, &META_SUBSCRIPTION).is_some()
            {
                frame.result = body::set(result, &META_SUBSCRIPTION, &call.id.to_raw());
            }
            frame.id = Some(call.id);
            answer = Some(frame.error.as_deref().map_or(0, |error| {
                let code = body::get(error, &["code"]).map(|code| code.get().parse());
                code.and_then(Result::ok).unwrap_or(code::INTERNAL_ERROR)
            }));
            call.stream
        } else {
            state.stream_of(&mut frame, self.name.is_none())
        };
        let own = state.streams.get_mut(&stream)?;
        own.events += 1;
        let (event, stalled) = (own.events, own.stalled);
        // The standing stream stays; that of a request ends with its answer.
        let client = match answer {
            Some(_) => state.streams.remove(&stream)?.client,
            None => own.client.clone(),
        };
        let text = frame.to_line();
        let id = self.name.is_some().then(|| format!("{stream}-{event}"));
        if id.is_some() {
            state.keep(stream, event, &text);
        }
        let client = client?;
        if stream == STANDING {
            state.told = event;
        }
        let item = Item {
            text,
            event: id,
            answer,
        };
        Some((stream, client, stalled, item))
    }
}

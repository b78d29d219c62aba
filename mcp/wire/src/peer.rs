//! Asks and answers over a connection: what a client is, and a server.
//!
//! Ids, progress tokens, time-outs and cancellation are the same for all who ask; a relay that only passes frames on needs
//! none of it. Invariant: every request ends once, in an answer or in a [`CallError`] that says why; what belongs to a
//! request is received in the order in which it came, the answer last.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::body;
pub use crate::connection::Receiver;
use crate::connection::{Closed, Connection, Error, Reader, Sender, Writer, queue};
use crate::frame::{Frame, Id, Kind, code, message, raw};
use crate::headers::META_PROGRESS;

/// This side of a connection. Clones share it; when all are dropped, with their calls and requests, it is closed.
#[derive(Clone)]
pub struct Peer(Arc<Shared>);

struct Shared {
    writer: Writer,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    last: u64,
    waiting: HashMap<u64, Sender<Progress>>,
    /// Requests of the other side that are being answered. Taken out, one is cancelled.
    answering: HashMap<Id, watch::Sender<()>>,
    /// Why the connection has ended.
    ended: Option<Arc<str>>,
}

/// Why a request has no result.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CallError {
    /// The other side's error: an object with `code` and `message`.
    #[error("{}", message(.0))]
    Error(Box<RawValue>),
    /// An HTTP server did not take the request, or has lost the session.
    #[error(transparent)]
    Transport(Error),
    /// Nothing came for this long; the request was cancelled.
    #[error("no answer and no progress within {0:?}")]
    TimedOut(Duration),
    /// The connection has ended, and why.
    #[error("the connection has ended: {0}")]
    Ended(Arc<str>),
}

/// Params, results and reports are what serde can write as JSON: a map with keys that are no strings panics.
impl Peer {
    /// Speaks over a connection. What the other side asks and tells comes from the receiver, in order; dropped, its
    /// requests are refused. Whoever keeps it must read it: a full queue holds up the answers behind it.
    pub fn new(connection: Connection) -> (Self, Receiver<Incoming>) {
        let Connection { writer, reader } = connection;
        let shared = Arc::new(Shared {
            writer,
            state: Mutex::default(),
        });
        let (inbox, incoming) = queue();
        tokio::spawn(route(reader, Arc::downgrade(&shared), inbox));
        (Self(shared), incoming)
    }

    /// Asks; the answer is awaited with [`Call::result`].
    pub async fn call(&self, method: &str, params: impl Serialize) -> Call {
        self.ask(method, params, false).await
    }

    /// Asks, and wants to hear of progress ([`Call::progress`]).
    pub async fn call_with_progress(&self, method: &str, params: impl Serialize) -> Call {
        self.ask(method, params, true).await
    }

    async fn ask(&self, method: &str, params: impl Serialize, progress: bool) -> Call {
        let (waiting, events) = queue();
        let id = {
            let mut state = self.0.state.lock().unwrap();
            state.last += 1;
            let id = state.last;
            if state.ended.is_none() {
                state.waiting.insert(id, waiting);
            }
            id
        };
        let mut frame = Frame::request(id, method, params);
        if progress {
            let params = frame.params.unwrap_or_else(|| raw(json!({})));
            frame.params = body::set(&params, &META_PROGRESS, &raw(id)).or(Some(params));
        }
        // Cancelled when it is dropped from here on, also while it waits to be sent.
        let call = Call {
            id,
            peer: self.clone(),
            events,
            limit: None,
            heard: Instant::now(),
        };
        let _ = self.send(frame).await;
        call
    }

    /// Tells the other side something.
    ///
    /// # Errors
    /// When the connection has ended.
    pub async fn notify(&self, method: &str, params: impl Serialize) -> Result<(), Closed> {
        self.send(Frame::notification(method, params)).await
    }

    async fn send(&self, frame: Frame) -> Result<(), Closed> {
        self.0.writer.send(frame).await
    }

    /// Sends a frame from where nobody can wait.
    fn send_later(&self, frame: Frame) {
        let peer = self.clone();
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move { peer.send(frame).await });
        }
    }
}

/// A request under way. Dropped before its end, it is cancelled.
pub struct Call {
    id: u64,
    peer: Peer,
    events: Receiver<Progress>,
    limit: Option<Duration>,
    heard: Instant,
}

impl Call {
    /// Gives up after so long without an answer; progress starts the time anew.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// The id of the request.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The next report of progress, or the answer.
    pub async fn progress(&mut self) -> Progress {
        let event = match self.limit {
            None => self.events.recv().await,
            Some(limit) => match timeout_at(self.heard + limit, self.events.recv()).await {
                Ok(event) => event,
                Err(_) => {
                    self.cancel(&format!("no answer within {limit:?}"));
                    return Progress::Done(Err(CallError::TimedOut(limit)));
                }
            },
        };
        self.heard = Instant::now();
        event.unwrap_or_else(|| {
            let why = self.peer.0.state.lock().unwrap().ended.clone();
            let why = why.unwrap_or_else(|| "it was answered before".into());
            Progress::Done(Err(CallError::Ended(why)))
        })
    }

    /// The answer.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn result(mut self) -> Result<Box<RawValue>, CallError> {
        loop {
            if let Progress::Done(answer) = self.progress().await {
                return answer;
            }
        }
    }

    /// Tells the other side, unless the request has ended.
    fn cancel(&self, reason: &str) {
        let mut state = self.peer.0.state.lock().unwrap();
        if state.waiting.remove(&self.id).is_some() {
            let params = json!({ "requestId": self.id, "reason": reason });
            let cancelled = Frame::notification("notifications/cancelled", params);
            self.peer.send_later(cancelled);
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.cancel("nobody waits for the answer any more");
    }
}

/// What comes of a request.
#[derive(Clone, Debug)]
pub enum Progress {
    /// The params of a progress notification.
    Report(Box<RawValue>),
    /// The answer; nothing comes after it.
    Done(Result<Box<RawValue>, CallError>),
}

/// What the other side says of its own accord.
pub enum Incoming {
    /// It wants an answer.
    Request(Request),
    /// It wants none.
    Notification(Frame),
    /// Something that is no frame, or belongs to no request.
    Odd(Error),
}

/// A request of the other side. Dropped without an answer, it is refused.
pub struct Request {
    /// As it came.
    pub frame: Frame,
    peer: Peer,
    cancelled: watch::Receiver<()>,
}

impl Request {
    /// Answers it.
    pub async fn answer(mut self, result: impl Serialize) {
        if let Some(id) = self.close() {
            let _ = self.peer.send(Frame::result(id, result)).await;
        }
    }

    /// Refuses it.
    pub async fn refuse(mut self, code: i64, message: &str) {
        if let Some(id) = self.close() {
            let refusal = Frame::error(Some(id), code, message);
            let _ = self.peer.send(refusal).await;
        }
    }

    /// Reports progress, when it was asked for.
    pub async fn report(&self, progress: impl Serialize) {
        let token = self.frame.names(&META_PROGRESS).map(|token| token.to_raw());
        let report = token.and_then(|token| body::set(&raw(progress), &["progressToken"], &token));
        if let Some(report) = report {
            let _ = self.peer.notify("notifications/progress", report).await;
        }
    }

    /// Waits until the other side cancels it, or is gone.
    pub async fn cancelled(&mut self) {
        let _ = self.cancelled.changed().await;
    }

    /// Its id, unless it was cancelled: then nobody wants an answer.
    fn close(&mut self) -> Option<Id> {
        let id = self.frame.id.take()?;
        let open = self.peer.0.state.lock().unwrap().answering.remove(&id);
        open.map(|_| id)
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        if let Some(id) = self.close() {
            let method = self.frame.method.take().unwrap_or_default();
            let why = format!("nobody here answers {method}");
            let refusal = Frame::error(Some(id), code::METHOD_NOT_FOUND, &why);
            self.peer.send_later(refusal);
        }
    }
}

/// Hands each frame to whom it belongs, in order, until the connection ends.
async fn route(mut reader: Reader, shared: Weak<Shared>, inbox: Sender<Incoming>) {
    let mut why: Arc<str> = "the other side has closed it".into();
    while let Some(came) = reader.recv().await {
        if let Err(Error::Broken(reason)) = came {
            why = reason.into();
            break;
        }
        let Some(shared) = shared.upgrade() else {
            return;
        };
        Peer(shared).hand_on(came, &inbox).await;
    }
    if let Some(shared) = shared.upgrade() {
        let mut state = shared.state.lock().unwrap();
        state.ended = Some(why);
        // It may be stuck for ever; nobody waits for it any more.
        shared.writer.0.close();
        // Each waiter finds its queue closed, and the reason here.
        state.waiting.clear();
        state.answering.clear();
    }
}

impl Peer {
    async fn hand_on(self, came: Result<Frame, Error>, inbox: &Sender<Incoming>) {
        let bytes = came.as_ref().map_or(0, Frame::size);
        let state = || self.0.state.lock().unwrap();
        let asked = |id: Option<&Id>| state().waiting.remove(&number(id?)?);
        let frame = match came {
            Ok(frame) => frame,
            Err(error) => {
                let _ = match asked(error.id()) {
                    Some(call) => {
                        let end = Progress::Done(Err(CallError::Transport(error)));
                        call.send(end, bytes).await
                    }
                    None => inbox.send(Incoming::Odd(error), bytes).await,
                };
                return;
            }
        };
        // Where nobody takes it any more, nobody misses it; dropped unread, a request refuses itself.
        let _ = match frame.kind() {
            Kind::Response => {
                let Some(call) = asked(frame.id.as_ref()) else {
                    return;
                };
                let refused = || CallError::Error(frame.error.unwrap_or_else(|| raw(())));
                let answer = frame.result.ok_or_else(refused);
                call.send(Progress::Done(answer), bytes).await
            }
            Kind::Notification if frame.calls("notifications/progress") => {
                let token = frame.names(&["progressToken"]);
                let token = token.as_ref().and_then(number);
                let call = token.and_then(|token| state().waiting.get(&token).cloned());
                let (Some(call), Some(params)) = (call, frame.params) else {
                    return;
                };
                call.send(Progress::Report(params), bytes).await
            }
            Kind::Notification if frame.calls("notifications/cancelled") => {
                // A request that has been answered already is not there any more.
                let id = frame.names(&["requestId"]);
                id.and_then(|id| state().answering.remove(&id));
                Ok(())
            }
            Kind::Notification => inbox.send(Incoming::Notification(frame), bytes).await,
            Kind::Request => {
                let (cancel, cancelled) = watch::channel(());
                let id = frame.id.clone().expect("a request has one");
                state().answering.insert(id, cancel);
                let peer = self.clone();
                let request = Request {
                    frame,
                    peer,
                    cancelled,
                };
                inbox.send(Incoming::Request(request), bytes).await
            }
        };
    }
}

/// An id of ours, whichever way the other side writes it.
fn number(id: &Id) -> Option<u64> {
    id.as_json().trim_matches('"').parse().ok()
}

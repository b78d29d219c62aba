//! Asks and answers over a connection: what a client is, and a server.
//!
//! Ids, progress tokens, time-outs and cancellation are the same for all who ask; a relay that only passes frames on needs
//! none of it. Invariant: every request ends once, in an answer or in a [`CallError`] that says why; what belongs to a
//! request is received in the order in which it came, the answer last.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

pub use crate::connection::Receiver;
use crate::connection::{Cause, Closed, Connection, Error, Reader, Sender, Writer, queue};
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
    /// Each receives what comes of its request.
    waiting: HashMap<u64, Writer>,
    /// Requests of the other side that are being answered. Taken out, one is cancelled.
    answering: HashMap<Id, watch::Sender<()>>,
    /// Why the connection has ended.
    ended: Option<String>,
}

/// Why a request has no result.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CallError {
    /// The other side's error: an object with `code` and `message`.
    #[error("{}", message(.0))]
    Error(Box<RawValue>),
    /// No answer has come in time, or none will.
    #[error(transparent)]
    Transport(Error),
}

/// Params, results and reports are what serde can write as JSON: a map with keys that are no strings panics.
impl Peer {
    /// Speaks over a connection. What the other side asks and tells comes from the receiver, in order; dropped, its
    /// requests are refused. Whoever keeps it must read it: a full queue holds up the answers behind it.
    pub fn new(connection: Connection) -> (Self, Receiver<Incoming>) {
        let Connection { writer, reader } = connection;
        let state = Mutex::default();
        let shared = Arc::new(Shared { writer, state });
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
            let mut state = self.state();
            state.last += 1;
            let id = state.last;
            if state.ended.is_none() {
                state.waiting.insert(id, Writer(waiting));
            }
            id
        };
        let mut frame = Frame::request(id, method, params);
        if progress {
            frame.params.get_or_insert_with(|| raw(json!({})));
            frame.rename(&META_PROGRESS, &Id::from(id));
        }
        // Cancelled when it is dropped from here on, also while it waits to be sent.
        let call = Call {
            id,
            peer: self.clone(),
            events,
            limit: Duration::MAX,
            heard: Instant::now(),
            answer: None,
        };
        let _ = self.0.writer.send(frame).await;
        call
    }

    /// Tells the other side something.
    ///
    /// # Errors
    /// When the connection has ended.
    pub async fn notify(&self, method: &str, params: impl Serialize) -> Result<(), Closed> {
        self.0.writer.send(Frame::notification(method, params)).await
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap()
    }
}

/// A request under way. Dropped before its end, it is cancelled.
pub struct Call {
    id: u64,
    peer: Peer,
    events: Reader,
    limit: Duration,
    heard: Instant,
    answer: Option<Result<Box<RawValue>, CallError>>,
}

impl Call {
    /// Gives up after so long without an answer; progress starts the time anew.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// The params of the next report of progress. None when the result has come, or why there is none.
    pub async fn progress(&mut self) -> Option<Box<RawValue>> {
        if self.answer.is_some() {
            return None;
        }
        let limit = self.limit;
        let left = limit.saturating_sub(self.heard.elapsed());
        let came = timeout(left, self.events.recv()).await.unwrap_or_else(|_| {
            self.cancel(&format!("no answer within {limit:?}"));
            let why = format!("no answer and no progress within {limit:?}");
            Some(Err(Error::failed(Some(self.id.into()), Cause::Unanswered, why)))
        });
        self.heard = Instant::now();
        self.answer = Some(match came {
            Some(Ok(frame)) if frame.method.is_some() => return frame.params,
            Some(Ok(Frame {
                result: Some(result),
                ..
            })) => Ok(result),
            Some(Ok(frame)) => Err(CallError::Error(frame.error.unwrap_or_else(|| raw(())))),
            Some(Err(error)) => Err(CallError::Transport(error)),
            None => {
                let why = self.peer.state().ended.clone().unwrap_or_default();
                let why = format!("the connection has ended: {why}");
                Err(CallError::Transport(Error::Broken(why)))
            }
        });
        None
    }

    /// The answer.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn result(mut self) -> Result<Box<RawValue>, CallError> {
        while self.progress().await.is_some() {}
        self.answer.take().expect("nothing is reported behind it")
    }

    /// Tells the other side, unless the request has ended.
    fn cancel(&self, reason: &str) {
        if self.peer.state().waiting.remove(&self.id).is_some() {
            let params = json!({ "requestId": self.id, "reason": reason });
            self.peer.0.writer.0.force(Ok(Frame::notification("notifications/cancelled", params)));
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.cancel("nobody waits for the answer any more");
    }
}

/// What the other side says of its own accord.
pub enum Incoming {
    /// It wants an answer.
    Request(Request),
    /// It wants none.
    Notification(Frame),
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
            let _ = self.peer.0.writer.send(Frame::result(id, result)).await;
        }
    }

    /// Refuses it.
    pub async fn refuse(mut self, code: i64, message: &str) {
        if let Some(id) = self.close() {
            let _ = self.peer.0.writer.send(Frame::error(Some(id), code, message)).await;
        }
    }

    /// Reports progress, when it was asked for.
    pub async fn report(&self, progress: impl Serialize) {
        if let Some(token) = self.frame.names(&META_PROGRESS) {
            let mut report = Frame::notification("notifications/progress", progress);
            report.rename(&["progressToken"], &token);
            let _ = self.peer.0.writer.send(report).await;
        }
    }

    /// Waits until the other side cancels it, or is gone.
    pub async fn cancelled(&mut self) {
        let _ = self.cancelled.changed().await;
    }

    /// Its id, unless it was cancelled: then nobody wants an answer.
    fn close(&mut self) -> Option<Id> {
        let id = self.frame.id.take()?;
        self.peer.state().answering.remove(&id).map(|_| id)
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        if let Some(id) = self.close() {
            let why =
                format!("nobody here answers {}", self.frame.method.as_deref().unwrap_or_default());
            self.peer.0.writer.0.force(Ok(Frame::error(Some(id), code::METHOD_NOT_FOUND, &why)));
        }
    }
}

/// Hands each frame to whom it belongs, in order, until the connection ends.
async fn route(mut reader: Reader, shared: Weak<Shared>, inbox: Sender<Incoming>) {
    let mut why = "the other side has closed it".to_owned();
    while let Some(came) = reader.recv().await {
        if let Err(Error::Broken(reason)) = came {
            why = reason;
            break;
        }
        let Some(shared) = shared.upgrade() else {
            return;
        };
        Peer(shared).hand_on(came, &inbox).await;
    }
    if let Some(shared) = shared.upgrade() {
        // It may be stuck for ever; nobody waits for it any more.
        shared.writer.0.close();
        let mut state = shared.state.lock().unwrap();
        // Each waiter finds its queue closed, and the reason here.
        *state = State {
            ended: Some(why),
            last: state.last,
            ..State::default()
        };
    }
}

impl Peer {
    async fn hand_on(self, came: Result<Frame, Error>, inbox: &Sender<Incoming>) {
        let asked = match &came {
            Err(error) => self.state().waiting.remove(&number(error.id())),
            Ok(frame) if frame.kind() == Kind::Response => {
                self.state().waiting.remove(&number(frame.id.as_ref()))
            }
            Ok(frame) if frame.calls("notifications/progress") => {
                let token = frame.names(&["progressToken"]);
                self.state().waiting.get(&number(token.as_ref())).cloned()
            }
            Ok(_) => None,
        };
        // Where nobody takes it any more, nobody misses it; dropped unread, a request refuses itself.
        if let Some(call) = asked {
            return call.put(came).await.unwrap_or_default();
        }
        let frame = match came {
            Ok(frame) => frame,
            Err(error) => return tracing::info!(%error, "what came is no frame, or answers none"),
        };
        let bytes = frame.size();
        let incoming = match (frame.kind(), frame.id.clone()) {
            (Kind::Request, Some(id)) => {
                let (cancel, cancelled) = watch::channel(());
                self.state().answering.insert(id, cancel);
                Incoming::Request(Request {
                    frame,
                    cancelled,
                    peer: self,
                })
            }
            _ if frame.calls("notifications/cancelled") => {
                // A request that has been answered already is not there any more.
                let id = frame.names(&["requestId"]);
                id.and_then(|id| self.state().answering.remove(&id));
                return;
            }
            (Kind::Notification, _) => Incoming::Notification(frame),
            _ => return,
        };
        let _ = inbox.send(incoming, bytes).await;
    }
}

/// An id of ours, whichever way the other side writes it; 0 is nobody's.
fn number(id: Option<&Id>) -> u64 {
    id.and_then(|id| id.as_json().trim_matches('"').parse().ok()).unwrap_or(0)
}

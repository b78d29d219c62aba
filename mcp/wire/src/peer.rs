//! Asks and answers over a connection: what a client is, and a server.
//!
//! Ids, progress tokens, time-outs and cancellation are the same for all who ask; a relay that only passes frames on needs
//! none of it. Invariant: every request ends once, in an answer or in a [`CallError`] that says why; what belongs to a
//! request is received in the order in which it came, the answer last.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

use crate::body;
use crate::connection::{Closed, Connection, Error, Reader, WeakWriter, Writer};
use crate::frame::{Frame, Id, Kind, code, raw};
use crate::headers::META_PROGRESS;

/// What waits for whoever asked, or for the program, before the connection does.
const QUEUE: usize = 64;

/// This side of a connection. Clones share it; when all are dropped, the connection is closed.
#[derive(Clone)]
pub struct Peer {
    shared: Arc<Shared>,
    writer: Writer,
}

struct Shared {
    state: Mutex<State>,
    /// Why the connection has ended.
    ended: watch::Sender<Option<Arc<str>>>,
}

impl Shared {
    /// Sends a frame, unless the connection ends first: its writer may be stuck for ever.
    async fn send(&self, writer: &Writer, frame: Frame) -> Result<(), Closed> {
        let mut ended = self.ended.subscribe();
        tokio::select! {
            biased;
            _ = ended.wait_for(Option::is_some) => Err(Closed),
            sent = writer.send(frame) => sent,
        }
    }
}

#[derive(Default)]
struct State {
    last: u64,
    waiting: HashMap<u64, mpsc::Sender<Progress>>,
    /// Requests of the other side that are being answered.
    answering: HashMap<Id, watch::Sender<bool>>,
}

/// Why a request has no result.
#[derive(Clone, Debug)]
pub enum CallError {
    /// The other side's error: an object with `code` and `message`.
    Error(Box<RawValue>),
    /// An HTTP server did not take the request, or has lost the session.
    Transport(Error),
    /// Nothing came for this long; the request was cancelled.
    TimedOut(Duration),
    /// The connection has ended, and why.
    Ended(Arc<str>),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(error) => match body::text(error, &["message"]) {
                Some(message) => f.write_str(&message),
                None => f.write_str(error.get()),
            },
            Self::Transport(error) => error.fmt(f),
            Self::TimedOut(limit) => write!(f, "no answer and no progress within {limit:?}"),
            Self::Ended(why) => write!(f, "the connection has ended: {why}"),
        }
    }
}

impl std::error::Error for CallError {}

impl Peer {
    /// Speaks over a connection. What the other side asks and tells comes from the receiver, in order; dropped, its
    /// requests are refused. Whoever keeps it must read it: a full queue holds up the answers behind it.
    pub fn new(connection: Connection) -> (Self, mpsc::Receiver<Incoming>) {
        let Connection { writer, reader } = connection;
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            ended: watch::Sender::default(),
        });
        let (inbox, incoming) = mpsc::channel(QUEUE);
        let outbox = writer.downgrade();
        let peer = Self { shared, writer };
        tokio::spawn(route(reader, peer.shared.clone(), outbox, inbox));
        (peer, incoming)
    }

    /// Asks; the answer is awaited with [`Call::result`].
    ///
    /// # Panics
    /// When `params` cannot be JSON.
    pub async fn call(&self, method: &str, params: impl Serialize) -> Call {
        self.ask(method, params, false).await
    }

    /// Asks, and wants to hear of progress ([`Call::progress`]).
    ///
    /// # Panics
    /// When `params` cannot be JSON.
    pub async fn call_with_progress(&self, method: &str, params: impl Serialize) -> Call {
        self.ask(method, params, true).await
    }

    async fn ask(&self, method: &str, params: impl Serialize, progress: bool) -> Call {
        let (waiting, events) = mpsc::channel(QUEUE);
        let id = {
            let mut state = self.shared.state.lock().unwrap();
            state.last += 1;
            let id = state.last;
            if self.shared.ended.borrow().is_none() {
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
            over: false,
        };
        let _ = self.shared.send(&self.writer, frame).await;
        call
    }

    /// Tells the other side something.
    ///
    /// # Errors
    /// When the connection has ended.
    pub async fn notify(&self, method: &str, params: impl Serialize) -> Result<(), Closed> {
        let told = Frame::notification(method, params);
        self.shared.send(&self.writer, told).await
    }
}

/// A request under way. Dropped before its end, it is cancelled.
pub struct Call {
    id: u64,
    peer: Peer,
    events: mpsc::Receiver<Progress>,
    limit: Option<Duration>,
    heard: Instant,
    over: bool,
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
        let deadline = self.limit.map(|limit| self.heard + limit);
        let late = async {
            match deadline {
                Some(deadline) => sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        let event = tokio::select! {
            biased;
            event = self.events.recv() => event,
            () = late => {
                let limit = self.limit.unwrap_or_default();
                self.cancel(&format!("no answer within {limit:?}"));
                return Progress::Done(Err(CallError::TimedOut(limit)));
            }
        };
        self.heard = Instant::now();
        let event = event.unwrap_or_else(|| {
            let why = self.peer.shared.ended.borrow().clone();
            let why = why.unwrap_or_else(|| "it was answered before".into());
            Progress::Done(Err(CallError::Ended(why)))
        });
        self.over = matches!(event, Progress::Done(_));
        event
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

    fn cancel(&mut self, reason: &str) {
        if std::mem::replace(&mut self.over, true) {
            return;
        }
        let waiting = self
            .peer
            .shared
            .state
            .lock()
            .unwrap()
            .waiting
            .remove(&self.id);
        if waiting.is_none() {
            return;
        }
        let params = json!({ "requestId": self.id, "reason": reason });
        let cancelled = Frame::notification("notifications/cancelled", params);
        let Peer { shared, writer } = self.peer.clone();
        if !writer.try_send(cancelled.clone())
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(async move { shared.send(&writer, cancelled).await });
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.cancel("nobody waits for the answer any more");
    }
}

/// What comes of a request.
#[derive(Debug)]
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
    shared: Arc<Shared>,
    writer: Writer,
    cancelled: watch::Receiver<bool>,
}

impl Request {
    /// Answers it.
    pub async fn answer(mut self, result: impl Serialize) {
        if let Some(id) = self.close() {
            let answer = Frame::result(id, result);
            let _ = self.shared.send(&self.writer, answer).await;
        }
    }

    /// Refuses it.
    pub async fn refuse(mut self, code: i64, message: &str) {
        if let Some(id) = self.close() {
            let refusal = Frame::error(Some(id), code, message);
            let _ = self.shared.send(&self.writer, refusal).await;
        }
    }

    /// Reports progress, when it was asked for.
    pub async fn report(&self, progress: impl Serialize) {
        let params = self.frame.params.as_deref();
        let token = params.and_then(|params| body::get(params, &META_PROGRESS));
        let report = token.and_then(|token| body::set(&raw(progress), &["progressToken"], token));
        if let Some(report) = report {
            let frame = Frame::notification("notifications/progress", report);
            let _ = self.shared.send(&self.writer, frame).await;
        }
    }

    /// Waits until the other side cancels it, or is gone.
    pub async fn cancelled(&mut self) {
        let _ = self.cancelled.wait_for(|cancelled| *cancelled).await;
    }

    /// Its id, unless it was cancelled: then nobody wants an answer.
    fn close(&mut self) -> Option<Id> {
        let id = self.frame.id.take()?;
        let open = self.shared.state.lock().unwrap().answering.remove(&id);
        open.map(|_| id)
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        let runtime = tokio::runtime::Handle::try_current();
        if let (Some(id), Ok(runtime)) = (self.close(), runtime) {
            let method = self.frame.method.take().unwrap_or_default();
            let why = format!("nobody here answers {method}");
            let refusal = Frame::error(Some(id), code::METHOD_NOT_FOUND, &why);
            let (shared, writer) = (self.shared.clone(), self.writer.clone());
            runtime.spawn(async move { shared.send(&writer, refusal).await });
        }
    }
}

/// Hands each frame to whom it belongs, in order, until the connection ends.
async fn route(
    mut reader: Reader,
    shared: Arc<Shared>,
    writer: WeakWriter,
    inbox: mpsc::Sender<Incoming>,
) {
    let mut why: Arc<str> = "the other side has closed it".into();
    while let Some(came) = reader.recv().await {
        if let Err(Error::Broken(reason)) = came {
            why = reason.into();
            break;
        }
        match sort(came, &shared, &writer) {
            Some(Sorted::Own(waiting, event)) => _ = waiting.send(event).await,
            // Dropped unread, a request refuses itself.
            Some(Sorted::Incoming(incoming)) => _ = inbox.send(incoming).await,
            None => {}
        }
    }
    let mut state = shared.state.lock().unwrap();
    shared.ended.send_replace(Some(why));
    // Each waiter finds its channel closed, and the reason here.
    state.waiting.clear();
    state.answering.clear();
}

enum Sorted {
    /// It belongs to a request of ours.
    Own(mpsc::Sender<Progress>, Progress),
    Incoming(Incoming),
}

fn sort(came: Result<Frame, Error>, shared: &Arc<Shared>, writer: &WeakWriter) -> Option<Sorted> {
    let mut state = shared.state.lock().unwrap();
    let mut frame = match came {
        Ok(frame) => frame,
        Err(error) => {
            let own = error.id().and_then(number);
            return Some(match own.and_then(|id| state.waiting.remove(&id)) {
                Some(waiting) => {
                    Sorted::Own(waiting, Progress::Done(Err(CallError::Transport(error))))
                }
                None => Sorted::Incoming(Incoming::Odd(error)),
            });
        }
    };
    let at = |key: &str| Id::parse(body::get(frame.params.as_deref()?, &[key])?);
    match frame.kind() {
        Kind::Response => {
            let waiting = frame.id.as_ref().and_then(number);
            let waiting = waiting.and_then(|id| state.waiting.remove(&id))?;
            let answer = match (frame.result, frame.error) {
                (Some(result), _) => Ok(result),
                (None, error) => Err(CallError::Error(error.unwrap_or_else(|| raw(())))),
            };
            Some(Sorted::Own(waiting, Progress::Done(answer)))
        }
        Kind::Notification if frame.calls("notifications/progress") => {
            let token = at("progressToken").as_ref().and_then(number)?;
            let waiting = state.waiting.get(&token)?.clone();
            Some(Sorted::Own(waiting, Progress::Report(frame.params.take()?)))
        }
        Kind::Notification if frame.calls("notifications/cancelled") => {
            // A request that has been answered already is not there any more.
            let cancelled = state.answering.remove(&at("requestId")?)?;
            let _ = cancelled.send(true);
            None
        }
        Kind::Notification => Some(Sorted::Incoming(Incoming::Notification(frame))),
        Kind::Request => {
            let writer = writer.upgrade()?;
            let (cancel, cancelled) = watch::channel(false);
            state.answering.insert(frame.id.clone()?, cancel);
            Some(Sorted::Incoming(Incoming::Request(Request {
                frame,
                shared: shared.clone(),
                writer,
                cancelled,
            })))
        }
    }
}

/// An id of ours, whichever way the other side writes it.
fn number(id: &Id) -> Option<u64> {
    id.as_json().trim_matches('"').parse().ok()
}

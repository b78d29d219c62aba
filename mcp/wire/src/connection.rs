//! A connection: frames in, frames out, whatever carries them.
//!
//! Every transport is the in-process one with a task at its far end that moves frames to and from a wire. Invariant: each
//! direction is one queue, bounded in number and in bytes, so frames stay in order, and who does not read makes the other
//! side wait, not the memory grow.

use std::pin::pin;
use std::sync::Arc;

use futures_util::{Stream, StreamExt};
use hyper::HeaderMap;
use hyper::header::WWW_AUTHENTICATE;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::frame::{Frame, Id};

/// The bytes that wait in a queue before the sender does. An item that is larger waits alone.
const ROOM: usize = 16 << 20;
/// What an item counts at least: sixty-four of them fill a queue.
const LEAST: usize = ROOM / 64;

pub(crate) fn queue<T>() -> (Sender<T>, Receiver<T>) {
    let (items, received) = mpsc::unbounded_channel();
    let room = Arc::new(Semaphore::new(ROOM));
    (Sender { items, room }, Receiver(received))
}

/// Puts items into a queue.
#[derive(Clone, Debug)]
pub(crate) struct Sender<T> {
    /// Bounded by the room that each item in it takes up.
    items: mpsc::UnboundedSender<(T, Option<OwnedSemaphorePermit>)>,
    room: Arc<Semaphore>,
}

impl<T> Sender<T> {
    /// Puts an item of so many bytes behind the others, once there is room.
    pub(crate) async fn send(&self, item: T, bytes: usize) -> Result<(), Closed> {
        let counted = u32::try_from(bytes.clamp(LEAST, ROOM)).expect("ROOM is less");
        let room = self.room.clone().acquire_many_owned(counted);
        let room = room.await.map_err(|_| Closed)?;
        self.items.send((item, Some(room))).map_err(|_| Closed)
    }

    /// Puts an item behind the others that is bounded elsewhere.
    pub(crate) fn force(&self, item: T) {
        let _ = self.items.send((item, None));
    }

    /// Whether nobody receives any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.items.is_closed()
    }

    /// Takes no more, and lets nobody wait.
    pub(crate) fn close(&self) {
        self.room.close();
    }
}

/// Takes items out of a queue, in their order.
#[derive(Debug)]
pub struct Receiver<T>(mpsc::UnboundedReceiver<(T, Option<OwnedSemaphorePermit>)>);

impl<T> Receiver<T> {
    /// The next item. None when all senders are gone.
    pub async fn recv(&mut self) -> Option<T> {
        Some(self.0.recv().await?.0)
    }

    /// Whether the next one would have to be waited for.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Both directions of a connection to a client or a server.
#[derive(Debug)]
pub struct Connection {
    /// Sends to the other side.
    pub writer: Writer,
    /// Receives from the other side.
    pub reader: Reader,
}

impl Connection {
    /// Two ends of a connection inside this process: what one sends, the other receives.
    pub fn pair() -> (Self, Self) {
        let ((to_b, at_b), (to_a, at_a)) = (queue(), queue());
        let end = |writer, reader| Self {
            writer: Writer(writer),
            reader,
        };
        (end(to_b, at_a), end(to_a, at_b))
    }
}

/// Receives frames, or what came instead of one. At the end the other side has closed in good order.
pub type Reader = Receiver<Result<Frame, Error>>;

/// Sends frames. When all clones are dropped, the other side is told that no more will come.
#[derive(Clone, Debug)]
pub struct Writer(pub(crate) Sender<Result<Frame, Error>>);

impl Writer {
    /// Sends a frame, after those sent before; waits while the queue is full.
    ///
    /// # Errors
    /// When the other side has closed; the reader says why.
    pub async fn send(&self, frame: Frame) -> Result<(), Closed> {
        self.put(Ok(frame)).await
    }

    /// Waits until nobody reads any more.
    pub async fn closed(&self) {
        self.0.items.closed().await;
    }

    /// Hands the reader what a transport has read: a frame, or word of what is none.
    pub(crate) async fn put(&self, came: Result<Frame, Error>) -> Result<(), Closed> {
        let bytes = came.as_ref().map_or(0, Frame::size);
        self.0.send(came, bytes).await
    }

    /// Hands the reader all that a transport reads, until either ends: texts, of which blank ones are no frames.
    pub(crate) async fn fill<T>(self, source: impl Stream<Item = Result<T, Error>>)
    where
        T: AsRef<[u8]>,
    {
        let mut texts = pin!(source.take_until(self.closed()));
        while let Some(text) = texts.next().await {
            if matches!(&text, Ok(text) if text.as_ref().trim_ascii().is_empty()) {
                continue;
            }
            let came = text.and_then(|text| Frame::parse(text.as_ref()).map_err(Error::NotAFrame));
            let broken = matches!(came, Err(Error::Broken(_)));
            if self.put(came).await.is_err() || broken {
                return;
            }
        }
    }
}

/// The other side has closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the connection is closed")]
pub struct Closed;

/// What comes instead of a frame.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The other side sent something else; the connection goes on. A server answers it with this frame.
    #[error("{}", .0.refusal())]
    NotAFrame(Frame),
    /// A frame was not taken, or not answered; the connection goes on.
    #[error("{reason}")]
    Failed {
        /// Of the request that will have no other answer.
        id: Option<Id>,
        /// What has become of it.
        cause: Cause,
        /// What the server says, or what went wrong, in a line.
        reason: String,
    },
    /// The connection has broken; nothing comes after this.
    #[error("{0}")]
    Broken(String),
}

/// What has become of a frame that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Nobody took the connection, so nothing of the frame has reached a server.
    Unsent,
    /// The server may have acted on it.
    Unanswered,
    /// An HTTP server refused it with this status and, for a login, this `WWW-Authenticate`.
    Refused(u16, Option<String>),
    /// An HTTP server has forgotten the session. The next frame must be an `initialize`.
    SessionLost,
}

impl Error {
    pub(crate) fn failed(id: Option<Id>, cause: Cause, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self::Failed { id, cause, reason }
    }

    /// A response with a status that is no success.
    pub(crate) fn refused(id: Option<Id>, status: u16, headers: &HeaderMap, why: &str) -> Self {
        let challenge = headers.get(WWW_AUTHENTICATE).and_then(|it| it.to_str().ok());
        let cause = Cause::Refused(status, challenge.map(str::to_owned));
        Self::failed(id, cause, format!("the server refused the message with HTTP {status}: {why}"))
    }

    /// The request that will have no other answer.
    pub fn id(&self) -> Option<&Id> {
        match self {
            Self::Failed { id, .. } => id.as_ref(),
            Self::NotAFrame(_) | Self::Broken(_) => None,
        }
    }
}

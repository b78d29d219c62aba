//! A connection: frames in, frames out, whatever carries them.
//!
//! Every transport is the in-process one with a task at its far end that moves frames to and from a wire. Invariant: each
//! direction is one bounded queue, so frames stay in order, and who does not read makes the other side wait, not the
//! memory grow.

use std::fmt;

use tokio::sync::mpsc;

use crate::frame::{Frame, Id, NotAFrame, code};
use crate::http::chain;

/// The frames that wait in each direction before the sender does.
const QUEUE: usize = 64;

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
        let (to_b, at_b) = mpsc::channel(QUEUE);
        let (to_a, at_a) = mpsc::channel(QUEUE);
        let end = |writer, reader| Self {
            writer: Writer(writer),
            reader: Reader(reader),
        };
        (end(to_b, at_a), end(to_a, at_b))
    }
}

/// Sends frames. When all clones are dropped, the other side is told that no more will come.
#[derive(Clone, Debug)]
pub struct Writer(mpsc::Sender<Result<Frame, Error>>);

impl Writer {
    /// Sends a frame, after those sent before; waits while the queue is full.
    ///
    /// # Errors
    /// When the other side has closed; the reader says why.
    pub async fn send(&self, frame: Frame) -> Result<(), Closed> {
        self.0.send(Ok(frame)).await.map_err(|_| Closed)
    }

    /// Hands the reader what a transport has read: a frame, or word of what is none.
    pub(crate) async fn receive(&self, text: &[u8]) -> Result<(), Closed> {
        match Frame::parse(text) {
            Ok(frame) => self.send(frame).await,
            Err(not) => self.fail(Error::NotAFrame(not)).await,
        }
    }

    /// Tells the reader what happened.
    pub(crate) async fn fail(&self, error: Error) -> Result<(), Closed> {
        self.0.send(Err(error)).await.map_err(|_| Closed)
    }

    /// Whether the frame found room at once.
    pub(crate) fn try_send(&self, frame: Frame) -> bool {
        self.0.try_send(Ok(frame)).is_ok()
    }

    /// A handle that does not keep the connection open.
    pub(crate) fn downgrade(&self) -> WeakWriter {
        WeakWriter(self.0.downgrade())
    }

    /// Waits until nobody reads any more.
    pub async fn closed(&self) {
        self.0.closed().await;
    }
}

/// A writer, as long as somebody else holds it too.
pub(crate) struct WeakWriter(mpsc::WeakSender<Result<Frame, Error>>);

impl WeakWriter {
    pub(crate) fn upgrade(&self) -> Option<Writer> {
        self.0.upgrade().map(Writer)
    }
}

/// Receives frames.
#[derive(Debug)]
pub struct Reader(mpsc::Receiver<Result<Frame, Error>>);

impl Reader {
    /// The next frame, or what came instead of one. None when the other side has closed in good order.
    pub async fn recv(&mut self) -> Option<Result<Frame, Error>> {
        self.0.recv().await
    }

    /// A frame that is there already.
    pub(crate) fn try_recv(&mut self) -> Option<Result<Frame, Error>> {
        self.0.try_recv().ok()
    }
}

/// The other side has closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the connection is closed")
    }
}

impl std::error::Error for Closed {}

/// What comes instead of a frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The other side sent something else; the connection goes on. A server answers with [`NotAFrame::reply`].
    NotAFrame(NotAFrame),
    /// An HTTP server did not take a frame; the connection goes on.
    Refused {
        /// Of the request, when it was one.
        id: Option<Id>,
        /// Of the HTTP response; 0 when there was none.
        status: u16,
        /// Its `WWW-Authenticate`, for a login.
        challenge: Option<String>,
        /// What the server says, or what went wrong, in a line.
        reason: String,
    },
    /// Nobody took the connection, so nothing of the frame has reached a server; the connection goes on.
    Unsent {
        /// Of the request, when it was one.
        id: Option<Id>,
        /// Why, in a line.
        reason: String,
    },
    /// An HTTP server has forgotten the session. The next frame must be an `initialize`.
    SessionLost {
        /// Of the request that was not answered.
        id: Option<Id>,
    },
    /// The connection has broken; nothing comes after this.
    Broken(String),
}

impl Error {
    /// A request that nobody answered.
    pub(crate) fn unanswered(id: Option<Id>, reason: String) -> Self {
        Self::Refused {
            id,
            status: 0,
            challenge: None,
            reason,
        }
    }

    /// A request that did not go out, or of which nobody knows.
    pub(crate) fn unsent(id: Option<Id>, error: &reqwest::Error) -> Self {
        let reason = chain(error);
        if error.is_connect() {
            Self::Unsent { id, reason }
        } else {
            Self::unanswered(id, reason)
        }
    }

    /// A server that does not answer in time.
    pub(crate) fn silent(id: Option<Id>) -> Self {
        Self::unanswered(id, "the server does not answer".to_owned())
    }

    /// The request that will have no other answer.
    pub fn id(&self) -> Option<&Id> {
        match self {
            Self::NotAFrame(_) | Self::Broken(_) => None,
            Self::Refused { id, .. } | Self::Unsent { id, .. } | Self::SessionLost { id } => {
                id.as_ref()
            }
        }
    }

    /// The answer that a program between client and server gives to the request in the place of the other side.
    pub fn reply(&self) -> Option<Frame> {
        let id = self.id()?.clone();
        Some(Frame::error(
            Some(id),
            code::INTERNAL_ERROR,
            &self.to_string(),
        ))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAFrame(not) => not.fmt(f),
            Self::Refused {
                status: 0, reason, ..
            } => f.write_str(reason),
            Self::Refused { status, reason, .. } => {
                write!(
                    f,
                    "the server refused the message with HTTP {status}: {reason}"
                )
            }
            Self::SessionLost { .. } => f.write_str("the server has forgotten the session"),
            Self::Unsent { reason, .. } | Self::Broken(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for Error {}

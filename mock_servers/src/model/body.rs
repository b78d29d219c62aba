//! The body of a response, as a list of steps.
//!
//! Streams are slow, stall and break on request; a list of steps says all of it without a task per response.
//! Invariant: after its last step the body has ended, one way or the other.

use std::collections::VecDeque;
use std::fmt::{self, Display};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::mpsc;
use tokio::time::{Sleep, sleep};

use crate::watch::tape::Exchange;

/// What the body does next.
#[derive(Debug)]
pub enum Step {
    /// Sends these bytes.
    Send(Bytes),
    /// Sends nothing for so long.
    Wait(Duration),
    /// Sends nothing more and does not end.
    Hang,
    /// Breaks the connection.
    Break,
}

/// A body that takes one step after the other.
pub struct Steps {
    steps: VecDeque<Step>,
    /// Where more bytes come from behind the last step.
    feed: Option<mpsc::Receiver<Result<Bytes, ()>>>,
    /// Who records what is sent.
    exchange: Option<Exchange>,
    waiting: Option<Pin<Box<Sleep>>>,
    /// The length, when it is known from the start.
    length: Option<u64>,
}

/// A connection that is broken on purpose, before the answer or in it.
#[derive(Debug)]
pub struct Broken;

impl Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the connection is broken on request")
    }
}

impl std::error::Error for Broken {}

impl Steps {
    /// A body of known length.
    pub fn whole(bytes: Bytes) -> Self {
        let length = Some(bytes.len() as u64);
        Self {
            length,
            ..Self::chunked([Step::Send(bytes)])
        }
    }

    /// A body of unknown length, sent in chunks.
    pub fn chunked(steps: impl IntoIterator<Item = Step>) -> Self {
        Self {
            steps: steps.into_iter().collect(),
            feed: None,
            exchange: None,
            waiting: None,
            length: None,
        }
    }

    /// A body of unknown length that somebody else writes; an error breaks the connection.
    pub fn fed(feed: mpsc::Receiver<Result<Bytes, ()>>) -> Self {
        Self {
            feed: Some(feed),
            ..Self::chunked([])
        }
    }

    /// Lets what is sent be recorded.
    pub fn recorded(self, exchange: Exchange) -> Self {
        Self {
            exchange: Some(exchange),
            ..self
        }
    }

    fn sends(&mut self, bytes: Bytes) -> Frame<Bytes> {
        if let Some(exchange) = &mut self.exchange {
            exchange.chunk(&bytes);
            if self.steps.is_empty() && self.feed.is_none() {
                exchange.whole();
            }
        }
        Frame::data(bytes)
    }
}

impl Body for Steps {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        loop {
            if let Some(waiting) = &mut self.waiting {
                match waiting.as_mut().poll(context) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(()) => self.waiting = None,
                }
            }
            match self.steps.pop_front() {
                None => {
                    let Some(feed) = &mut self.feed else {
                        return Poll::Ready(None);
                    };
                    let fed = ready!(feed.poll_recv(context));
                    if fed.is_none() {
                        self.feed = None;
                    }
                    let frame = fed.map(|fed| fed.map(|bytes| self.sends(bytes)));
                    return Poll::Ready(frame.map(|frame| frame.map_err(|()| Broken)));
                }
                Some(Step::Send(bytes)) => return Poll::Ready(Some(Ok(self.sends(bytes)))),
                Some(Step::Wait(time)) => self.waiting = Some(Box::pin(sleep(time))),
                Some(Step::Break) => return Poll::Ready(Some(Err(Broken))),
                Some(Step::Hang) => {
                    self.steps.push_front(Step::Hang);
                    return Poll::Pending;
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.steps.is_empty() && self.waiting.is_none() && self.feed.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        self.length.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

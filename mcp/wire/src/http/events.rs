//! What an HTTP response brings, to the clients of both HTTP transports: events, or a body that is one.
//!
//! sse-stream does the reading; this bounds it. Invariant: no event, body or refusal over its limit is kept, and of large
//! ones only a few at a time; what a server says reaches an error as one line without control characters.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, BoxStream, Stream, StreamExt, TryStreamExt};
use hyper::http::HeaderValue;
use hyper::http::header::WWW_AUTHENTICATE;
use reqwest::Response;
use sse_stream::{Sse, SseByteStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::{chain, is};
use crate::connection::Error;
use crate::frame::{Frame, Id};

/// What is read of an event before it counts as large.
const LARGE: usize = 64 << 10;
/// The large events of a connection that are read, or wait for the program, at a time.
const LARGE_ONES: usize = 8;
/// How long a server may take to say why it refuses.
const PATIENCE: Duration = Duration::from_secs(10);

/// What bounds the large events of one connection.
pub(crate) fn large_ones() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(LARGE_ONES))
}

/// The events of a response.
pub(crate) struct Events {
    events: BoxStream<'static, Result<Sse, String>>,
    reading: Arc<Mutex<Reading>>,
    /// There is one event, the body of the response.
    pub(crate) whole: bool,
    /// Where to go on after it has broken off, and when.
    pub(crate) last_event: Option<HeaderValue>,
    pub(crate) retry: Option<Duration>,
}

/// What has come since the last event.
#[derive(Default)]
struct Reading {
    bytes: usize,
    large: Option<OwnedSemaphorePermit>,
}

impl Events {
    pub(crate) fn new(response: Response, limit: usize, large: &Arc<Semaphore>) -> Self {
        let reading = Arc::default();
        let whole = !is(response.headers(), "text/event-stream");
        let chunks = chunks(response, limit, large.clone(), Arc::clone(&reading)).boxed();
        let events = if whole {
            let body = chunks.try_fold(Vec::new(), |mut body, chunk| async move {
                body.extend_from_slice(&chunk);
                Ok(body)
            });
            let event = async {
                let body = body.await.map_err(|error| chain(&error))?;
                let text = String::from_utf8(body).map_err(|error| error.to_string())?;
                Ok(Sse::default().data(text))
            };
            stream::once(event).boxed()
        } else {
            let events = SseByteStream::new(chunks);
            events.map_err(|error| chain(&error)).boxed()
        };
        Self {
            events,
            reading,
            whole,
            last_event: None,
            retry: None,
        }
    }

    /// The next event with data. None at the end of the stream.
    ///
    /// # Errors
    /// Why the stream has broken off.
    pub(crate) async fn next(&mut self) -> Result<Option<Sse>, String> {
        loop {
            // The last one has been handed on.
            *self.reading.lock().unwrap() = Reading::default();
            let Some(event) = self.events.next().await.transpose()? else {
                return Ok(None);
            };
            if let Some(id) = &event.id {
                // One that no header can hold is as good as none.
                let id = HeaderValue::from_str(id).ok();
                self.last_event = id.filter(|id| !id.is_empty());
            }
            if let Some(retry) = event.retry {
                // A server can neither put a client to sleep for good nor have it ask without a pause.
                self.retry = Some(Duration::from_millis(retry.clamp(30, 600_000)));
            }
            if event.data.as_ref().is_some_and(|data| !data.is_empty()) {
                return Ok(Some(event));
            }
        }
    }
}

/// The body of a response, counted from event to event.
fn chunks(
    response: Response,
    limit: usize,
    large: Arc<Semaphore>,
    reading: Arc<Mutex<Reading>>,
) -> impl Stream<Item = io::Result<Bytes>> + Send {
    let state = (response, large, reading);
    stream::try_unfold(state, move |(mut response, large, reading)| async move {
        let Some(chunk) = response.chunk().await.map_err(io::Error::other)? else {
            return Ok(None);
        };
        let (read, counted) = {
            let mut reading = reading.lock().unwrap();
            reading.bytes += chunk.len();
            (reading.bytes, reading.large.is_some())
        };
        // What one event adds to its data: names of fields and line ends.
        if read > limit + limit / 8 + 4096 {
            let why = format!("an event is longer than {limit} bytes");
            return Err(io::Error::other(why));
        }
        if read > LARGE && !counted {
            let counted = large.clone().acquire_owned().await.ok();
            reading.lock().unwrap().large = counted;
        }
        Ok(Some((chunk, (response, large, reading))))
    })
}

/// A response that is no success, as an error; and the frame in it, if it is one that refuses.
pub(crate) async fn refusal(response: Response, id: Option<Id>) -> (Error, Option<Frame>) {
    let status = response.status().as_u16();
    let challenge = response.headers().get(WWW_AUTHENTICATE);
    let challenge = challenge.and_then(|value| value.to_str().ok().map(str::to_owned));
    let mut events = Events::new(response, LARGE, &large_ones());
    let said = timeout(PATIENCE, events.next()).await;
    let said = said.ok().and_then(Result::ok).flatten();
    let text = said.and_then(|event| event.data).unwrap_or_default();
    let words: Vec<_> = text.split_whitespace().collect();
    let words = words.join(" ");
    let words = words.chars().filter(|c| !c.is_control());
    let mut reason: String = words.take(200).collect();
    if reason.is_empty() {
        "no reason given".clone_into(&mut reason);
    }
    let error = Error::Refused {
        id,
        status,
        challenge,
        reason,
    };
    let frame = Frame::parse(text.as_bytes()).ok();
    (error, frame.filter(|frame| frame.error.is_some()))
}

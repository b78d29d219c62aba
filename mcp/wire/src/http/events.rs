//! What an HTTP response brings, to the clients of both HTTP transports: events, or a body that is one.
//!
//! sse-stream does the reading; this bounds it. Invariant: no event or body over its limit is kept, and of large ones only a
//! few at a time.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::stream::{self, BoxStream, StreamExt, TryStreamExt};
use hyper::http::HeaderValue;
use reqwest::Response;
use sse_stream::{Sse, SseByteStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{chain, is};

/// What is read of an event before it counts as large.
const LARGE: usize = 64 << 10;
/// The large events of a connection that are read, or wait for the program, at a time.
pub(super) const LARGE_ONES: usize = 8;

/// The events of a response.
pub(crate) struct Events {
    events: BoxStream<'static, Result<Sse, String>>,
    reading: Arc<Mutex<Reading>>,
    /// There is one event, the body of the response.
    pub(crate) whole: bool,
    pub(crate) place: Place,
}

/// What has come since the last event, and a permit when it is large.
type Reading = (usize, Option<OwnedSemaphorePermit>);

/// Where and when to go on with a stream that has broken off.
#[derive(Default)]
pub(crate) struct Place {
    pub(crate) last_event: Option<HeaderValue>,
    pub(crate) retry: Option<Duration>,
    /// Attempts since the last event.
    pub(crate) failed: u32,
}

impl Events {
    pub(crate) fn new(response: Response, limit: usize, large: Arc<Semaphore>) -> Self {
        let reading = Arc::<Mutex<Reading>>::default();
        let whole = !is(response.headers(), "text/event-stream");
        let state = (response, large, reading.clone());
        let chunks = stream::try_unfold(state, move |(mut response, large, reading)| async move {
            let Some(chunk) = response.chunk().await.map_err(io::Error::other)? else {
                return Ok(None);
            };
            let (read, counted) = {
                let (read, permit) = &mut *reading.lock().unwrap();
                *read += chunk.len();
                (*read, permit.is_some())
            };
            // What one event adds to its data: names of fields and line ends.
            if read > limit + limit / 8 + 4096 {
                return Err(io::Error::other(format!("an event is longer than {limit} bytes")));
            }
            if read > LARGE && !counted {
                let permit = large.clone().acquire_owned().await.ok();
                reading.lock().unwrap().1 = permit;
            }
            Ok(Some((chunk, (response, large, reading))))
        });
        let events = if whole {
            let event = async {
                let body = chunks.map_ok(Vec::from).try_concat().await;
                let body = body.map_err(|error| chain(&error))?;
                let text = String::from_utf8(body).map_err(|error| error.to_string())?;
                Ok(Sse::default().data(text))
            };
            stream::once(event).boxed()
        } else {
            SseByteStream::new(chunks.boxed()).map_err(|error| chain(&error)).boxed()
        };
        Self {
            events,
            reading,
            whole,
            place: Place::default(),
        }
    }

    /// The next event with data.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) async fn next(&mut self) -> Result<Sse, String> {
        loop {
            // The last one has been handed on.
            *self.reading.lock().unwrap() = Reading::default();
            let event = self.events.next().await;
            let event = event.ok_or("the server has closed the stream")??;
            if let Some(id) = &event.id {
                // One that no header can hold is as good as none.
                let id = HeaderValue::from_str(id).ok();
                self.place.last_event = id.filter(|id| !id.is_empty());
            }
            if let Some(retry) = event.retry {
                // A server can neither put a client to sleep for good nor have it ask without a pause.
                self.place.retry = Some(Duration::from_millis(retry.clamp(30, 600_000)));
            }
            if event.data.as_ref().is_some_and(|data| !data.is_empty()) {
                self.place.failed = 0;
                return Ok(event);
            }
        }
    }
}

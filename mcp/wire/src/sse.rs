//! Server-sent events, as both HTTP clients read them.
//!
//! sse-stream does the reading; this bounds it and remembers what a reconnection needs. Invariant: no event over the limit
//! is kept, however its server sends it.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use hyper::http::HeaderValue;
use sse_stream::{Sse, SseByteStream};

type Chunks = Pin<Box<dyn Stream<Item = std::io::Result<Bytes>> + Send>>;

/// The events of a response.
pub(crate) struct Events {
    events: Pin<Box<SseByteStream<Chunks>>>,
    /// Bytes that were read since the last event.
    unparsed: Arc<AtomicUsize>,
}

/// Where to go on after a stream has broken off.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resume {
    pub(crate) last_event: Option<HeaderValue>,
    pub(crate) retry: Option<Duration>,
}

impl Events {
    pub(crate) fn new(response: reqwest::Response, limit: usize) -> Self {
        let unparsed = Arc::new(AtomicUsize::new(0));
        let counted = unparsed.clone();
        let chunks = stream::try_unfold(response, |mut response| async move {
            let chunk = response.chunk().await.map_err(std::io::Error::other)?;
            Ok(chunk.map(|chunk| (chunk, response)))
        });
        let chunks = chunks.and_then(move |chunk: Bytes| {
            let read = counted.fetch_add(chunk.len(), Ordering::Relaxed);
            // What one event adds to its data: names of fields and line ends.
            let over = read > limit + limit / 8 + 4096;
            let error = || std::io::Error::other(format!("an event is longer than {limit} bytes"));
            std::future::ready(if over { Err(error()) } else { Ok(chunk) })
        });
        Self {
            events: Box::pin(SseByteStream::new(chunks.boxed())),
            unparsed,
        }
    }

    /// The next event with data; what a reconnection needs goes to `resume`. None at the end of the stream.
    ///
    /// # Errors
    /// Why the stream has broken off.
    pub(crate) async fn next(&mut self, resume: &mut Resume) -> Result<Option<Sse>, String> {
        while let Some(event) = self.events.next().await {
            let event = event.map_err(|error| crate::http::chain(&error))?;
            self.unparsed.store(0, Ordering::Relaxed);
            if let Some(id) = &event.id {
                // One that no header can hold is as good as none.
                let id = HeaderValue::from_str(id).ok();
                resume.last_event = id.filter(|id| !id.is_empty());
            }
            if let Some(retry) = event.retry {
                // A server can neither put a client to sleep for good nor have it ask without a pause.
                resume.retry = Some(Duration::from_millis(retry.clamp(30, 600_000)));
            }
            if event.data.as_ref().is_some_and(|data| !data.is_empty()) {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }
}

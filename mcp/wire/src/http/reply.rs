//! Responses, and what a request says of those it takes.
//!
//! Invariant: what is refused is refused as a frame without an id, so that a client can read it like any other error.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::header::{ACCEPT, CONTENT_TYPE};
use hyper::http::HeaderValue;
use hyper::{HeaderMap, Response, StatusCode};
use sse_stream::{KeepAlive, Sse, SseBody, Timer};
use tokio::time::{Instant, Sleep};

use super::session::Exchange;
use crate::frame::{Frame, code};

/// A response.
pub(super) type Reply = Response<UnsyncBoxBody<Bytes, io::Error>>;

/// Whether the client takes this type.
pub(super) fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    let listed = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok());
    let mut kinds = listed.flat_map(|value| value.split(',')).map(|range| {
        let range = range.split(';').next().unwrap_or_default();
        range.trim().to_ascii_lowercase()
    });
    let all = kind.split('/').next().map(|main| format!("{main}/*"));
    kinds.any(|range| range == kind || range == "*/*" || Some(&range) == all.as_ref())
}

pub(super) fn full(bytes: Bytes) -> UnsyncBoxBody<Bytes, io::Error> {
    Full::new(bytes)
        .map_err(|never: Infallible| match never {})
        .boxed_unsync()
}

fn reply(status: StatusCode, kind: &'static str, body: Vec<u8>) -> Reply {
    let mut reply = Response::new(full(body.into()));
    *reply.status_mut() = status;
    let kind = HeaderValue::from_static(kind);
    reply.headers_mut().insert(CONTENT_TYPE, kind);
    reply
}

/// A refusal.
pub(super) fn text(status: StatusCode, why: &str) -> Reply {
    json(
        status,
        Frame::error(None, code::INVALID_REQUEST, why).to_vec(),
    )
}

/// A frame.
pub(super) fn json(status: StatusCode, body: Vec<u8>) -> Reply {
    reply(status, "application/json", body)
}

/// What needs no answer was taken.
pub(super) fn accepted() -> Reply {
    let mut reply = Response::new(full(Bytes::new()));
    *reply.status_mut() = StatusCode::ACCEPTED;
    reply
}

/// A stream of events: the first ones, and those of the exchange.
pub(super) fn events(first: Vec<Sse>, exchange: Exchange) -> Reply {
    let rest = stream::unfold(exchange, |mut exchange| async move {
        Some((exchange.next().await?.into_event(), exchange))
    });
    let all = stream::iter(first).chain(rest).map(Ok::<_, Infallible>);
    let body: SseBody<_, Alarm> = SseBody::new_keep_alive(all, KeepAlive::new());
    let mut reply = Response::new(body.map_err(io::Error::other).boxed_unsync());
    for (name, value) in [
        ("content-type", "text/event-stream"),
        ("cache-control", "no-store"),
    ] {
        reply
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    reply
}

/// tokio's clock for the comments that keep a silent stream open.
struct Alarm(Pin<Box<Sleep>>);

impl Future for Alarm {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(cx)
    }
}

impl Timer for Alarm {
    fn from_duration(duration: Duration) -> Self {
        Self(Box::pin(tokio::time::sleep(duration)))
    }

    fn reset(mut self: Pin<&mut Self>, when: std::time::Instant) {
        self.0.as_mut().reset(Instant::from_std(when));
    }
}

//! The two routes of the page: the page itself, and the stream of what happens.
//!
//! Invariant: the page is one file without anything from elsewhere, and it makes markup of nothing that it was sent.

use std::sync::Arc;

use bytes::Bytes;
use hyper::header::{ACCEPT, HeaderMap, HeaderValue};

use super::tape::Tape;
use crate::model::body::Steps;

/// Where the stream of the page is.
pub const STREAM: &str = "/watch";

const PAGE: &str = include_str!("page.html");

/// What is there for people at this path: a content type and a body. `None` elsewhere, and for a program that asks for `/`.
pub fn for_people(
    tape: &Arc<Tape>,
    path: &str,
    headers: &HeaderMap,
) -> Option<(&'static str, Steps)> {
    let wants_html = |value: &HeaderValue| value.to_str().is_ok_and(|of| of.contains("text/html"));
    match path {
        // A browser that comes back says where it was.
        STREAM => {
            let last = headers.get("last-event-id");
            let last = last.and_then(|id| id.to_str().ok()?.parse().ok());
            let events = Arc::clone(tape).follow(last.unwrap_or(0));
            Some(("text/event-stream", Steps::fed(events)))
        }
        "" | "/" if headers.get_all(ACCEPT).iter().any(wants_html) => {
            let page = Bytes::from_static(PAGE.as_bytes());
            Some(("text/html; charset=utf-8", Steps::whole(page)))
        }
        _ => None,
    }
}

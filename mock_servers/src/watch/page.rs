//! The two routes of the page: the page itself, and the stream of what happens.
//!
//! Invariant: the page is one file without anything from elsewhere, and it makes markup of nothing that it was sent.

use std::sync::Arc;

use bytes::Bytes;
use hyper::header::{ACCEPT, HeaderMap};

use super::tape::Tape;
use crate::model::body::Steps;

/// Where the stream of the page is.
pub const STREAM: &str = "/watch";

const PAGE: &str = include_str!("page.html");

/// The page, for who can show it; `None` for a program that asks the same address.
pub fn page(headers: &HeaderMap) -> Option<Steps> {
    let wants_html = |value: &str| value.contains("text/html");
    let mut accepted = headers.get_all(ACCEPT).iter();
    let is_browser = accepted.any(|value| value.to_str().is_ok_and(wants_html));
    is_browser.then(|| Steps::whole(Bytes::from_static(PAGE.as_bytes())))
}

/// What has happened and what happens, as server-sent events. A browser that comes back says where it was.
pub fn stream(tape: &Arc<Tape>, headers: &HeaderMap) -> Steps {
    let last = headers.get("last-event-id");
    let last = last.and_then(|id| id.to_str().ok()?.parse().ok());
    Steps::fed(Arc::clone(tape).follow(last.unwrap_or(0)))
}

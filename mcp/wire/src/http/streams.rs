//! The streams of a session, the requests under way on them, and what is kept for a client that comes back.
//!
//! Invariant: what is kept is bounded by number and by bytes; a request under way has a stream, and its stream ends with it.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde_json::json;
use sse_stream::Sse;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::body;
use crate::connection::Writer;
use crate::frame::{Frame, Id};
use crate::headers::META_SUBSCRIPTION;

/// What is kept of a session for a client that comes back.
const KEPT_EVENTS: usize = 1000;
const KEPT_BYTES: usize = 4 << 20;

/// The stream for what belongs to no request.
pub(super) const STANDING: u64 = 0;

/// What a session knows.
pub(super) struct State {
    /// None when the session has ended.
    pub(super) inbox: Option<Writer>,
    pub(super) streams: BTreeMap<u64, Stream>,
    /// By the id that the program knows.
    pub(super) calls: BTreeMap<Id, Call>,
    pub(super) kept: VecDeque<Kept>,
    pub(super) kept_bytes: usize,
    /// The event of the standing stream up to which a client was sent all.
    pub(super) told: u64,
    pub(super) last: u64,
    pub(super) used: Instant,
}

#[derive(Default)]
pub(super) struct Stream {
    /// None while the client is not there.
    pub(super) client: Option<mpsc::Sender<Item>>,
    pub(super) events: u64,
    pub(super) stalled: Duration,
}

/// A request under way.
pub(super) struct Call {
    pub(super) stream: u64,
    /// Its id and token as the client knows them.
    pub(super) id: Id,
    pub(super) token: Option<Id>,
    pub(super) method: Box<str>,
}

pub(super) struct Kept {
    pub(super) stream: u64,
    pub(super) event: u64,
    pub(super) text: String,
}

/// A frame for the client, as text.
pub(super) struct Item {
    pub(super) text: String,
    /// Names it to a client that resumes; nothing is resumed without a session.
    pub(super) event: Option<String>,
    /// The answer, after which the stream ends: the code of its error, or 0.
    pub(super) answer: Option<i64>,
}

impl Item {
    pub(super) fn into_event(self) -> Sse {
        let event = Sse::default().data(self.text);
        match self.event {
            Some(id) => event.id(id),
            None => event,
        }
    }
}

impl State {
    pub(super) fn new(inbox: Writer) -> Self {
        Self {
            inbox: Some(inbox),
            streams: BTreeMap::from([(STANDING, Stream::default())]),
            calls: BTreeMap::new(),
            kept: VecDeque::new(),
            kept_bytes: 0,
            told: 0,
            last: STANDING,
            used: Instant::now(),
        }
    }

    /// Ends a stream without a session, and its request with it.
    pub(super) fn cancel(&mut self, stream: u64) {
        self.streams.remove(&stream);
        let under_way = self.calls.remove(&Id::from(stream)).is_some();
        if let Some(inbox) = self.inbox.clone().filter(|_| under_way) {
            let params = json!({ "requestId": stream, "reason": "the client hung up" });
            let cancelled = Frame::notification("notifications/cancelled", params);
            tokio::spawn(async move { inbox.send(cancelled).await });
        }
    }

    /// The stream that a notification or a request of the program belongs to.
    pub(super) fn stream_of(&self, frame: &mut Frame, renamed: bool) -> u64 {
        let params = frame.params.as_deref();
        let at = |path: &[&str]| params.and_then(|params| Id::parse(body::get(params, path)?));
        if frame.calls("notifications/progress")
            && let Some(token) = at(&["progressToken"])
        {
            let mut calls = self.calls.iter();
            let call = calls.find(|(id, call)| match &call.token {
                Some(_) if renamed => **id == token,
                own => own.as_ref() == Some(&token),
            });
            if let Some((_, call)) = call {
                if renamed && let Some(token) = &call.token {
                    rewrite(frame, &["progressToken"], token);
                }
                return call.stream;
            }
        }
        if let Some(call) = at(&META_SUBSCRIPTION).and_then(|id| self.calls.get(&id)) {
            if renamed {
                rewrite(frame, &META_SUBSCRIPTION, &call.id);
            }
            return call.stream;
        }
        let told = frame.about.as_ref().and_then(|id| self.calls.get(id));
        // A program on stdio does not say; the latest request is the likeliest.
        let calls = self
            .calls
            .values()
            .filter(|call| &*call.method != "subscriptions/listen");
        let likeliest = || calls.max_by_key(|call| call.stream);
        told.or_else(likeliest).map_or(STANDING, |call| call.stream)
    }

    pub(super) fn keep(&mut self, stream: u64, event: u64, text: &str) {
        self.kept_bytes += text.len();
        self.kept.push_back(Kept {
            stream,
            event,
            text: text.to_owned(),
        });
        while self.kept.len() > KEPT_EVENTS || self.kept.len() > 1 && self.kept_bytes > KEPT_BYTES {
            let old = self.kept.pop_front().map_or(0, |old| old.text.len());
            self.kept_bytes -= old;
        }
    }
}

/// Puts an id or a token where the client or the program knows it by another.
pub(super) fn rewrite(frame: &mut Frame, path: &[&str], id: &Id) {
    let edited = frame
        .params
        .as_deref()
        .and_then(|params| body::set(params, path, &id.to_raw()));
    if edited.is_some() {
        frame.params = edited;
    }
}

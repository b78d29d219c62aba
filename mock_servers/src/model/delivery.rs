//! How an answer travels: whole, slowed, or broken on the way as a fault asks.
//!
//! What an answer says is one thing, how it arrives another; faults of the line belong here.
//! Invariant: an answer without a fault arrives whole, whatever its speed.

use std::time::Duration;

use bytes::{Bytes, BytesMut};

use super::body::{Step, Steps};
use super::faults::Fault;
use super::refusal::Refusal;
use super::shared::Answered;
use super::wire::{self, Envelope, Event};

/// The tokens of one event when nothing slows the stream.
const TOKENS_PER_EVENT: u32 = 16;
/// Time for what was sent to leave, before the connection breaks.
const TICK: Duration = Duration::from_millis(1);
/// An event whose data ends too early.
const MALFORMED: Bytes =
    Bytes::from_static(b"event: content_block_delta\ndata: {\"type\":\"content_block_del\n\n");

/// The body of an answer. `speed` is in tokens per second; `request_id` goes into an error event.
pub fn deliver(answered: &Answered, id: &str, speed: Option<u32>, request_id: &str) -> Steps {
    let envelope = Envelope {
        id,
        model: &answered.model,
        usage: answered.usage,
    };
    let breakage = answered.fault.filter(|fault| fault.breaks_the_answer());
    if !answered.stream {
        let body = wire::plain(&answered.answer, &envelope);
        return match (breakage, pause(answered.answer.tokens, speed)) {
            (Some(breakage), _) => broken_plain(&body, breakage),
            (None, Some(wait)) => Steps::chunked([wait, Step::Send(body)]),
            (None, None) => Steps::whole(body),
        };
    }
    // Slowed text comes word by word, and half of a broken answer has to be some of its text.
    let small = speed.is_some() || breakage.is_some();
    let size = if small { 1 } else { TOKENS_PER_EVENT };
    let events = wire::events(&answered.answer, &envelope, size);
    match breakage {
        None if speed.is_none() => at_once(&events),
        None => Steps::chunked(steps(events, speed)),
        Some(breakage) => broken(events, breakage, speed, request_id),
    }
}

/// One piece: a frame for each event would cost more than all the rest of the answer.
fn at_once(events: &[Event]) -> Steps {
    let length = events.iter().map(|event| event.bytes.len()).sum();
    let mut all = BytesMut::with_capacity(length);
    for event in events {
        all.extend_from_slice(&event.bytes);
    }
    Steps::chunked([Step::Send(all.freeze())])
}

fn broken(mut events: Vec<Event>, breakage: Fault, speed: Option<u32>, id: &str) -> Steps {
    // The last three events close the message; before them a block is open.
    let middle = events.len().div_ceil(2).min(events.len().saturating_sub(3));
    let rest = steps(events.split_off(middle), speed);
    let mut sent = steps(events, speed);
    match breakage {
        Fault::DropStream => sent.extend([Step::Wait(TICK), Step::Break]),
        Fault::Stall => sent.push(Step::Hang),
        Fault::ErrorEvent => {
            let body = Refusal::new(529, "Overloaded").body(id);
            sent.push(Step::Send(wire::error_event(&body)));
        }
        // The one that is left: a line that is not JSON.
        _ => {
            sent.push(Step::Send(MALFORMED));
            sent.extend(rest);
        }
    }
    Steps::chunked(sent)
}

/// A plain answer that breaks. Half of its JSON is malformed; an `error` event it cannot have.
fn broken_plain(body: &Bytes, breakage: Fault) -> Steps {
    let half = Step::Send(body.slice(..body.len() / 2));
    match breakage {
        Fault::DropStream => Steps::chunked([half, Step::Wait(TICK), Step::Break]),
        Fault::Stall => Steps::chunked([half, Step::Hang]),
        _ => Steps::chunked([half]),
    }
}

fn steps(events: Vec<Event>, speed: Option<u32>) -> Vec<Step> {
    let steps = events.into_iter().flat_map(|event| {
        let wait = pause(event.tokens, speed);
        wait.into_iter().chain([Step::Send(event.bytes)])
    });
    steps.collect()
}

fn pause(tokens: u32, speed: Option<u32>) -> Option<Step> {
    let seconds = f64::from(tokens) / f64::from(speed?);
    (tokens > 0).then(|| Step::Wait(Duration::from_secs_f64(seconds)))
}

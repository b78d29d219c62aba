//! What went over the wire, for whoever wants to see the loop: the page, the terminal.
//!
//! A conversation is sent whole with every request. What a request shares with an earlier one is kept once: its line names
//! that request and how many of its bytes stay, so a session costs what was new in it.
//! Invariant: memory is bounded, no header is kept (they hold the key), and nobody who records ever waits for a reader.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use super::show::Show;
use crate::model::Log;
use crate::model::scan::common_prefix;

/// The most bytes of lines that are kept; beyond it recording starts anew, and says so.
const MOST_BYTES: usize = 32 * 1024 * 1024;
/// The requests that a new one is compared with: more than there are agents in a class.
const RECENT: usize = 16;
/// The most bytes that a reader is handed at once.
const PIECE: usize = 256 * 1024;

/// The record of all exchanges.
pub struct Tape {
    state: Mutex<State>,
    /// How many lines there have been.
    grown: watch::Sender<u64>,
    began: Instant,
    /// The first line that a reader gets.
    hello: Bytes,
    show: Option<Show>,
    record: Option<Log>,
}

#[derive(Default)]
struct State {
    lines: VecDeque<Bytes>,
    /// The number of the first line that is kept.
    first: u64,
    bytes: usize,
    /// The newest bodies, with the numbers of their requests.
    recent: VecDeque<(u64, Bytes)>,
    requests: u64,
}

impl Tape {
    /// An empty record. `server` is who answers, `window` the size of the context window in tokens, where it is known;
    /// `record` gets every line a reader would.
    pub fn new(
        server: &str,
        window: Option<u32>,
        show: Option<Show>,
        record: Option<Log>,
    ) -> Arc<Self> {
        let hello = json!({"kind": "hello", "server": server, "window": window}).to_string();
        if let Some(record) = &record {
            record(&hello);
        }
        Arc::new(Self {
            state: Mutex::default(),
            grown: watch::Sender::new(0),
            began: Instant::now(),
            hello: hello.into(),
            show,
            record,
        })
    }

    /// Records a request to `/v1/messages`. What is answered is recorded through the value it gives.
    pub fn request(self: &Arc<Self>, body: &Bytes) -> Exchange {
        let mut state = self.state();
        state.requests += 1;
        let number = state.requests;
        // Before it is written: it must lean on nothing that goes. As a line it is at most twice as long.
        if state.bytes + 2 * body.len() > MOST_BYTES {
            state.clear();
        }
        let line = state.request(number, body);
        self.push(&mut state, line);
        if state.recent.len() == RECENT {
            state.recent.pop_front();
        }
        state.recent.push_back((number, body.clone()));
        drop(state);
        Exchange {
            tape: Arc::clone(self),
            number,
            incomplete: Vec::new(),
            shown: self.show.as_ref().map(|_| (body.clone(), String::new())),
            is_whole: false,
        }
    }

    /// The lines behind number `after` as server-sent events, and those to come. Each has its number as `id`.
    pub fn follow(self: Arc<Self>, after: u64) -> mpsc::Receiver<Result<Bytes, ()>> {
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(async move {
            let mut grown = self.grown.subscribe();
            let mut next = after;
            let hello = [b"data: ", &self.hello[..], b"\n\n"].concat();
            if sender.send(Ok(hello.into())).await.is_err() {
                return;
            }
            loop {
                let piece = self.piece(&mut next);
                if !piece.is_empty() {
                    if sender.send(Ok(piece)).await.is_err() {
                        return;
                    }
                    continue;
                }
                tokio::select! {
                    () = sender.closed() => return,
                    changed = grown.wait_for(|lines| *lines > next) => if changed.is_err() { return },
                }
            }
        });
        receiver
    }

    /// The events behind line `next`, as many as fit, and moves `next` behind them.
    fn piece(&self, next: &mut u64) -> Bytes {
        let state = self.state();
        let mut piece = BytesMut::new();
        *next = (*next).clamp(state.first, state.first + state.lines.len() as u64);
        let skip = usize::try_from(*next - state.first).unwrap_or(usize::MAX);
        for line in state.lines.iter().skip(skip) {
            *next += 1;
            piece.extend_from_slice(format!("id: {next}\ndata: ").as_bytes());
            piece.extend_from_slice(line);
            piece.extend_from_slice(b"\n\n");
            if piece.len() > PIECE {
                break;
            }
        }
        piece.freeze()
    }

    fn push(&self, state: &mut State, mut line: Value) {
        line["ms"] = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX).into();
        let line = line.to_string();
        if let Some(record) = &self.record {
            record(&line);
        }
        let line = Bytes::from(line);
        if state.bytes + line.len() > MOST_BYTES {
            state.clear();
        }
        state.bytes += line.len();
        state.lines.push_back(line);
        let lines = state.first + state.lines.len() as u64;
        self.grown.send_replace(lines);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no thread panics while it records")
    }
}

impl State {
    /// A request as what is new in it against the recent one that it shares most with.
    fn request(&self, number: u64, body: &Bytes) -> Value {
        let shared =
            self.recent.iter().map(|(number, earlier)| (shared_prefix(earlier, body), *number));
        let (keep, like) = shared.max().unzip();
        let text = String::from_utf8_lossy(&body[keep.unwrap_or(0)..]);
        json!({"kind": "request", "n": number, "like": like, "keep": keep, "text": text})
    }

    fn clear(&mut self) {
        self.first += self.lines.len() as u64;
        self.bytes = 0;
        self.lines.clear();
        self.recent.clear();
    }
}

/// What is recorded of one answer. Dropped before [`whole`](Self::whole), it records that the answer was cut.
pub struct Exchange {
    tape: Arc<Tape>,
    number: u64,
    /// The bytes of a character that has not arrived whole.
    incomplete: Vec<u8>,
    /// The request and the answer so far, where somebody shows them.
    shown: Option<(Bytes, String)>,
    is_whole: bool,
}

impl Exchange {
    /// The answer begins; `note` is what the server says of it beside the answer.
    pub fn answered(&mut self, status: u16, note: &str) {
        self.push(json!({"kind": "answer", "status": status, "note": note}));
    }

    /// A part of the answer's body.
    pub fn chunk(&mut self, bytes: &[u8]) {
        self.incomplete.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.incomplete) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Ok(_) | Err(_) => self.incomplete.len(),
        };
        let rest = self.incomplete.split_off(whole);
        let text = String::from_utf8_lossy(&self.incomplete).into_owned();
        if let Some((_, answer)) = &mut self.shown {
            answer.push_str(&text);
        }
        self.incomplete = rest;
        self.push(json!({"kind": "chunk", "text": text}));
    }

    /// The answer has arrived whole.
    pub fn whole(&mut self) {
        self.is_whole = true;
    }

    fn push(&self, mut line: Value) {
        let mut state = self.tape.state();
        line["n"] = self.number.into();
        self.tape.push(&mut state, line);
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.push(json!({"kind": "end", "cut": !self.is_whole}));
        if let (Some(show), Some((request, answer))) = (&self.tape.show, &self.shown) {
            show.exchange(self.number, request, answer, !self.is_whole);
        }
    }
}

/// How many bytes both begin with, up to the beginning of a character.
fn shared_prefix(earlier: &[u8], later: &[u8]) -> usize {
    let mut shared = common_prefix(earlier, later);
    while shared > 0 && later.get(shared).is_some_and(|byte| byte & 0xC0 == 0x80) {
        shared -= 1;
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(tape: &Tape) -> Vec<Value> {
        let state = tape.state();
        let parse = |line: &Bytes| serde_json::from_slice(line).expect("a line is JSON");
        state.lines.iter().map(parse).collect()
    }

    #[test]
    fn a_conversation_costs_what_is_new_in_it() {
        let tape = Tape::new("", None, None, None);
        let long = "ä".repeat(10_000);
        let body = |end: &str| Bytes::from(format!("{{\"messages\":\"{long}{end}"));
        drop(tape.request(&body("ü")));
        drop(tape.request(&"{\"another\"".into()));
        drop(tape.request(&body("öß")));
        let lines = lines(&tape);
        let third = lines.iter().find(|line| line["n"] == 3).expect("a third");
        assert_eq!((&third["like"], &third["text"]), (&json!(1), &json!("öß")));
        let keep = third["keep"].as_u64().expect("a number");
        assert_eq!(keep as usize, body("").len(), "the bytes of ü and ö begin alike");
    }

    #[test]
    fn a_character_in_two_chunks_is_one() {
        let tape = Tape::new("", None, None, None);
        let mut exchange = tape.request(&"{}".into());
        exchange.answered(200, "");
        exchange.chunk(&"ä".as_bytes()[..1]);
        exchange.chunk(&"ä".as_bytes()[1..]);
        exchange.chunk(b"\xff!");
        exchange.whole();
        drop(exchange);
        let lines = lines(&tape);
        let texts = lines.iter().filter_map(|line| line["text"].as_str());
        assert_eq!(texts.collect::<String>(), "{}ä\u{fffd}!");
        assert_eq!(lines.last().expect("an end")["cut"], false);
    }

    #[test]
    fn what_is_kept_is_bounded_and_a_late_reader_begins_where_it_begins() {
        let tape = Tape::new("", None, None, None);
        for turn in 0..40 {
            let body = format!("{turn}{}", "x".repeat(1024 * 1024));
            drop(tape.request(&body.into()));
        }
        let state = tape.state();
        assert!(state.first > 0 && state.bytes <= MOST_BYTES);
        drop(state);
        let mut next = 0;
        while !tape.piece(&mut next).is_empty() {}
        assert_eq!(next, 80, "a request and its end, each with a number");
        assert_eq!(lines(&tape)[0]["like"], Value::Null, "it leans on nothing that is gone");
    }
}

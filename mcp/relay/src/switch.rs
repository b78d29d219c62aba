//! Who waits for which answer: frames from one connection to another, under ids that are unique here.
//!
//! Clients and backends are alike: each has requests under way in it, asked by others. All of it changes under one lock and
//! without waiting, so that a frame is routed by what is true when it comes. Invariants: a request is answered once, to
//! whom it belongs, under the id it came with; a backend that takes nothing holds up nobody but those who call it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use mcp_client::link::{AWAY, REASON};
use mcp_wire::frame::{Frame, Id, code};
use mcp_wire::headers::{META_CAPABILITIES, META_PROGRESS, META_VERSION, STATELESS, own_version};
use mcp_wire::{Writer, body};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::Instant;

use crate::backend::Backend;
use crate::lifecycle::{Refusal, raw};
use crate::routing::Routing;

/// Frames that wait for a backend; one more is refused.
pub const OUTBOX: usize = 1024;
/// For a backend that is away to come back while a request waits.
pub const AWAY_PATIENCE: Duration = Duration::from_secs(10);
const META_CLIENT: [&str; 2] = ["_meta", "io.modelcontextprotocol/clientInfo"];

/// All connections, and what is under way.
#[derive(Default)]
pub struct State {
    last: u64,
    /// In the order of the file.
    pub backends: Vec<Backend>,
    pub routing: Routing,
    pub clients: BTreeMap<u64, Side<Client>>,
    pub lines: BTreeMap<u64, Side<Line>>,
    /// Who wants to hear of a resource: clients, and the subscription it is for, from 2026-07-28 on.
    pub watched: HashMap<String, BTreeSet<(u64, Option<Id>)>>,
    /// Subscriptions: the client, the id, what it asked for.
    pub listeners: Vec<(u64, Id, Value)>,
    /// Of tools, prompts, resources: whether clients do not know yet that they have changed.
    pub changed: [bool; 3],
    /// What goes to clients as soon as the lock is free.
    pub out: Vec<(u64, Writer, Frame)>,
}

/// One connection.
pub struct Side<E> {
    pub end: E,
    /// Requests that it has to answer.
    pub flights: BTreeMap<u64, Flight>,
}

/// A client.
pub struct Client {
    pub writer: Writer,
    /// The params of its `initialize`.
    pub hello: Value,
    pub initialized: bool,
    /// The requests of its own that are under way.
    pub asked: usize,
    /// Rings when the last of them is answered, and when the client is sent away.
    pub bell: Arc<Notify>,
    pub sent_away: bool,
}

/// A connection to a backend.
pub struct Line {
    pub backend: String,
    pub outbox: mpsc::Sender<Frame>,
    /// The handshake is over.
    pub open: bool,
    /// What waits for that.
    pub held: Vec<Frame>,
    /// Nothing new goes there; it ends behind the last answer.
    pub leaving: bool,
    /// Whether it knows requests that stand for themselves, and whether it knows sessions.
    pub modern: bool,
    pub handshake: bool,
    /// The client that has it for itself.
    pub only: Option<u64>,
    /// Connects at once.
    pub retry: Arc<Notify>,
    /// Lists again.
    pub relist: Arc<Notify>,
    /// Which lists it says have changed: tools, prompts, resources.
    pub told: [bool; 3],
    pub timeout: Duration,
}

impl Drop for Line {
    fn drop(&mut self) {
        // Its keeper finds it gone. Nothing is aborted: it may be carrying another client's frame.
        self.retry.notify_one();
    }
}

/// A request under way.
pub struct Flight {
    pub from: Origin,
    token: Option<Id>,
    pub until: Instant,
    began: Instant,
}

/// Who has asked.
pub enum Origin {
    Client(u64, Id),
    Line(u64, Id),
    Own(oneshot::Sender<Frame>),
}

impl State {
    /// A number that nobody else here has.
    pub fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    pub fn backend(&self, name: &str) -> Option<&Backend> {
        self.backends.iter().find(|it| it.entry.name() == name)
    }

    pub fn tell_client(&mut self, client: u64, frame: Frame) {
        if let Some(side) = self.clients.get(&client) {
            self.out.push((client, side.end.writer.clone(), frame));
        }
    }

    pub fn refuse(&mut self, client: u64, asked: &Frame, refusal: &Refusal) {
        self.tell_client(client, refusal.answer(asked));
    }

    /// Hands a frame to a backend, behind those before it; false when it takes no more.
    pub fn tell_line(&mut self, line: u64, frame: Frame) -> bool {
        let Some(Side { end, .. }) = self.lines.get_mut(&line) else {
            return false;
        };
        if end.open {
            return end.outbox.try_send(frame).is_ok();
        }
        let room = end.held.len() < OUTBOX;
        if room {
            end.held.push(frame);
            end.retry.notify_one();
        }
        room
    }

    /// Asks a backend for a client.
    pub fn ask_line(&mut self, client: u64, line: u64, mut frame: Frame) {
        let asked = frame.clone();
        let number = self.next();
        let Some(Side { end, flights }) = self.lines.get_mut(&line) else {
            let why = "the server is not connected to";
            return self.refuse(client, &asked, &Refusal::new(code::INTERNAL_ERROR, why));
        };
        let limit = if end.open { end.timeout } else { AWAY_PATIENCE };
        adapt(&mut frame, end);
        let backend = end.backend.clone();
        let origin = Origin::Client(client, asked.id.clone().expect("it is a request"));
        flights.insert(number, flight(&mut frame, number, origin, limit));
        tracing::info!(call = number, backend, method = asked.method.as_deref(), "asked");
        if let Some(side) = self.clients.get_mut(&client) {
            side.end.asked += 1;
        }
        if !self.tell_line(line, frame) {
            let why = format!("{backend}: {OUTBOX} frames wait for it already");
            self.end_flight(line, number, &Refusal::new(code::INTERNAL_ERROR, why));
        }
    }

    /// Asks a client for a backend.
    pub fn ask_client(&mut self, line: u64, client: u64, mut frame: Frame) {
        let number = self.next();
        let origin = Origin::Line(line, frame.id.clone().expect("it is a request"));
        frame.about = self.request_of(line, client, frame.about.as_ref());
        if let Some(side) = self.clients.get_mut(&client) {
            let day = Duration::from_secs(86_400);
            side.flights.insert(number, flight(&mut frame, number, origin, day));
        }
        self.tell_client(client, frame);
    }

    /// The id that a client has given to the request that `about` names on a line, or to its latest one.
    pub fn request_of(&self, line: u64, client: u64, about: Option<&Id>) -> Option<Id> {
        let flights = &self.lines.get(&line)?.flights;
        let named = about.and_then(number).and_then(|id| flights.get(&id));
        let mine =
            |flight: &&Flight| matches!(&flight.from, Origin::Client(who, _) if *who == client);
        match &named.filter(mine).or_else(|| flights.values().rfind(mine))?.from {
            Origin::Client(_, id) => Some(id.clone()),
            _ => None,
        }
    }

    /// The client that a line's own words are for: the one whose request they are about, or who asked last.
    pub fn client_of(&self, line: u64, about: Option<&Id>) -> Option<u64> {
        let Side { end, flights } = self.lines.get(&line)?;
        let client = |flight: &Flight| match flight.from {
            Origin::Client(client, _) => Some(client),
            _ => None,
        };
        let named = about.and_then(number).and_then(|id| client(flights.get(&id)?));
        let latest = || flights.values().rev().find_map(client);
        let sole = || Some(*self.clients.keys().next()?).filter(|_| self.clients.len() == 1);
        named.or(end.only).or_else(latest).or_else(sole)
    }

    /// An answer of a backend.
    pub fn line_answers(&mut self, line: u64, mut frame: Frame) {
        let Some(side) = self.lines.get_mut(&line) else { return };
        let id = frame.id.as_ref().and_then(number);
        let Some((id, flight)) = id.and_then(|id| Some((id, side.flights.remove(&id)?))) else {
            return;
        };
        let backend = side.end.backend.clone();
        let ms = flight.began.elapsed().as_millis();
        let failed = frame.error.is_some();
        if !flight.is_own() {
            tracing::info!(call = id, backend, ms, failed, "answered");
        }
        match flight.from {
            Origin::Own(waiting) => _ = waiting.send(frame),
            Origin::Client(client, id) => {
                name_backend(&mut frame, &backend);
                frame.id = Some(id);
                self.tell_client(client, frame);
                self.answered(client);
            }
            Origin::Line(..) => {}
        }
        self.leave(line);
    }

    /// An answer of a client.
    pub fn client_answers(&mut self, client: u64, mut frame: Frame) {
        let id = frame.id.as_ref().and_then(number);
        let side = self.clients.get_mut(&client);
        let flight = id.zip(side).and_then(|(id, side)| side.flights.remove(&id));
        if let Some(Flight {
            from: Origin::Line(line, id),
            ..
        }) = flight
        {
            frame.id = Some(id);
            self.tell_line(line, frame);
        }
    }

    /// Progress of a backend, to whom it belongs.
    pub fn line_progresses(&mut self, line: u64, mut frame: Frame) {
        let Some(side) = self.lines.get_mut(&line) else { return };
        let limit = side.end.timeout;
        let token = named(&frame, &["progressToken"]).as_ref().and_then(number);
        let Some(flight) = token.and_then(|token| side.flights.get_mut(&token)) else {
            return;
        };
        flight.until = Instant::now() + limit;
        if let (Origin::Client(client, id), Some(token)) = (&flight.from, &flight.token) {
            let client = *client;
            frame.about = Some(id.clone());
            rename(&mut frame, &["progressToken"], token);
            self.tell_client(client, frame);
        }
    }

    /// The handshake of a line is over: what waited goes out, in its order.
    pub fn open_line(&mut self, line: u64) {
        let now = Instant::now();
        let Some(Side { end, flights }) = self.lines.get_mut(&line) else { return };
        end.open = true;
        let held = std::mem::take(&mut end.held);
        flights.values_mut().for_each(|flight| flight.until = now + end.timeout);
        held.into_iter().for_each(|mut frame| {
            adapt(&mut frame, &self.lines[&line].end);
            self.tell_line(line, frame);
        });
    }

    /// Asks a backend for the relay itself, which does not wait for the answer.
    pub fn tell_own(&mut self, line: u64, method: &str, params: Value) {
        drop(self.ask_own(line, method, params));
    }

    /// Asks a backend for the relay itself.
    pub fn ask_own(&mut self, line: u64, method: &str, params: Value) -> oneshot::Receiver<Frame> {
        let (waiting, answer) = oneshot::channel();
        let number = self.next();
        let mut frame = Frame::request(number, method, params);
        if let Some(Side { end, flights }) = self.lines.get_mut(&line) {
            let year = Duration::from_secs(365 * 86_400);
            flights.insert(number, flight(&mut frame, number, Origin::Own(waiting), year));
            if end.outbox.try_send(frame).is_err() {
                flights.remove(&number);
            }
        }
        answer
    }
}

/// Puts a request under its number here.
fn flight(frame: &mut Frame, number: u64, from: Origin, limit: Duration) -> Flight {
    let token = named(frame, &META_PROGRESS);
    if token.is_some() {
        rename(frame, &META_PROGRESS, &Id::from(number));
    }
    frame.id = Some(Id::from(number));
    let began = Instant::now();
    Flight {
        from,
        token,
        until: began + limit,
        began,
    }
}

impl Flight {
    /// Whether the relay itself has asked.
    pub fn is_own(&self) -> bool {
        matches!(self.from, Origin::Own(_))
    }
}

/// Puts a client's request into the lifecycle of its backend.
fn adapt(frame: &mut Frame, line: &Line) {
    let Some(method) = frame.method.as_deref() else { return };
    let params = frame.params.take();
    let stands_alone = params.as_deref().is_some_and(|it| body::get(it, &META_VERSION).is_some());
    frame.params = match params {
        Some(params) if stands_alone && line.open && !line.modern => {
            let paths = [META_VERSION, META_CAPABILITIES, META_CLIENT];
            Some(
                paths
                    .iter()
                    .fold(params, |params, path| body::remove(&params, path).unwrap_or(params)),
            )
        }
        params
            if !stands_alone
                && line.open
                && !line.handshake
                && !method.starts_with("notifications/") =>
        {
            let params = params.unwrap_or_else(|| raw(json!({})));
            let params = body::set(&params, &META_VERSION, &raw(STATELESS)).unwrap_or(params);
            Some(body::set(&params, &META_CAPABILITIES, &raw(json!({}))).unwrap_or(params))
        }
        params => params,
    };
}

/// What the connection says in a backend's place gets the backend's name.
fn name_backend(frame: &mut Frame, backend: &str) {
    let own = frame.error.as_deref().and_then(|error| {
        body::text(error, &["data", REASON])?;
        let message = body::text(error, &["message"])?;
        body::set(error, &["message"], &raw(format!("{backend}: {message}")))
    });
    frame.error = own.or(frame.error.take());
}

/// Whether an answer says that nobody could be reached.
pub fn is_away(frame: &Frame) -> bool {
    let error = frame.error.as_deref();
    error.and_then(|error| body::text(error, &["data", REASON])).as_deref() == Some(AWAY)
}

/// The id in the params of a frame.
pub fn named(frame: &Frame, path: &[&str]) -> Option<Id> {
    Id::parse(body::get(frame.params.as_deref()?, path)?)
}

/// The text in the params of a frame.
pub fn text(frame: &Frame, path: &[&str]) -> Option<String> {
    body::text(frame.params.as_deref()?, path)
}

/// Whether a request stands for itself.
pub fn is_modern(frame: &Frame) -> bool {
    own_version(frame).is_some()
}

/// Puts an id at `path` of the params.
pub fn rename(frame: &mut Frame, path: &[&str], id: &Id) {
    let params = frame.params.take();
    let renamed =
        params.as_deref().and_then(|params: &RawValue| body::set(params, path, &id.to_raw()));
    frame.params = renamed.or(params);
}

fn number(id: &Id) -> Option<u64> {
    id.as_json().trim_matches('"').parse().ok()
}

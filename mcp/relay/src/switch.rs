//! Who waits for which answer: frames from one connection to another, under numbers that are unique here.
//!
//! Clients and backends are ends alike: each asks, and is asked. All of it changes under one lock and without waiting, so
//! that a frame is routed by what is true when it comes. Invariants: a request is answered once, to whom it belongs, under
//! the id it came with; a backend that takes nothing holds up nobody but those who call it; whoever works in vain hears of
//! it once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mcp_wire::frame::{Frame, Id, code};
use mcp_wire::headers::{META_CAPABILITIES, META_PROGRESS, META_VERSION, STATELESS};
use mcp_wire::{Writer, body};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::Instant;

use crate::backend::Backend;
use crate::lifecycle::{Refusal, raw};
use crate::lines::name_backend;
use crate::routing::Routing;
use crate::subscriptions::Subscription;

/// Frames that wait for a backend; one more is refused.
pub const OUTBOX: usize = 1024;
/// For a backend that is away to come back while a request waits.
pub const AWAY_PATIENCE: Duration = Duration::from_secs(10);
/// For a client's answer: a user may be asked.
const DAY: Duration = Duration::from_secs(86_400);
const META_CLIENT: [&str; 2] = ["_meta", "io.modelcontextprotocol/clientInfo"];

/// All connections, and what is under way.
#[derive(Default)]
pub struct State {
    last: u64,
    /// In the order of the file.
    pub backends: Vec<Backend>,
    pub routing: Routing,
    pub clients: BTreeMap<u64, Client>,
    pub lines: BTreeMap<u64, Line>,
    /// Requests that wait for an answer, by their number here.
    pub flights: BTreeMap<u64, Flight>,
    pub subscriptions: Vec<Subscription>,
    /// Of tools, prompts, resources: whether clients do not know yet that they have changed.
    pub changed: [bool; 3],
    /// What goes to clients as soon as the lock is free.
    pub out: Vec<(u64, Writer, Frame)>,
}

/// A client.
pub struct Client {
    pub writer: Writer,
    /// The params of its `initialize`.
    pub hello: Value,
    /// Answers that the relay itself is at.
    pub working: usize,
    /// Rings when an answer has gone out, and when the client is sent away.
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
    /// The relay's own subscription, until it is acknowledged.
    pub listening: Option<u64>,
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
    /// The client or the line that has to answer.
    pub to: u64,
    token: Option<Id>,
    until: Instant,
    began: Instant,
}

/// Who has asked.
pub enum Origin {
    /// A client or a line, under this id.
    End(u64, Id),
    /// A client's subscription; without an id it belongs to the session.
    Subscription(u64, Option<Id>),
    /// The relay itself.
    Own(oneshot::Sender<Frame>),
}

impl Flight {
    /// The client, or the line, that waits for the answer, and its id.
    pub fn asker(&self) -> Option<(u64, &Id)> {
        match &self.from {
            Origin::End(end, id) => Some((*end, id)),
            _ => None,
        }
    }

    /// Whether a client has asked for it, as `id`.
    fn is_of(&self, client: u64, id: &Id) -> bool {
        match &self.from {
            Origin::End(end, its) => *end == client && its == id,
            Origin::Subscription(end, its) => *end == client && its.as_ref() == Some(id),
            Origin::Own(_) => false,
        }
    }
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

    /// Hands a frame to a client or a line, behind those before it; false when it takes no more.
    pub fn tell(&mut self, end: u64, frame: Frame) -> bool {
        if let Some(client) = self.clients.get(&end) {
            self.out.push((end, client.writer.clone(), frame));
            return true;
        }
        let Some(line) = self.lines.get_mut(&end) else { return false };
        if line.open {
            return line.outbox.try_send(frame).is_ok();
        }
        let room = line.held.len() < OUTBOX;
        if room {
            line.held.push(frame);
            line.retry.notify_one();
        }
        room
    }

    /// Asks a client or a line for another.
    pub fn ask(&mut self, from: Origin, to: u64, mut frame: Frame) -> u64 {
        let mut limit = DAY;
        if let Some(line) = self.lines.get(&to) {
            adapt(&mut frame, line);
            limit = if line.open { line.timeout } else { AWAY_PATIENCE };
        }
        let number = self.take_off(&mut frame, from, to, limit);
        if let Some(line) = self.lines.get(&to) {
            let (backend, method) = (&line.backend, frame.method.as_deref());
            tracing::info!(call = number, backend, method, "asked");
        }
        if !self.tell(to, frame) {
            let backend = self.lines.get(&to).map_or("the server", |line| &line.backend);
            let why = format!("{backend} is not connected, or too much waits for it already");
            self.end(number, &Refusal::new(code::INTERNAL_ERROR, why));
        }
        number
    }

    /// Asks a line for the relay itself.
    pub fn ask_own(
        &mut self,
        line: u64,
        method: &str,
        params: Value,
    ) -> (u64, oneshot::Receiver<Frame>) {
        let (waiting, answer) = oneshot::channel();
        let mut frame = Frame::request(0, method, params);
        let number = self.take_off(&mut frame, Origin::Own(waiting), line, DAY);
        let sent = self.lines.get(&line).is_some_and(|line| line.outbox.try_send(frame).is_ok());
        if !sent {
            self.flights.remove(&number);
        }
        (number, answer)
    }

    /// Puts a request under its number here.
    fn take_off(&mut self, frame: &mut Frame, from: Origin, to: u64, limit: Duration) -> u64 {
        let number = self.next();
        let token = frame.names(&META_PROGRESS);
        if token.is_some() {
            frame.rename(&META_PROGRESS, &Id::from(number));
        }
        frame.id = Some(Id::from(number));
        let began = Instant::now();
        let flight = Flight {
            from,
            to,
            token,
            until: began + limit,
            began,
        };
        self.flights.insert(number, flight);
        number
    }

    /// The request under way at this end that an id of ours names.
    pub fn flight(&self, to: u64, id: Option<&Id>) -> Option<(u64, &Flight)> {
        let number = number(id?)?;
        self.flights.get(&number).filter(|flight| flight.to == to).map(|flight| (number, flight))
    }

    /// An answer of a client or a line.
    pub fn answer(&mut self, by: u64, mut frame: Frame) {
        let found = self.flight(by, frame.id.as_ref()).map(|(number, _)| number);
        let Some((number, flight)) = found.and_then(|it| Some((it, self.flights.remove(&it)?)))
        else {
            return;
        };
        let backend = self.lines.get(&by).map(|line| line.backend.clone());
        let (ms, failed) = (flight.began.elapsed().as_millis(), frame.error.is_some());
        match (flight.from, backend) {
            (Origin::Own(waiting), _) => {
                self.heard(number, if failed { Some(Vec::new()) } else { None });
                _ = waiting.send(frame);
            }
            (Origin::Subscription(..), _) => self.heard(number, Some(Vec::new())),
            (Origin::End(end, id), backend) => {
                if let Some(backend) = backend {
                    tracing::info!(call = number, backend, ms, failed, "answered");
                    name_backend(&mut frame, &backend);
                }
                frame.id = Some(id);
                self.tell(end, frame);
                self.ring(end);
            }
        }
        self.leave(by);
    }

    /// Progress, to whom it belongs.
    pub fn progress(&mut self, by: u64, mut frame: Frame) {
        let limit = self.lines.get(&by).map_or(DAY, |line| line.timeout);
        let token = frame.names(&["progressToken"]);
        let Some((number, _)) = self.flight(by, token.as_ref()) else { return };
        let Some(flight) = self.flights.get_mut(&number) else { return };
        flight.until = Instant::now() + limit;
        if let (Origin::End(end, id), Some(token)) = (&flight.from, &flight.token) {
            let end = *end;
            frame.about = Some(id.clone());
            frame.rename(&["progressToken"], token);
            self.tell(end, frame);
        }
    }

    /// Ends a request in the place of the one who was asked.
    pub fn end(&mut self, number: u64, refusal: &Refusal) {
        let Some(flight) = self.flights.remove(&number) else { return };
        self.take_back(flight.to, number);
        match flight.from {
            Origin::End(end, id) => {
                self.tell(end, refusal.answer(Some(id)));
                self.ring(end);
            }
            Origin::Own(waiting) => _ = waiting.send(refusal.answer(None)),
            Origin::Subscription(..) => self.heard(number, Some(Vec::new())),
        }
        self.leave(flight.to);
    }

    /// An end gives up a request of its own. Told once, and only when it is under way still.
    pub fn cancel(&mut self, from: u64, id: &Id, frame: &Frame) {
        let its = self.flights.iter().filter(|(_, flight)| flight.is_of(from, id));
        let its: Vec<_> = its.map(|(number, _)| *number).collect();
        its.into_iter().for_each(|number| self.give_up(number, frame.clone()));
        self.subscriptions.retain(|it| it.client != from || it.id.as_ref() != Some(id));
        self.ring(from);
    }

    fn give_up(&mut self, number: u64, mut frame: Frame) {
        let Some(flight) = self.flights.remove(&number) else { return };
        if !self.take_back(flight.to, number) {
            frame.rename(&["requestId"], &Id::from(number));
            self.tell(flight.to, frame);
        }
        self.leave(flight.to);
    }

    /// Whether a request had not left yet.
    fn take_back(&mut self, line: u64, number: u64) -> bool {
        let Some(line) = self.lines.get_mut(&line) else { return false };
        let held = line.held.len();
        line.held.retain(|frame| frame.id != Some(Id::from(number)));
        line.held.len() < held
    }

    /// Whether a client waits for something.
    pub fn waits(&self, client: u64) -> bool {
        let mut askers = self.flights.values().filter_map(Flight::asker);
        self.clients.get(&client).is_some_and(|it| it.working > 0)
            || askers.any(|(end, _)| end == client)
    }

    pub fn ring(&self, client: u64) {
        self.clients.get(&client).into_iter().for_each(|client| client.bell.notify_one());
    }

    /// Closes a line that is leaving when nothing is under way there any more.
    fn leave(&mut self, line: u64) {
        let leaving = self.lines.get(&line).is_some_and(|line| line.leaving);
        if leaving && !self.flights.values().any(|flight| flight.to == line) {
            self.lines.remove(&line);
        }
    }

    /// Lets a connection end behind what clients have under way there.
    pub fn retire(&mut self, line: u64) {
        if let Some(line) = self.lines.get_mut(&line) {
            line.leaving = true;
        }
        let own = self.flights.extract_if(.., |_, it| it.to == line && it.asker().is_none());
        let own: Vec<_> = own.map(|(number, _)| number).collect();
        own.into_iter().for_each(|number| self.heard(number, Some(Vec::new())));
        self.leave(line);
    }

    /// Forgets a client: what it asked is cancelled, what it was asked is refused.
    pub fn forget_client(&mut self, client: u64) {
        self.clients.remove(&client);
        self.subscriptions.retain(|it| it.client != client);
        let asked = self.flights.iter().filter(|(_, flight)| flight.to == client);
        for number in asked.map(|(number, _)| *number).collect::<Vec<_>>() {
            self.end(number, &Refusal::new(code::INTERNAL_ERROR, "the client is gone"));
        }
        let own = |from: &Origin| matches!(from, Origin::End(it, _) | Origin::Subscription(it, _) if *it == client);
        let asking = self.flights.iter().filter(|(_, flight)| own(&flight.from));
        for number in asking.map(|(number, _)| *number).collect::<Vec<_>>() {
            let reason = json!({ "requestId": number, "reason": "the client is gone" });
            self.give_up(number, Frame::notification("notifications/cancelled", reason));
        }
        self.lines.retain(|_, line| line.only != Some(client));
        self.flights
            .retain(|_, it| self.lines.contains_key(&it.to) || self.clients.contains_key(&it.to));
    }

    /// Ends what has waited for too long.
    pub fn expire(&mut self, now: Instant) {
        let late = self.flights.iter().filter(|(_, it)| it.until <= now && it.asker().is_some());
        for (number, to) in late.map(|(number, it)| (*number, it.to)).collect::<Vec<_>>() {
            let Some(line) = self.lines.get(&to) else { continue };
            let (name, limit) = (line.backend.clone(), line.timeout.as_secs());
            let error = self.backend(&name).and_then(|backend| backend.error.clone());
            let why = if self.take_back(to, number) {
                let error = error.unwrap_or_else(|| "it has not answered yet".to_owned());
                format!("{name} cannot be reached: {error}")
            } else {
                let reason = json!({ "requestId": number, "reason": "no answer in time" });
                self.tell(to, Frame::notification("notifications/cancelled", reason));
                format!(
                    "{name} has not answered within {limit} s; nobody knows whether it has done what was asked"
                )
            };
            self.end(number, &Refusal::new(code::INTERNAL_ERROR, why));
        }
        self.acknowledge(now);
    }

    /// The handshake of a line is over: what waited goes out, in its order.
    pub fn open_line(&mut self, number: u64) {
        let Some(line) = self.lines.get_mut(&number) else { return };
        line.open = true;
        let (held, until) = (std::mem::take(&mut line.held), Instant::now() + line.timeout);
        let waiting = self.flights.values_mut().filter(|flight| flight.to == number);
        waiting.for_each(|flight| flight.until = until);
        for mut frame in held {
            adapt(&mut frame, &self.lines[&number]);
            self.tell(number, frame);
        }
    }
}

/// Puts a client's request into the lifecycle of its backend, as soon as that is known.
fn adapt(frame: &mut Frame, line: &Line) {
    if frame.method.as_deref().is_none_or(|method| method.starts_with("notifications/"))
        || !line.open
    {
        return;
    }
    let params = frame.params.take().unwrap_or_else(|| raw(json!({})));
    let alone = body::get(&params, &META_VERSION).is_some();
    let with = |params: Box<RawValue>, path: &[&str], value: Value| {
        body::set(&params, path, &raw(value)).unwrap_or(params)
    };
    let without =
        |params: Box<RawValue>, path: &[&str]| body::remove(&params, path).unwrap_or(params);
    frame.params = Some(match (alone, line.modern, line.handshake) {
        (true, false, _) => [META_VERSION, META_CAPABILITIES, META_CLIENT]
            .iter()
            .fold(params, |it, path| without(it, path)),
        (false, _, false) => {
            with(with(params, &META_VERSION, json!(STATELESS)), &META_CAPABILITIES, json!({}))
        }
        _ => params,
    });
}

/// The text in the params of a frame.
pub fn text(frame: &Frame, path: &[&str]) -> Option<String> {
    body::text(frame.params.as_deref()?, path)
}

fn number(id: &Id) -> Option<u64> {
    id.as_json().trim_matches('"').parse().ok()
}

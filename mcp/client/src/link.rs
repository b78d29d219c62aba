//! A connection that survives: what is above sees one connection, what is below is opened as often as it takes.
//!
//! One ordered task moves frames both ways and knows what is under way. When a transport breaks, a session is lost or a
//! token has expired, it opens, greets or logs in again and repeats what [`errors::decide`] says. Invariants: every
//! request is answered once; nothing is sent a second time unless that table says so; frames stay in order.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use hyper::header::HeaderValue;
use kit::BoxFuture;
use mcp_wire::frame::{Frame, Id, Kind, code};
use mcp_wire::{Closed, Connection, Error, Reader, Writer, body};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};

use crate::errors::{self, Class, Seen, classify, decide};
use crate::login::{Challenge, Login};
use crate::transport::{Dialer, Opened, Process};

/// Requests that wait while there is no connection; one more is refused.
const WAITING: usize = 1024;
/// For answers that are still due when the client has no more to say.
const GOODBYE: Duration = Duration::from_secs(2);
/// The first pause between two attempts, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// The last words of methods that read, set or greet. What nobody knows may act.
const REPEATABLE: [&str; 11] = [
    "list",
    "read",
    "get",
    "ping",
    "initialize",
    "discover",
    "setLevel",
    "subscribe",
    "unsubscribe",
    "complete",
    "listen",
];

/// How it stands with a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Not connected yet, or not any more and about to be.
    #[default]
    Pending,
    /// The server has answered.
    Connected,
    /// It cannot be reached, and why; after it has once been there, attempts go on.
    Failed(Arc<str>),
    /// Somebody has to log in, and how.
    NeedsAuth(Arc<str>),
    /// The configuration switches it off.
    Disabled,
}

/// A random part of a pause, so that many clients do not come back at once.
pub type Jitter = Arc<dyn Fn(Duration) -> Duration + Send + Sync>;

/// How patient a connection is.
#[derive(Clone)]
pub struct Patience {
    /// For a connection to open, and for `initialize`.
    pub connect: Duration,
    /// For a request to wait while the server is away.
    pub away: Duration,
    /// Chance.
    pub jitter: Jitter,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(30),
            away: Duration::from_secs(10),
            jitter: Arc::new(full_jitter),
        }
    }
}

fn full_jitter(most: Duration) -> Duration {
    most.mul_f64(f64::from(getrandom::u32().unwrap_or_default()) / f64::from(u32::MAX))
}

/// What an error of this crate's own making carries in `data`, so that what is above can tell them apart.
pub const REASON: &str = "mcp_client";
/// The server cannot be reached.
pub const AWAY: &str = "connection";
/// The connection broke while the server may have been acting.
pub const UNKNOWN: &str = "outcome-unknown";
/// Somebody has to log in.
pub const LOGIN: &str = "needs-auth";

/// Holds a connection to a server; it is opened when the first frame is to be sent. The task ends, and with it the
/// server's process, when the connection is dropped.
pub fn hold(
    dialer: Dialer,
    login: Arc<dyn Login>,
    patience: Patience,
) -> (Connection, watch::Receiver<State>, JoinHandle<()>) {
    let (near, far) = Connection::pair();
    let (state, states) = watch::channel(State::Pending);
    let link = Link {
        dialer: Arc::new(dialer),
        login,
        patience,
        state,
        front: far.writer,
        up: VecDeque::new(),
        waiting: VecDeque::new(),
        flights: HashMap::new(),
        asked: HashSet::new(),
        safe_tools: HashSet::new(),
        hello: None,
        greet: false,
        alive: false,
        first: None,
        failures: 0,
        attempts: 0,
        remedied: false,
        greetings: 0,
        sequence: 0,
        logins: 0,
        reason: "it is not connected".into(),
        phase: Phase::Closed,
        back: None,
        sending: None,
        in_hand: None,
        telling: None,
        away: None,
        goodbye: None,
    };
    (near, states, tokio::spawn(link.run(far.reader)))
}

struct Link {
    dialer: Arc<Dialer>,
    login: Arc<dyn Login>,
    patience: Patience,
    state: watch::Sender<State>,
    front: Writer,
    /// For the client.
    up: VecDeque<Frame>,
    /// For the server.
    waiting: VecDeque<Flight>,
    /// Requests that were handed to the transport.
    flights: HashMap<Id, Flight>,
    /// Requests of the server, on this connection.
    asked: HashSet<Id>,
    /// Tools that do no harm when they are called twice, as `tools/list` said.
    safe_tools: HashSet<String>,
    /// The client's `initialize`.
    hello: Option<Frame>,
    /// Whether `initialize` must come before all else.
    greet: bool,
    /// Whether the server has ever answered.
    alive: bool,
    /// When it must have, for the first time.
    first: Option<Instant>,
    /// Failures without an answer in between.
    failures: u32,
    /// Pauses without an answer in between.
    attempts: u32,
    /// A login has been tried for the connection itself.
    remedied: bool,
    greetings: u64,
    sequence: u64,
    logins: u64,
    /// Why there is no connection.
    reason: Arc<str>,
    phase: Phase,
    back: Option<Back>,
    sending: Option<BoxFuture<'static, Result<(), Closed>>>,
    /// What is being sent.
    in_hand: Option<Flight>,
    telling: Option<BoxFuture<'static, Result<(), Closed>>>,
    /// The server is away, and until then requests wait for it.
    away: Option<Instant>,
    /// The client has no more to say; the answers have until then.
    goodbye: Option<Instant>,
}

struct Back {
    writer: Writer,
    reader: Reader,
    process: Option<Process>,
}

/// A frame on its way to the server.
struct Flight {
    frame: Frame,
    order: u64,
    /// A login or a new session has been tried for it.
    remedied: bool,
    /// How often it was sent again although the server may have acted.
    repeats: u32,
    /// The logins before it was sent.
    logins: u64,
}

enum Phase {
    /// Nobody needs a connection.
    Closed,
    Opening(BoxFuture<'static, Result<Opened, Error>>),
    /// Our own `initialize` is under way.
    Greeting(Instant),
    LoggingIn(BoxFuture<'static, Result<(), String>>, Vec<Flight>),
    Pausing(Instant),
    Open,
}

/// What a phase has come to.
enum Step {
    Opened(Result<Opened, Error>),
    LoggedIn(Result<(), String>),
}

impl Link {
    async fn run(mut self, mut client: Reader) {
        loop {
            self.start_moving();
            let idle = self.up.is_empty() && self.telling.is_none();
            let done = idle && self.waiting.is_empty() && self.flights.is_empty();
            if self.goodbye.is_some() && done && self.sending.is_none() {
                break;
            }
            let deadline = self.deadline();
            tokio::select! {
                frame = client.recv(), if self.goodbye.is_none() && self.has_room() => match frame {
                    Some(Ok(frame)) => self.client_says(frame),
                    _ => self.goodbye = Some(Instant::now() + GOODBYE),
                },
                // Nobody reads: nobody waits for an answer either.
                () = self.front.closed() => break,
                came = receive(&mut self.back), if self.up.is_empty() => match came {
                    Ok(frame) => self.server_says(frame),
                    Err(error) => self.trouble(error),
                },
                sent = finish(&mut self.sending) => if sent.is_ok()
                    && let Some(flight) = self.in_hand.take()
                    && let Some(id) = request(&flight.frame)
                {
                    self.flights.insert(id, flight);
                },
                _ = finish(&mut self.telling) => {}
                step = self.phase.step() => match step {
                    Step::Opened(Ok(opened)) => self.opened(opened),
                    Step::Opened(Err(error)) => self.trouble(error),
                    Step::LoggedIn(done) => self.logged_in(done),
                },
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {
                    if self.goodbye.is_some_and(|until| until <= Instant::now()) {
                        break;
                    }
                    self.expire();
                }
            }
        }
        // What is being sent would hold the connection open.
        (self.sending, self.telling) = (None, None);
        match self.back {
            Some(Back {
                process: Some(process),
                ..
            }) => process.stop().await,
            Some(Back {
                writer, mut reader, ..
            }) => {
                drop(writer);
                // It ends when the session is over.
                let ending = async { while reader.recv().await.is_some() {} };
                let _ = timeout(GOODBYE, ending).await;
            }
            None => {}
        }
    }

    /// A client that is faster than its server waits; while the server is away it is read, for it may cancel.
    fn has_room(&self) -> bool {
        self.waiting.is_empty() || !matches!(self.phase, Phase::Open)
    }

    /// Begins to hand on the next frame in each direction, and to connect when there is something to send.
    fn start_moving(&mut self) {
        if self.telling.is_none()
            && let Some(frame) = self.up.pop_front()
        {
            let front = self.front.clone();
            self.telling = Some(Box::pin(async move { front.send(frame).await }));
        }
        if matches!(self.phase, Phase::Closed) && !self.waiting.is_empty() {
            self.proceed();
        }
        if self.sending.is_some() || !matches!(self.phase, Phase::Open) {
            return;
        }
        let Some(mut flight) = self.waiting.pop_front() else {
            return;
        };
        flight.logins = self.logins;
        if !self.alive
            && (flight.frame.calls("initialize") || flight.frame.calls("server/discover"))
        {
            self.first = Some(Instant::now() + self.patience.connect);
        }
        self.send(flight.frame.clone());
        self.in_hand = Some(flight);
    }

    /// Takes back what has not left yet.
    fn recall(&mut self) {
        if let Some(flight) = self.in_hand.take() {
            self.sending = None;
            self.waiting.push_front(flight);
        }
    }

    fn send(&mut self, frame: Frame) {
        let Some(back) = &self.back else { return };
        let (writer, login, dialer) =
            (back.writer.clone(), self.login.clone(), self.dialer.clone());
        self.sending = Some(Box::pin(async move {
            if !dialer.url().is_empty() {
                let header: Option<HeaderValue> = login.authorization().await;
                dialer.authorize(header);
            }
            writer.send(frame).await
        }));
    }

    /// What comes next on the way to an open connection.
    fn proceed(&mut self) {
        if self.back.is_none() {
            let (dialer, login) = (self.dialer.clone(), self.login.clone());
            let limit = self.patience.connect;
            self.phase = Phase::Opening(Box::pin(async move {
                if !dialer.url().is_empty() {
                    dialer.authorize(login.authorization().await);
                }
                let late = |_| {
                    Err(Error::Broken(format!(
                        "it did not connect within {limit:?}"
                    )))
                };
                timeout(limit, dialer.open()).await.unwrap_or_else(late)
            }));
            return;
        }
        self.phase = Phase::Open;
        if let Some(hello) = self.hello.clone().filter(|_| self.greet) {
            self.greetings += 1;
            self.recall();
            self.send(Frame {
                id: Some(self.own_id()),
                ..hello
            });
            self.phase = Phase::Greeting(Instant::now() + self.patience.connect);
        }
    }

    /// The id of our own `initialize`.
    fn own_id(&self) -> Id {
        Id::from(&*format!("mcp_client/{}", self.greetings))
    }

    fn opened(&mut self, opened: Opened) {
        let Opened {
            connection,
            process,
        } = opened;
        let Connection { writer, reader } = connection;
        self.back = Some(Back {
            writer,
            reader,
            process,
        });
        self.proceed();
    }

    fn logged_in(&mut self, done: Result<(), String>) {
        let Phase::LoggingIn(_, held) = std::mem::replace(&mut self.phase, Phase::Closed) else {
            return;
        };
        match done {
            Ok(()) => {
                self.logins += 1;
                self.wait_again(held);
                self.proceed();
            }
            Err(why) => self.needs_login(held, &why),
        }
    }

    fn needs_login(&mut self, held: Vec<Flight>, why: &str) {
        self.state.send_replace(State::NeedsAuth(why.into()));
        held.into_iter()
            .for_each(|flight| self.refuse(flight, LOGIN, why));
        match self.back {
            Some(_) if !self.greet => self.phase = Phase::Open,
            // Nobody else can be served before somebody logs in; the next request tries again.
            _ => {
                self.reason = why.into();
                self.close(LOGIN);
            }
        }
    }

    fn client_says(&mut self, frame: Frame) {
        match frame.kind() {
            // The question was asked on a connection that is gone.
            Kind::Response if !frame.id.as_ref().is_some_and(|id| self.asked.remove(id)) => return,
            Kind::Notification if frame.calls("notifications/cancelled") => {
                let Some(id) = cancelled(&frame) else { return };
                let is_it = |flight: &Flight| request(&flight.frame).as_ref() == Some(&id);
                if self.in_hand.as_ref().is_some_and(is_it) {
                    self.recall();
                }
                self.waiting.retain(|flight| !is_it(flight));
                if let Phase::LoggingIn(_, held) = &mut self.phase {
                    held.retain(|flight| !is_it(flight));
                }
                // Late, or never sent: the server need not know.
                if self.flights.remove(&id).is_none() {
                    return;
                }
            }
            Kind::Request if frame.calls("initialize") => {
                self.hello = Some(frame.clone());
                self.greet = false;
            }
            _ => {}
        }
        self.sequence += 1;
        let flight = Flight {
            frame,
            order: self.sequence,
            remedied: false,
            repeats: 0,
            logins: self.logins,
        };
        // Whoever asks a server that has been away for long hears so at once.
        if self.waiting.len() >= WAITING || self.away.is_some_and(|until| until <= Instant::now()) {
            let reason = self.reason.clone();
            self.refuse(flight, AWAY, &reason);
        } else {
            self.waiting.push_back(flight);
        }
    }

    fn server_says(&mut self, frame: Frame) {
        self.alive = true;
        match frame.kind() {
            Kind::Response if frame.id == Some(self.own_id()) => return self.greeted(&frame),
            Kind::Response => {
                let flight = frame.id.as_ref().and_then(|id| self.flights.remove(id));
                // An answer to what was given up, or was asked on another connection.
                let Some(flight) = flight else { return };
                if frame.error.is_some() && flight.frame.calls("initialize") {
                    self.hello = None;
                }
                if let Some(result) = frame
                    .result
                    .as_deref()
                    .filter(|_| flight.frame.calls("tools/list"))
                {
                    self.learn(result);
                }
                self.connected();
            }
            Kind::Request => _ = frame.id.clone().map(|id| self.asked.insert(id)),
            Kind::Notification => {}
        }
        self.up.push_back(frame);
    }

    fn connected(&mut self) {
        (self.failures, self.attempts, self.remedied, self.away) = (0, 0, false, None);
        self.state.send_if_modified(|state| {
            std::mem::replace(state, State::Connected) != State::Connected
        });
    }

    fn greeted(&mut self, answer: &Frame) {
        if let Some(error) = answer.error.as_deref() {
            let why = body::text(error, &["message"]).unwrap_or_default();
            return self.trouble(Error::Broken(format!(
                "the server refuses initialize: {why}"
            )));
        }
        (self.greet, self.phase) = (false, Phase::Open);
        self.connected();
        let told = Frame::notification("notifications/initialized", ());
        self.waiting.push_front(Flight {
            frame: told,
            order: 0,
            remedied: false,
            repeats: 0,
            logins: self.logins,
        });
    }

    /// Remembers which tools may be called twice.
    fn learn(&mut self, result: &RawValue) {
        let tools = body::get(result, &["tools"])
            .map(RawValue::get)
            .unwrap_or("[]");
        let tools: Vec<&RawValue> = serde_json::from_str(tools).unwrap_or_default();
        for tool in tools {
            let Some(name) = body::text(tool, &["name"]) else {
                continue;
            };
            let hint = |key| {
                body::get(tool, &["annotations", key]).is_some_and(|hint| hint.get() == "true")
            };
            if hint("readOnlyHint") || hint("idempotentHint") {
                self.safe_tools.insert(name);
            } else {
                self.safe_tools.remove(&name);
            }
        }
    }

    /// Whether a request does no harm when it is made again. One that ends its server each time is not made for ever.
    fn is_repeatable(&self, flight: &Flight) -> bool {
        let Flight { frame, repeats, .. } = flight;
        let harmless = if frame.calls("tools/call") {
            let params = frame.params.as_deref();
            let name = params.and_then(|params| body::text(params, &["name"]));
            name.is_some_and(|name| self.safe_tools.contains(&name))
        } else {
            let method = frame.method.as_deref().unwrap_or_default();
            REPEATABLE.contains(&method.rsplit('/').next().unwrap_or_default())
        };
        harmless && *repeats < errors::IN_A_ROW
    }

    fn trouble(&mut self, error: Error) {
        let class = classify(&error);
        let own = self.own_id();
        let about = error.id().cloned().or_else(|| match &error {
            Error::NotAFrame(not) => not.id.clone(),
            _ => None,
        });
        let opening = matches!(self.phase, Phase::Opening(_));
        let greeting = about.as_ref() == Some(&own);
        let flight = about.and_then(|id| self.flights.remove(&id));
        tracing::info!(%error, ?class, "trouble");
        let transport = matches!(
            class,
            Class::Broken | Class::Unsent | Class::Unanswered | Class::Protocol
        );
        self.failures += u32::from(transport || opening || greeting);
        let seen = Seen {
            alive: self.alive,
            in_a_row: self.failures,
            repeatable: flight
                .as_ref()
                .is_some_and(|flight| self.is_repeatable(flight)),
            remedied: flight
                .as_ref()
                .map_or(self.remedied, |flight| flight.remedied),
        };
        let (mut link, call) = decide(class, seen);
        if (opening || greeting) && link == errors::Link::Keep {
            link = if self.alive {
                errors::Link::Reopen
            } else {
                errors::Link::Close
            };
        }
        let text: Arc<str> = error.to_string().into();
        if (opening || greeting) && call == errors::Call::NeedsLogin {
            return self.needs_login(Vec::new(), &text);
        }
        let mut held = Vec::new();
        if let Some(mut flight) = flight {
            match call {
                errors::Call::Again => {
                    flight.remedied |= !transport;
                    flight.repeats += u32::from(class != Class::Unsent && transport);
                    held.push(flight);
                }
                errors::Call::Fail if transport => self.refuse(flight, AWAY, &text),
                errors::Call::Fail => self.refuse(flight, "refused", &text),
                errors::Call::Unknown => self.refuse(flight, UNKNOWN, &unknown(&text)),
                errors::Call::NeedsLogin => {
                    self.state.send_replace(State::NeedsAuth(text.clone()));
                    self.refuse(flight, LOGIN, &text);
                }
            }
        }
        match link {
            errors::Link::Keep => {}
            errors::Link::Login => return self.log_in(&error, held),
            errors::Link::Greet if self.hello.is_some() => {
                self.greet = true;
                self.wait_again(held);
                if !matches!(self.phase, Phase::Greeting(_)) || greeting {
                    self.proceed();
                }
                return;
            }
            errors::Link::Greet => {}
            errors::Link::Pause => self.pause(text),
            errors::Link::Reopen => {
                self.wait_again(std::mem::take(&mut held));
                self.hang_up(&text);
                self.pause(text);
            }
            errors::Link::Close => {
                self.reason = text;
                self.close(AWAY);
            }
        }
        self.wait_again(held);
    }

    fn log_in(&mut self, error: &Error, mut held: Vec<Flight>) {
        // Refused with a token that has been replaced since: the new one may do.
        if held.iter().all(|flight| flight.logins < self.logins) && !held.is_empty() {
            held.iter_mut().for_each(|flight| flight.remedied = false);
            return self.wait_again(held);
        }
        if let Phase::LoggingIn(_, others) = &mut self.phase {
            return others.append(&mut held);
        }
        let Error::Refused {
            status, challenge, ..
        } = error
        else {
            return;
        };
        let challenge = Challenge {
            url: self.dialer.url().to_owned(),
            status: *status,
            www_authenticate: challenge.clone(),
        };
        self.remedied |= held.is_empty();
        let login = self.login.clone();
        let attempt = Box::pin(async move { login.challenged(challenge).await });
        self.phase = Phase::LoggingIn(attempt, held);
    }

    /// In front of what waits already, in the order in which they came.
    fn wait_again(&mut self, mut held: Vec<Flight>) {
        held.sort_by_key(|flight| std::cmp::Reverse(flight.order));
        held.into_iter()
            .for_each(|flight| self.waiting.push_front(flight));
    }

    /// Rests before the next attempt: 1 s, 2 s, 4 s, to a minute, and of that a random part.
    fn pause(&mut self, why: Arc<str>) {
        self.reason = why.clone();
        if matches!(self.phase, Phase::Pausing(_) | Phase::LoggingIn(..)) {
            return;
        }
        self.state.send_replace(State::Failed(why));
        let patience = Instant::now() + self.patience.away;
        self.away.get_or_insert(patience);
        let doubled = PAUSES.0 * 2_u32.pow(self.attempts.min(6));
        self.attempts += 1;
        let pause = (self.patience.jitter)(doubled.min(PAUSES.1));
        self.phase = Phase::Pausing(Instant::now() + pause);
    }

    /// Leaves the connection; what was under way waits for the next one, or is given up.
    fn hang_up(&mut self, why: &str) {
        let Some(back) = self.back.take() else { return };
        if let Some(process) = back.process {
            tokio::spawn(process.stop());
        }
        self.recall();
        (self.sending, self.failures) = (None, 0);
        self.asked.clear();
        self.waiting
            .retain(|flight| flight.frame.kind() != Kind::Response);
        self.greet = self.hello.is_some();
        let mut again = Vec::new();
        for (_, mut flight) in std::mem::take(&mut self.flights) {
            if self.is_repeatable(&flight) {
                flight.repeats += 1;
                again.push(flight);
            } else {
                self.refuse(flight, UNKNOWN, &unknown(why));
            }
        }
        self.wait_again(again);
    }

    /// The server was never there: all who wait hear so, and the next request tries again.
    fn close(&mut self, tag: &str) {
        let why = self.reason.clone();
        if tag == AWAY {
            self.state.send_replace(State::Failed(why.clone()));
        }
        self.hang_up(&why);
        if let Phase::LoggingIn(_, held) = std::mem::replace(&mut self.phase, Phase::Closed) {
            self.wait_again(held);
        }
        for flight in std::mem::take(&mut self.waiting) {
            self.refuse(flight, tag, &why);
        }
    }

    /// Answers a request in the server's place.
    fn refuse(&mut self, flight: Flight, tag: &str, why: &str) {
        let Some(id) = request(&flight.frame) else {
            return;
        };
        let error =
            json!({ "code": code::INTERNAL_ERROR, "message": why, "data": { REASON: tag } });
        self.up.push_back(Frame {
            id: Some(id),
            error: Some(raw(error)),
            ..Frame::default()
        });
    }

    /// When something is due.
    fn deadline(&self) -> Option<Instant> {
        let phase = match &self.phase {
            Phase::Pausing(until) | Phase::Greeting(until) => Some(*until),
            Phase::Open => self.first.filter(|_| !self.alive),
            _ => None,
        };
        let away = self.away.filter(|_| !self.waiting.is_empty());
        [phase, away, self.goodbye].into_iter().flatten().min()
    }

    fn expire(&mut self) {
        let now = Instant::now();
        if self.away.is_some_and(|until| until <= now) {
            let reason = self.reason.clone();
            for flight in std::mem::take(&mut self.waiting) {
                self.refuse(flight, AWAY, &reason);
            }
        }
        match self.phase {
            Phase::Pausing(until) if until <= now => self.proceed(),
            Phase::Greeting(until) if until <= now => {
                self.trouble(Error::Broken(
                    "the server does not answer initialize".to_owned(),
                ));
            }
            Phase::Open if !self.alive && self.first.is_some_and(|until| until <= now) => {
                let limit = self.patience.connect;
                self.trouble(Error::Broken(format!(
                    "the server does not answer within {limit:?}"
                )));
            }
            _ => {}
        }
    }
}

impl Phase {
    async fn step(&mut self) -> Step {
        match self {
            Self::Opening(opening) => Step::Opened(opening.await),
            Self::LoggingIn(login, _) => Step::LoggedIn(login.await),
            _ => std::future::pending().await,
        }
    }
}

async fn receive(back: &mut Option<Back>) -> Result<Frame, Error> {
    let Some(back) = back else {
        return std::future::pending().await;
    };
    match (back.reader.recv().await, &mut back.process) {
        (Some(came), _) => came,
        (None, Some(process)) => Err(Error::Broken(process.last_words().await)),
        (None, None) => Err(Error::Broken(
            "the server has closed the connection".to_owned(),
        )),
    }
}

async fn finish(moving: &mut Option<BoxFuture<'static, Result<(), Closed>>>) -> Result<(), Closed> {
    let Some(future) = moving else {
        return std::future::pending().await;
    };
    let done = future.await;
    *moving = None;
    done
}

fn unknown(why: &str) -> String {
    format!(
        "{why}; nobody knows whether the server has done what was asked, so it is not asked again"
    )
}

/// Text of JSON that is made here.
pub(crate) fn raw(value: impl serde::Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(&value).expect("it is JSON")
}

fn request(frame: &Frame) -> Option<Id> {
    frame.id.clone().filter(|_| frame.kind() == Kind::Request)
}

fn cancelled(frame: &Frame) -> Option<Id> {
    Id::parse(body::get(frame.params.as_deref()?, &["requestId"])?)
}

//! A connection that survives: what is above sees one connection, what is below is opened as often as it takes.
//!
//! One ordered task moves frames both ways and knows what is under way. When a transport breaks, a session is lost or a
//! token has expired, it opens, greets or logs in again and repeats what [`decide`](crate::errors::decide) says. Invariants: every
//! request is answered once; nothing is sent a second time unless that table says so; frames stay in order.

mod mend;
mod state;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use kit::BoxFuture;
use mcp_wire::frame::{Frame, Id, Kind};
use mcp_wire::{Connection, Error, Reader, Writer, body};
use serde_json::value::RawValue;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};

use crate::login::Login;
use crate::transport::{Dialer, Opened};

pub use state::{AWAY, Jitter, LOGIN, Patience, REASON, State, UNKNOWN};

/// Requests that wait while there is no connection; one more is refused.
const WAITING: usize = 1024;
/// For answers that are still due when the client has no more to say.
const GOODBYE: Duration = Duration::from_secs(2);

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
        client: far.writer,
        server: None,
        phase: Phase::Closed,
        until: None,
        busy: None,
        telling: None,
        sending: None,
        goodbye: None,
        work: Work::default(),
        health: Health::default(),
    };
    (near, states, tokio::spawn(link.run(far.reader)))
}

struct Link {
    dialer: Arc<Dialer>,
    login: Arc<dyn Login>,
    patience: Patience,
    state: watch::Sender<State>,
    client: Writer,
    server: Option<Opened>,
    phase: Phase,
    /// When the phase has lasted too long, or long enough.
    until: Option<Instant>,
    /// What the phase waits for.
    busy: Option<BoxFuture<'static, Step>>,
    /// A frame on its way to the client.
    telling: Option<BoxFuture<'static, bool>>,
    /// A frame on its way to the server; whether it got there.
    sending: Option<BoxFuture<'static, bool>>,
    /// The client has no more to say; the answers have until then.
    goodbye: Option<Instant>,
    work: Work,
    health: Health,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nobody needs a connection.
    Closed,
    Opening,
    /// Our own `initialize` is under way.
    Greeting,
    LoggingIn,
    Pausing,
    Open,
}

/// What a phase has come to.
enum Step {
    Opened(Result<Opened, Error>),
    LoggedIn(Result<(), String>),
}

/// What is under way.
#[derive(Default)]
struct Work {
    /// For the client.
    up: VecDeque<Frame>,
    /// For the server.
    waiting: VecDeque<Flight>,
    /// What is being sent; none when it is our own.
    in_hand: Option<Flight>,
    /// Requests that the transport has.
    flights: HashMap<Id, Flight>,
    /// Requests that wait for a login.
    held: Vec<Flight>,
    /// Requests of the server, on this connection.
    asked: HashSet<Id>,
    /// Frames of the client so far.
    count: u64,
    /// Tools that do no harm when they are called twice, as `tools/list` said.
    safe_tools: HashSet<String>,
}

/// What has happened to the connection.
#[derive(Default)]
struct Health {
    /// The client's `initialize`.
    hello: Option<Frame>,
    /// It must come before all else.
    greet: bool,
    /// How often it was repeated.
    greetings: u64,
    /// Whether the server has ever said anything.
    alive: bool,
    /// Failures without an answer in between.
    failures: u32,
    /// Pauses without an answer in between.
    attempts: u32,
    /// The server is away, for `reason`, and until then requests wait for it.
    away: Option<Instant>,
    reason: Arc<str>,
    /// Logins so far.
    logins: u64,
    /// A login has been tried for the connection itself.
    remedied: bool,
}

/// A frame on its way to the server.
#[derive(Default)]
struct Flight {
    frame: Frame,
    /// The frames of the client before it.
    order: u64,
    /// A login or a new session has been tried for it.
    remedied: bool,
    /// How often it was sent again although the server may have acted.
    repeats: u32,
    /// The logins before it was sent.
    logins: u64,
}

impl Flight {
    /// Its id, when it is a request.
    fn request(&self) -> Option<Id> {
        self.frame.id.clone().filter(|_| self.frame.kind() == Kind::Request)
    }
}

impl Link {
    async fn run(mut self, mut frames: Reader) {
        loop {
            self.start_moving();
            let done = self.work.waiting.is_empty()
                && self.work.flights.is_empty()
                && self.work.up.is_empty();
            if self.goodbye.is_some() && done && self.sending.is_none() && self.telling.is_none() {
                break;
            }
            let away = self.health.away.filter(|_| !self.work.waiting.is_empty());
            let deadline = [self.until, away, self.goodbye].into_iter().flatten().min();
            tokio::select! {
                frame = frames.recv(), if self.goodbye.is_none() && self.has_room() => match frame {
                    Some(Ok(frame)) => self.client_says(frame),
                    _ => self.goodbye = Some(Instant::now() + GOODBYE),
                },
                // Nobody reads: nobody waits for an answer either.
                () = self.client.closed() => break,
                came = receive(&mut self.server), if self.work.up.is_empty() => match came {
                    Ok(frame) => self.server_says(frame),
                    Err(error) => self.trouble(&error),
                },
                left = finish(&mut self.sending) => if left
                    && let Some(flight) = self.work.in_hand.take()
                    && let Some(id) = flight.request()
                {
                    self.work.flights.insert(id, flight);
                },
                _ = finish(&mut self.telling) => {}
                step = finish(&mut self.busy) => match step {
                    Step::Opened(Ok(opened)) => {
                        self.server = Some(opened);
                        self.proceed();
                    }
                    Step::Opened(Err(error)) => self.trouble(&error),
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
        self.sending = None;
        let Some(server) = self.server else { return };
        if let Some(process) = server.process {
            return process.stop().await;
        }
        let Connection { writer, mut reader } = server.connection;
        drop(writer);
        // It ends when the session is over.
        let ending = async { while reader.recv().await.is_some() {} };
        let _ = timeout(GOODBYE, ending).await;
    }

    /// A client that is faster than its server waits; while the server is away it is read, for it may cancel.
    fn has_room(&self) -> bool {
        self.work.waiting.is_empty() || self.phase != Phase::Open
    }

    /// Begins to hand on the next frame in each direction, and to connect when there is something to send.
    fn start_moving(&mut self) {
        if self.telling.is_none()
            && let Some(frame) = self.work.up.pop_front()
        {
            let client = self.client.clone();
            self.telling = Some(Box::pin(async move { client.send(frame).await.is_ok() }));
        }
        if self.phase == Phase::Closed && !self.work.waiting.is_empty() {
            self.proceed();
        }
        if self.phase == Phase::Open
            && self.sending.is_none()
            && let Some(mut flight) = self.work.waiting.pop_front()
        {
            flight.logins = self.health.logins;
            let first = flight.frame.calls("initialize") || flight.frame.calls("server/discover");
            if first && !self.health.alive {
                self.until = Some(Instant::now() + self.patience.connect);
            }
            self.send(flight.frame.clone());
            self.work.in_hand = Some(flight);
        }
    }

    fn send(&mut self, frame: Frame) {
        let Some(server) = &self.server else { return };
        let (writer, authorized) = (server.connection.writer.clone(), self.authorized());
        self.sending = Some(Box::pin(async move {
            authorized.await;
            writer.send(frame).await.is_ok()
        }));
    }

    /// Puts the login's header in place.
    fn authorized(&self) -> impl Future<Output = ()> + Send + 'static {
        let (dialer, login) = (self.dialer.clone(), self.login.clone());
        async move {
            if !dialer.url().is_empty() {
                dialer.authorize(login.authorization().await);
            }
        }
    }

    fn enter(&mut self, phase: Phase, until: Option<Instant>) {
        (self.phase, self.until, self.busy) = (phase, until, None);
    }

    /// What comes next on the way to an open connection.
    fn proceed(&mut self) {
        let limit = self.patience.connect;
        if self.server.is_none() {
            self.enter(Phase::Opening, None);
            let (dialer, authorized) = (self.dialer.clone(), self.authorized());
            self.busy = Some(Box::pin(async move {
                authorized.await;
                let late = |_| Err(Error::Broken(format!("it did not connect within {limit:?}")));
                Step::Opened(timeout(limit, dialer.open()).await.unwrap_or_else(late))
            }));
            return;
        }
        self.enter(Phase::Open, None);
        if let Some(hello) = self.health.hello.clone().filter(|_| self.health.greet) {
            self.health.greetings += 1;
            self.recall();
            self.send(Frame {
                id: Some(self.own_id()),
                ..hello
            });
            self.enter(Phase::Greeting, Some(Instant::now() + limit));
        }
    }

    /// The id of our own `initialize`.
    fn own_id(&self) -> Id {
        Id::from(&*format!("mcp_client/{}", self.health.greetings))
    }

    fn client_says(&mut self, frame: Frame) {
        match frame.kind() {
            // The question was asked on a connection that is gone.
            Kind::Response if !frame.id.as_ref().is_some_and(|id| self.work.asked.remove(id)) => {
                return;
            }
            Kind::Notification if frame.calls("notifications/cancelled") => {
                let id =
                    frame.params.as_deref().and_then(|params| body::get(params, &["requestId"]));
                let Some(id) = id.and_then(Id::parse) else {
                    return;
                };
                let is_it = |flight: &Flight| flight.request().as_ref() == Some(&id);
                if self.work.in_hand.as_ref().is_some_and(is_it) {
                    self.recall();
                }
                self.work.waiting.retain(|flight| !is_it(flight));
                self.work.held.retain(|flight| !is_it(flight));
                // Late, or never sent: the server need not know.
                if self.work.flights.remove(&id).is_none() {
                    return;
                }
            }
            Kind::Request if frame.calls("initialize") => {
                (self.health.hello, self.health.greet) = (Some(frame.clone()), false);
            }
            _ => {}
        }
        self.work.count += 1;
        let flight = Flight {
            frame,
            order: self.work.count,
            ..Flight::default()
        };
        // Whoever asks a server that has been away for long hears so at once.
        let away = self.health.away.is_some_and(|until| until <= Instant::now());
        if away || self.work.waiting.len() >= WAITING {
            let reason = self.health.reason.clone();
            self.refuse(&flight, AWAY, &reason);
        } else {
            self.work.waiting.push_back(flight);
            self.hurry();
        }
    }

    fn server_says(&mut self, frame: Frame) {
        if !std::mem::replace(&mut self.health.alive, true) && self.phase == Phase::Open {
            self.until = None;
        }
        match frame.kind() {
            Kind::Response if frame.id == Some(self.own_id()) => return self.greeted(&frame),
            Kind::Response => {
                let flight = frame.id.as_ref().and_then(|id| self.work.flights.remove(id));
                // An answer to what was given up, or was asked on another connection.
                let Some(Flight { frame: asked, .. }) = flight else {
                    return;
                };
                if frame.error.is_some() && asked.calls("initialize") {
                    self.health.hello = None;
                }
                if asked.calls("tools/list")
                    && let Some(result) = &frame.result
                {
                    self.learn(result);
                }
                self.connected();
            }
            Kind::Request => _ = frame.id.clone().map(|id| self.work.asked.insert(id)),
            Kind::Notification => {}
        }
        self.work.up.push_back(frame);
    }

    fn connected(&mut self) {
        let health = &mut self.health;
        (health.failures, health.attempts, health.remedied, health.away) = (0, 0, false, None);
        self.state.send_if_modified(|state| {
            std::mem::replace(state, State::Connected) != State::Connected
        });
    }
}

async fn receive(server: &mut Option<Opened>) -> Result<Frame, Error> {
    let Some(server) = server else {
        return std::future::pending().await;
    };
    match (server.connection.reader.recv().await, &mut server.process) {
        (Some(came), _) => came,
        (None, Some(process)) => Err(Error::Broken(process.last_words().await)),
        (None, None) => Err(Error::Broken("the server has closed the connection".to_owned())),
    }
}

async fn finish<T>(moving: &mut Option<BoxFuture<'static, T>>) -> T {
    let Some(future) = moving else {
        return std::future::pending().await;
    };
    let done = future.await;
    *moving = None;
    done
}

/// Text of JSON that is made here.
pub(crate) fn raw(value: impl serde::Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(&value).expect("it is JSON")
}

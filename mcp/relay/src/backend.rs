//! One backend: its connection, what it lists, and how it is.
//!
//! The connection itself survives by [`mcp_client::link`]; here it is greeted, asked for its lists, and asked again whenever
//! it came back or says that they have changed. Invariant: a backend that hangs, refuses or talks nonsense delays its own
//! tools and nobody else's.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_client::link::{self, AWAY, REASON, State as LinkState};
use mcp_client::login::NoLogin;
use mcp_client::transport::Dialer;
use mcp_wire::frame::{Frame, code};
use mcp_wire::headers::STATELESS;
use mcp_wire::{Connection, body};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::{Instant, sleep, timeout};

use crate::config::Entry;
use crate::relay::Relay;
use crate::routing::{LISTS, Listing, Routing};
use crate::subscriptions::alone;
use crate::switch::{Line, OUTBOX, State};

/// For an answer to what the relay itself asks.
const ANSWER: Duration = Duration::from_secs(30);
/// For a server to say that it does not know later revisions.
const PROBE: Duration = Duration::from_secs(2);
/// The most pages of a list.
const PAGES: usize = 1000;

/// One backend.
pub struct Backend {
    pub entry: Entry,
    /// Its connection, 0 when it is switched off.
    pub line: u64,
    /// What it listed last.
    pub listing: Listing,
    /// Its answer to the greeting.
    pub hello: Value,
    pub connected: bool,
    /// Whether connecting has come to anything yet.
    pub tried: bool,
    /// Since when it is tried, and how long the first outcome took.
    pub began: Instant,
    pub took: Option<Duration>,
    pub error: Option<String>,
    /// The connections of those clients that have one for themselves.
    pub own: HashMap<u64, u64>,
}

/// How it is with a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// Not yet attempted.
    Unknown,
    /// Connected, all tools valid.
    Healthy,
    /// Connected, but some tools are invalid, or errors are there.
    Degraded,
    /// The connection has failed.
    Failed,
}

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl Backend {
    /// How it is, when so many of its tools are invalid.
    pub fn health(&self, invalid: usize) -> Health {
        match (self.tried, self.connected) {
            (false, _) => Health::Unknown,
            (true, false) => Health::Failed,
            (true, true) if invalid > 0 || self.error.is_some() => Health::Degraded,
            (true, true) => Health::Healthy,
        }
    }

    /// The connection over which a client reaches it.
    pub fn line_of(&self, client: u64) -> u64 {
        self.own.get(&client).copied().unwrap_or(self.line)
    }

    /// Lets its connections end behind what is under way there.
    pub fn retire(&self, state: &mut State) {
        self.own.values().chain([&self.line]).for_each(|line| state.retire(*line));
    }

    /// Whether something may come of connecting still.
    pub fn settles(&self) -> bool {
        self.entry.enabled && !self.tried
    }
}

/// Opens a connection for a backend, for one client or for all, and keeps it.
pub fn open(
    relay: &Arc<Relay>,
    state: &mut State,
    entry: &Entry,
    only: Option<(u64, Value)>,
) -> u64 {
    let number = state.next();
    let dialer = match Dialer::new(&entry.server) {
        Ok(dialer) => dialer,
        Err(why) => {
            tracing::error!(backend = entry.name(), "{why}");
            return 0;
        }
    };
    let (connection, states, link) = link::hold(dialer, Arc::new(NoLogin), relay.patience.clone());
    let Connection { mut reader, writer } = connection;
    let (outbox, mut queue) = mpsc::channel::<Frame>(OUTBOX);
    // Ends when the line is taken out, behind what was sent before.
    tokio::spawn(async move {
        while let Some(frame) = queue.recv().await {
            if writer.send(frame).await.is_err() {
                return;
            }
        }
    });
    let going = relay.going();
    tokio::spawn(async move {
        let _ = link.await;
        drop(going);
    });
    let (retry, relist) = <(Arc<Notify>, Arc<Notify>)>::default();
    tokio::spawn({
        let relay = relay.clone();
        async move {
            while let Some(Ok(frame)) = reader.recv().await {
                relay.with(|state| state.line_says(number, frame)).await;
            }
        }
    });
    let keeper = Keeper {
        relay: relay.clone(),
        line: number,
        name: entry.name().to_owned(),
        hello: only.as_ref().map_or_else(own_hello, |(_, hello)| hello.clone()),
        main: only.is_none(),
        retry: retry.clone(),
        relist: relist.clone(),
    };
    tokio::spawn(keeper.keep(states));
    let line = Line {
        backend: entry.name().to_owned(),
        outbox,
        open: false,
        held: Vec::new(),
        leaving: false,
        modern: false,
        handshake: true,
        only: only.map(|(client, _)| client),
        retry,
        relist,
        told: [false; 3],
        listening: None,
        timeout: entry.timeout,
    };
    state.lines.insert(number, line);
    number
}

/// What the relay says of itself where all clients share a connection: any of them may be asked.
fn own_hello() -> Value {
    json!({
        "protocolVersion": crate::lifecycle::REVISIONS[0],
        "capabilities": { "roots": { "listChanged": true }, "sampling": {}, "elicitation": {} },
        "clientInfo": { "name": "mcp_relay", "version": env!("CARGO_PKG_VERSION") },
    })
}

/// Keeps one connection greeted and its lists up to date.
struct Keeper {
    relay: Arc<Relay>,
    line: u64,
    name: String,
    hello: Value,
    /// The one that all clients share; its lists are the backend's.
    main: bool,
    retry: Arc<Notify>,
    relist: Arc<Notify>,
}

impl Keeper {
    async fn keep(self, mut states: watch::Receiver<LinkState>) {
        let (mut pause, longest) = self.relay.patience.pauses;
        let hello = loop {
            match self.greet().await {
                Ok(hello) => break hello,
                Err(why) => self.judge(false, Some(why)),
            }
            let waiting =
                self.relay.peek(|state| Some(!state.lines.get(&self.line)?.held.is_empty()));
            let Some(waiting) = waiting else { return };
            let rest = (self.relay.patience.jitter)(pause);
            let rest = if waiting { rest.min(self.relay.patience.hurry) } else { rest };
            tokio::select! {
                () = sleep(rest) => {}
                () = self.retry.notified() => sleep(rest.min(self.relay.patience.hurry)).await,
            }
            pause = (pause * 2).min(longest);
        };
        loop {
            states.mark_unchanged();
            if self.main {
                match self.list(&hello).await {
                    Ok(listing) => self.listed(&hello, listing).await,
                    Err((away, why)) => self.judge(!away, Some(why)),
                }
            }
            self.relay
                .with(|state| {
                    state.forget_asked(self.line);
                    state.subscribe();
                })
                .await;
            loop {
                tokio::select! {
                    () = self.relist.notified() => break,
                    changed = states.changed() => if changed.is_err() { return },
                }
                let state = states.borrow_and_update().clone();
                match state {
                    LinkState::Connected => break,
                    LinkState::Failed(why) | LinkState::NeedsAuth(why) => {
                        self.judge(false, Some(why.to_string()));
                    }
                    LinkState::Pending | LinkState::Disabled => {}
                }
            }
        }
    }

    async fn ask(&self, method: &str, params: Value) -> Frame {
        let answer = self.relay.peek(|state| state.ask_own(self.line, method, params).1);
        let silent = |why: &str| Frame::error(None, code::INTERNAL_ERROR, why);
        match timeout(ANSWER, answer).await {
            Ok(answer) => answer.unwrap_or_else(|_| silent("the connection is closed")),
            Err(_) => silent(&format!("no answer to {method} within {ANSWER:?}")),
        }
    }

    /// Greets the server and finds out which lifecycles it knows.
    async fn greet(&self) -> Result<Value, String> {
        let greeting = self.ask("initialize", self.hello.clone()).await;
        let (hello, handshake) = match (&greeting.result, &greeting.error) {
            (Some(hello), _) => (value(hello), true),
            (None, error) => {
                let error = value(error.as_deref().unwrap_or(RawValue::NULL));
                let unknown =
                    [code::METHOD_NOT_FOUND, code::UNSUPPORTED_VERSION, code::INVALID_PARAMS];
                if !unknown.iter().any(|code| error["code"] == *code) {
                    return Err(sentence(&error));
                }
                (Value::Null, false)
            }
        };
        if handshake {
            let told = Frame::notification("notifications/initialized", ());
            self.relay
                .peek(|state| state.lines.get(&self.line).map(|line| line.outbox.try_send(told)));
        }
        let found = timeout(PROBE, self.ask("server/discover", json!({ "_meta": alone() }))).await;
        let found = found.ok().and_then(|found| Some(value(found.result.as_deref()?)));
        let versions = found.as_ref().map(|found| &found["supportedVersions"]);
        let modern = versions
            .and_then(Value::as_array)
            .is_some_and(|it| it.iter().any(|it| it == STATELESS));
        let hello = match found {
            Some(found) if !handshake => found,
            None if !handshake => {
                return Err("it knows neither initialize nor server/discover".to_owned());
            }
            _ => hello,
        };
        self.relay.with(|state| {
            if let Some(line) = state.lines.get_mut(&self.line) {
                (line.modern, line.handshake) = (modern, handshake);
            }
            state.open_line(self.line);
            if modern && self.main {
                let wanted = json!({ "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true });
                let listen = json!({ "notifications": wanted, "_meta": alone() });
                let (number, _) = state.ask_own(self.line, "subscriptions/listen", listen);
                state.lines.get_mut(&self.line).into_iter().for_each(|it| it.listening = Some(number));
            }
        }).await;
        Ok(hello)
    }

    /// Reads all lists; the error says whether the server is away, and why.
    async fn list(&self, hello: &Value) -> Result<Listing, (bool, String)> {
        let mut listing = Listing::default();
        for (at, (capability, method, key)) in LISTS.into_iter().enumerate() {
            if hello["capabilities"][capability].is_null() {
                continue;
            }
            let mut cursor = None;
            for _ in 0..PAGES {
                let mut params =
                    cursor.as_ref().map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
                let session = |state: &mut State| {
                    state.lines.get(&self.line).is_none_or(|line| line.handshake)
                };
                if !self.relay.peek(session) {
                    params["_meta"] = alone();
                }
                let answer = self.ask(method, params).await;
                let Some(result) = &answer.result else {
                    let error = value(answer.error.as_deref().unwrap_or(RawValue::NULL));
                    // Not every server with resources has templates.
                    if at == 2 && error["code"] == code::METHOD_NOT_FOUND {
                        break;
                    }
                    return Err((is_away(&answer), format!("{method}: {}", sentence(&error))));
                };
                let part = body::get(result, &[key])
                    .map(|it| serde_json::from_str::<Vec<Box<RawValue>>>(it.get()));
                let Some(Ok(part)) = part else {
                    return Err((
                        false,
                        format!("Invalid response structure: {method} without a list of {key}"),
                    ));
                };
                listing[at].extend(part);
                match body::text(result, &["nextCursor"]) {
                    Some(next) if cursor.as_ref() != Some(&next) => cursor = Some(next),
                    _ => break,
                }
            }
        }
        Ok(listing)
    }

    /// Takes a listing over, and tells of it.
    async fn listed(&self, hello: &Value, listing: Listing) {
        self.relay
            .with(|state| {
                let Some(backend) = state.backends.iter_mut().find(|it| it.line == self.line)
                else {
                    return;
                };
                (backend.connected, backend.tried, backend.error) = (true, true, None);
                backend.took.get_or_insert(backend.began.elapsed());
                (backend.hello, backend.listing) = (hello.clone(), listing);
                if let Some(line) = state.lines.get_mut(&self.line) {
                    let told = std::mem::take(&mut line.told).into_iter();
                    state.changed.iter_mut().zip(told).for_each(|(changed, told)| *changed |= told);
                }
                state.reroute();
                let (tools, invalid) = &state.routing.tools[&self.name];
                for why in invalid {
                    tracing::warn!("Invalid tool from {}: {why}", self.name);
                }
                let health = state.backend(&self.name).map(|it| it.health(invalid.len()));
                let health = health.unwrap_or(Health::Unknown);
                tracing::info!("{}: {health} ({} tools)", self.name, tools.len());
            })
            .await;
        self.relay.judged();
    }

    /// Says how it is.
    fn judge(&self, connected: bool, error: Option<String>) {
        if !self.main {
            return;
        }
        let error = error.map(|error| kit::cut(&kit::one_line(&error), 300));
        self.relay.peek(|state| {
            let Some(backend) = state.backends.iter_mut().find(|it| it.line == self.line) else {
                return;
            };
            if backend.error != error || backend.connected != connected {
                tracing::warn!("{}: {}", self.name, error.as_deref().unwrap_or("connected"));
            }
            (backend.connected, backend.tried, backend.error) = (connected, true, error);
            backend.took.get_or_insert(backend.began.elapsed());
        });
        self.relay.judged();
    }
}

impl State {
    /// Makes the routing anew, and sees what has changed for clients.
    pub fn reroute(&mut self) {
        let backends = self.backends.iter().filter(|it| it.entry.enabled);
        let new = Routing::new(backends.map(|it| (&it.entry, &it.listing)), &crate::manage::NAMES);
        let old = std::mem::replace(&mut self.routing, new);
        for (at, kind) in [0, 2, 2, 1].into_iter().enumerate() {
            let items = |routing: &Routing| {
                routing.tables[at].items.iter().map(|it| it.get().to_owned()).collect::<Vec<_>>()
            };
            self.changed[kind] |= items(&old) != items(&self.routing);
        }
    }
}

fn value(raw: &RawValue) -> Value {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

/// What an error says.
fn sentence(error: &Value) -> String {
    error["message"].as_str().map_or_else(|| error.to_string(), str::to_owned)
}

/// Whether an answer says that nobody could be reached.
fn is_away(frame: &Frame) -> bool {
    let error = frame.error.as_deref();
    error.and_then(|error| body::text(error, &["data", REASON])).as_deref() == Some(AWAY)
}

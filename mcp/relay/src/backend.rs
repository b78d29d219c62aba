//! One backend: its connection, what it lists, and how it is.
//!
//! The connection itself survives by [`mcp_client::link`]; here it is greeted, asked for its lists, and asked again whenever
//! it came back or says that they have changed. Invariant: a backend that hangs, refuses or talks nonsense delays its own
//! tools and nobody else's.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use mcp_client::link::{self, State as LinkState};
use mcp_client::login::NoLogin;
use mcp_client::transport::Dialer;
use mcp_wire::frame::{Frame, code};
use mcp_wire::headers::{META_CAPABILITIES, META_VERSION, STATELESS};
use mcp_wire::{Connection, body};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::{Instant, sleep, timeout};

use crate::config::Entry;
use crate::relay::Relay;
use crate::routing::{LISTS, Listing, Routing};
use crate::switch::{Line, OUTBOX, Side, State, is_away};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

impl Health {
    /// The word that the tools show.
    pub fn word(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Healthy => "healthy",
            Self::Degraded => "degraded",
            Self::Failed => "failed",
        }
    }
}

impl Backend {
    /// How it is, with what the routing says of its tools.
    pub fn health(&self, routing: &Routing) -> Health {
        let invalid =
            routing.tools.get(self.entry.name()).is_some_and(|(_, invalid)| !invalid.is_empty());
        match (self.tried, self.connected) {
            (false, _) => Health::Unknown,
            (true, false) => Health::Failed,
            (true, true) if invalid || self.error.is_some() => Health::Degraded,
            (true, true) => Health::Healthy,
        }
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
                relay.with(|state| relay.line_says(state, number, frame)).await;
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
    let end = Line {
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
        timeout: entry.timeout,
    };
    state.lines.insert(
        number,
        Side {
            end,
            flights: Default::default(),
        },
    );
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

/// The `_meta` of a request that stands for itself.
fn alone() -> Value {
    json!({ META_VERSION[1]: STATELESS, META_CAPABILITIES[1]: {} })
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
        let (first, longest) = self.relay.patience.pauses;
        let mut pause = first;
        let hello = loop {
            match self.greet().await {
                Ok(hello) => break hello,
                Err(why) => self.judge(false, Some(why)).await,
            }
            let waiting =
                self.relay.peek(|state| Some(!state.lines.get(&self.line)?.end.held.is_empty()));
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
                    Err((away, why)) => self.judge(!away, Some(why)).await,
                }
            }
            loop {
                tokio::select! {
                    () = self.relist.notified() => break,
                    changed = states.changed() => if changed.is_err() { return },
                }
                let state = states.borrow_and_update().clone();
                match state {
                    LinkState::Connected => break,
                    LinkState::Failed(why) | LinkState::NeedsAuth(why) => {
                        self.judge(false, Some(why.to_string())).await;
                    }
                    LinkState::Pending | LinkState::Disabled => {}
                }
            }
        }
    }

    async fn ask(&self, method: &str, params: Value) -> Frame {
        let answer = self.relay.peek(|state| state.ask_own(self.line, method, params));
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
            self.relay.peek(|state| {
                state.lines.get(&self.line).map(|side| side.end.outbox.try_send(told))
            });
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
            if let Some(side) = state.lines.get_mut(&self.line) {
                (side.end.modern, side.end.handshake) = (modern, handshake);
            }
            state.open_line(self.line);
            if modern && self.main {
                let wanted = json!({ "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true });
                state.tell_own(self.line, "subscriptions/listen", json!({ "notifications": wanted, "_meta": alone() }));
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
                if !self
                    .relay
                    .peek(|state| state.lines.get(&self.line).is_none_or(|it| it.end.handshake))
                {
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
                let differs = |at: usize| {
                    !listing[at]
                        .iter()
                        .map(|it| it.get())
                        .eq(backend.listing[at].iter().map(|it| it.get()))
                };
                let changed = [differs(0), differs(3), differs(1) || differs(2)];
                (backend.connected, backend.tried, backend.error) = (true, true, None);
                backend.took.get_or_insert(backend.began.elapsed());
                (backend.hello, backend.listing) = (hello.clone(), listing);
                let told =
                    state.lines.get_mut(&self.line).map(|side| std::mem::take(&mut side.end.told));
                for (at, (changed, told)) in
                    changed.into_iter().zip(told.unwrap_or_default()).enumerate()
                {
                    state.changed[at] |= changed || told;
                }
                state.reroute();
                let invalid =
                    state.routing.tools.get(&self.name).map_or(&[][..], |(_, invalid)| invalid);
                invalid
                    .iter()
                    .for_each(|why| tracing::warn!("Invalid tool from {}: {why}", self.name));
                if let Some(backend) = state.backend(&self.name) {
                    let health = backend.health(&state.routing).word();
                    tracing::info!("{}: {health} ({} tools)", self.name, backend.listing[0].len());
                }
                let watched: Vec<_> = state
                    .watched
                    .iter()
                    .filter(|(_, who)| !who.is_empty())
                    .map(|it| it.0.clone())
                    .collect();
                for uri in watched
                    .into_iter()
                    .filter(|uri| state.routing.resource(uri) == Some(&self.name))
                    .collect::<Vec<_>>()
                {
                    state.tell_own(self.line, "resources/subscribe", json!({ "uri": uri }));
                }
            })
            .await;
        self.relay.judged();
    }

    /// Says how it is.
    async fn judge(&self, connected: bool, error: Option<String>) {
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
    /// Makes the routing anew.
    pub fn reroute(&mut self) {
        let backends = self.backends.iter().filter(|it| it.entry.enabled);
        self.routing =
            Routing::new(backends.map(|it| (&it.entry, &it.listing)), &crate::manage::NAMES);
    }
}

fn value(raw: &RawValue) -> Value {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

/// What an error says.
fn sentence(error: &Value) -> String {
    error["message"].as_str().map_or_else(|| error.to_string(), str::to_owned)
}

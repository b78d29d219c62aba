//! The relay: clients in front, backends behind, and what changes while it runs.
//!
//! Invariants: one reload at a time, and of it one `list_changed`; a tool is out of the routing before its backend goes, and
//! calls under way end well; the front answers at once, whoever is still missing behind.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_client::Patience;
use mcp_wire::{Connection, Error};
use serde_json::Value;
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::{Instant, interval, timeout};

use crate::backend::{self, Backend};
use crate::config::Entry;
use crate::front::{LAST_CALLS, Ready};
use crate::reload::{Step, diff};
use crate::switch::{Client, State};

/// How long a list waits, after a start or a change, for backends of which nothing is known yet.
pub const GRACE: Duration = Duration::from_secs(2);
/// For a client to take a frame when others wait behind it.
const STALL: Duration = Duration::from_secs(5);
/// For backends to end when the relay does.
const GOODBYE: Duration = Duration::from_secs(8);

/// The relay.
pub struct Relay {
    state: Mutex<State>,
    pub(crate) patience: Patience,
    /// The file that changes are written to.
    pub(crate) file: Option<PathBuf>,
    ready: Ready,
    /// Held while backends are changed.
    pub(crate) reloading: tokio::sync::Mutex<()>,
    /// Rings when a list may have changed, or a backend has come to something.
    verdicts: watch::Sender<()>,
    /// Since when lists wait for nobody.
    patient_until: Mutex<Instant>,
    /// A clone for each connection that is open still.
    going: Mutex<Option<mpsc::Sender<()>>>,
    gone: tokio::sync::Mutex<mpsc::Receiver<()>>,
}

impl Relay {
    /// Connects to all backends, side by side.
    pub fn start(
        entries: Vec<Entry>,
        file: Option<PathBuf>,
        patience: Patience,
        ready: Ready,
    ) -> Arc<Self> {
        let (going, gone) = mpsc::channel(1);
        let relay = Arc::new(Self {
            state: Mutex::default(),
            patience,
            file,
            ready,
            reloading: tokio::sync::Mutex::default(),
            verdicts: watch::channel(()).0,
            patient_until: Mutex::new(Instant::now() + GRACE),
            going: Mutex::new(Some(going)),
            gone: tokio::sync::Mutex::new(gone),
        });
        relay.peek(|state| {
            for entry in entries {
                let backend = relay.backend(state, entry, None);
                state.backends.push(backend);
            }
        });
        relay.judged();
        tokio::spawn(announce(Arc::downgrade(&relay), relay.verdicts.subscribe()));
        let weak = Arc::downgrade(&relay);
        tokio::spawn(async move {
            let mut ticks = interval(Duration::from_secs(1));
            while let Some(relay) = weak.upgrade() {
                relay.with(|state| state.expire(Instant::now())).await;
                drop(relay);
                ticks.tick().await;
            }
        });
        relay
    }

    /// How patient the relay is with its backends.
    pub fn patience() -> Patience {
        Patience {
            away: crate::switch::AWAY_PATIENCE,
            pauses: (Duration::from_secs(5), Duration::from_secs(300)),
            hurry: Duration::from_millis(250),
            jitter: Arc::new(|most| most / 2 + (Patience::default().jitter)(most / 2)),
            ..Patience::default()
        }
    }

    fn backend(self: &Arc<Self>, state: &mut State, entry: Entry, old: Option<Backend>) -> Backend {
        let line = if entry.enabled { backend::open(self, state, &entry, None) } else { 0 };
        Backend {
            line,
            // Its tools stay where they are while the new connection takes over.
            listing: old.filter(|_| entry.enabled).map(|old| old.listing).unwrap_or_default(),
            hello: Value::Null,
            connected: false,
            tried: entry.enabled && line == 0,
            began: Instant::now(),
            took: None,
            error: (entry.enabled && line == 0)
                .then(|| "a header of the entry cannot be sent".to_owned()),
            entry,
            own: Default::default(),
        }
    }

    /// Looks at the state, or changes what concerns no client.
    pub fn peek<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap())
    }

    /// Changes the state, and sends to clients what comes of it. A client that does not read is sent away when others
    /// wait.
    pub async fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        let (done, out, many) = {
            let mut state = self.state.lock().unwrap();
            let done = work(&mut state);
            (done, std::mem::take(&mut state.out), state.clients.len() > 1)
        };
        for (client, writer, frame) in out {
            let patience = if many { STALL } else { Duration::MAX };
            if timeout(patience, writer.send(frame)).await.is_err() {
                tracing::warn!("a client does not read, and is sent away");
                self.peek(|state| {
                    state.clients.get_mut(&client).into_iter().for_each(|it| it.sent_away = true);
                    state.ring(client);
                });
            }
        }
        done
    }

    pub(crate) fn going(&self) -> Option<mpsc::Sender<()>> {
        self.going.lock().unwrap().clone()
    }

    /// Something has come of a backend.
    pub(crate) fn judged(&self) {
        self.peek(|state| {
            for backend in &state.backends {
                let name = backend.entry.name();
                match &backend.error {
                    _ if !backend.entry.enabled => self.ready.has(name),
                    Some(why) => self.ready.lacks(name, format!("{name}: {why}")),
                    None if backend.settles() => {
                        self.ready.lacks(name, format!("{name}: connecting"))
                    }
                    None => self.ready.has(name),
                }
            }
        });
        self.verdicts.send_replace(());
    }

    /// Waits until it is known of every backend how it is, or until `limit`.
    pub async fn settled(&self, limit: Instant) {
        self.until(limit, |state| !state.backends.iter().any(Backend::settles)).await;
    }

    /// Waits until backends are as is wanted, or until `limit`.
    pub(crate) async fn until(&self, limit: Instant, so: impl Fn(&State) -> bool) {
        let mut verdicts = self.verdicts.subscribe();
        let settled = async {
            while !self.peek(|state| so(state)) {
                if verdicts.changed().await.is_err() {
                    return;
                }
            }
        };
        let _ = tokio::time::timeout_at(limit, settled).await;
    }

    /// Until when a list waits for those who have not come to anything yet.
    pub(crate) fn patient_until(&self) -> Instant {
        *self.patient_until.lock().unwrap()
    }

    /// Goes over to another configuration.
    pub async fn reload(self: &Arc<Self>, entries: Vec<Entry>) {
        let _one = self.reloading.lock().await;
        let old: Vec<_> =
            self.peek(|state| state.backends.iter().map(|it| it.entry.clone()).collect());
        let steps = diff(&old, &entries);
        self.take(steps, &entries);
    }

    /// Takes the steps; `order` is how the file has its entries.
    pub(crate) fn take(self: &Arc<Self>, steps: Vec<Step>, order: &[Entry]) {
        *self.patient_until.lock().unwrap() = Instant::now() + GRACE;
        self.peek(|state| {
            for step in steps {
                match step {
                    Step::Remove(name) => {
                        tracing::info!("{name}: removed");
                        self.ready.has(&name);
                        let at = state.backends.iter().position(|it| it.entry.name() == name);
                        let old = at.map(|at| state.backends.remove(at));
                        state.reroute();
                        old.into_iter().for_each(|old| old.retire(state));
                    }
                    Step::Change(entry) => {
                        tracing::info!("{}: changed", entry.name());
                        let at =
                            state.backends.iter().position(|it| it.entry.name() == entry.name());
                        let Some(old) = at.map(|at| state.backends.remove(at)) else { continue };
                        old.retire(state);
                        let new = self.backend(state, entry, Some(old));
                        state.backends.push(new);
                    }
                    Step::Add(entry) => {
                        tracing::info!("{}: added", entry.name());
                        let new = self.backend(state, entry, None);
                        state.backends.push(new);
                    }
                }
            }
            state
                .backends
                .sort_by_key(|it| order.iter().position(|entry| entry.name() == it.entry.name()));
            state.reroute();
        });
        self.judged();
    }

    /// Serves one client, until it has no more to say and all it asked is answered.
    pub async fn serve(self: Arc<Self>, client: Connection) {
        let Connection { mut reader, writer } = client;
        let bell = Arc::new(Notify::new());
        let number = self.peek(|state| {
            let number = state.next();
            let client = Client {
                writer: writer.clone(),
                hello: Value::Null,
                working: 0,
                bell: bell.clone(),
                sent_away: false,
            };
            state.clients.insert(number, client);
            number
        });
        let sent_away =
            || self.peek(|state| state.clients.get(&number).is_none_or(|it| it.sent_away));
        loop {
            tokio::select! {
                came = reader.recv() => match came {
                    Some(Ok(frame)) => self.client_says(number, frame).await,
                    Some(Err(Error::NotAFrame(not))) => _ = writer.send(not).await,
                    Some(Err(Error::Broken(_))) | None => break,
                    Some(Err(error)) => tracing::debug!(%error, "a client's frame is lost"),
                },
                () = bell.notified() => if sent_away() { break },
            }
        }
        let answered = async {
            while self.peek(|state| state.waits(number)) && !sent_away() {
                bell.notified().await;
            }
        };
        let _ = timeout(LAST_CALLS, answered).await;
        self.with(|state| state.forget_client(number)).await;
    }

    /// Closes all connections to backends, and waits for their processes to end.
    pub async fn close(&self) {
        self.going.lock().unwrap().take();
        self.peek(|state| {
            state.backends.clear();
            state.lines.clear();
            state.flights.clear();
        });
        let mut gone = self.gone.lock().await;
        let _ = timeout(GOODBYE, gone.recv()).await;
    }
}

/// Tells clients of changed lists, once everything that was begun has come to something.
async fn announce(relay: std::sync::Weak<Relay>, mut verdicts: watch::Receiver<()>) {
    while verdicts.changed().await.is_ok() {
        let Some(relay) = relay.upgrade() else { return };
        relay.settled(relay.patient_until()).await;
        relay.with(State::tell_changes).await;
    }
}

//! Who wants to hear of what: changes of lists, which the relay finds out itself, and of resources, which backends tell.
//!
//! Up to 2025-11-25 a session hears of all lists, and subscribes to a resource; from 2026-07-28 on `subscriptions/listen` names
//! both. Invariants: a subscription is acknowledged once, after the backends that it concerns have acknowledged theirs,
//! with what they agreed to; it outlives the connections to them.

use std::collections::{BTreeMap, BTreeSet};

use mcp_wire::body;
use mcp_wire::frame::{Frame, Id};
use mcp_wire::headers::{META_CAPABILITIES, META_SUBSCRIPTION, META_VERSION, STATELESS};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::lifecycle::raw;
use crate::switch::{AWAY_PATIENCE, Origin, State, text};

/// Tools, prompts, resources.
pub const KINDS: [&str; 3] = ["tools", "prompts", "resources"];
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// What one client wants to hear of.
pub struct Subscription {
    pub client: u64,
    /// The id of its `subscriptions/listen`; none for a session itself.
    pub id: Option<Id>,
    /// Of [`KINDS`], whose lists.
    pub lists: [bool; 3],
    /// Resources.
    pub uris: BTreeSet<String>,
    /// On which line a backend was asked for one.
    asked: BTreeMap<String, u64>,
    /// What backends were asked for and have not answered yet, by the request's number.
    awaiting: BTreeMap<u64, Vec<String>>,
    agreed: BTreeSet<String>,
    until: Instant,
    acknowledged: bool,
}

impl Subscription {
    pub fn new(client: u64, id: Option<Id>) -> Self {
        Self {
            client,
            lists: [id.is_none(); 3],
            uris: BTreeSet::new(),
            asked: BTreeMap::new(),
            awaiting: BTreeMap::new(),
            agreed: BTreeSet::new(),
            until: Instant::now() + AWAY_PATIENCE,
            acknowledged: id.is_none(),
            id,
        }
    }

    /// What `subscriptions/listen` asks for; it waits for `begun` to be heard of.
    pub fn of(client: u64, frame: &Frame, begun: u64) -> Self {
        let mut own = Self::new(client, frame.id.clone());
        let wanted = frame.params.as_deref().and_then(|it| body::get(it, &["notifications"]));
        let wanted: Value =
            wanted.map_or(Value::Null, |it| serde_json::from_str(it.get()).unwrap_or_default());
        own.lists = KINDS.map(|kind| wanted[format!("{kind}ListChanged")] == true);
        let uris = wanted["resourceSubscriptions"].as_array().into_iter().flatten();
        own.uris = uris.filter_map(Value::as_str).map(str::to_owned).collect();
        own.awaiting.insert(begun, Vec::new());
        own
    }

    /// Its client has asked for a resource itself.
    pub fn asked_at(&mut self, uri: String, line: u64) {
        self.asked.insert(uri, line);
    }

    /// The notification as this subscription's client gets it.
    fn about(&self, mut frame: Frame) -> Frame {
        let params = frame.params.take();
        frame.params = match &self.id {
            Some(id) => {
                let params = params.unwrap_or_else(|| raw(json!({})));
                body::set(&params, &META_SUBSCRIPTION, &id.to_raw())
            }
            None => params.map(|it| body::remove(&it, &META_SUBSCRIPTION).unwrap_or(it)),
        };
        frame
    }
}

/// The `_meta` of a request that stands for itself.
pub fn alone() -> Value {
    json!({ META_VERSION[1]: STATELESS, META_CAPABILITIES[1]: {} })
}

impl State {
    /// A session hears of all lists from `initialized` on.
    pub fn session(&mut self, client: u64) -> &mut Subscription {
        let is_it = |it: &Subscription| it.client == client && it.id.is_none();
        let at = self.subscriptions.iter().position(is_it).unwrap_or_else(|| {
            self.subscriptions.push(Subscription::new(client, None));
            self.subscriptions.len() - 1
        });
        &mut self.subscriptions[at]
    }

    /// Asks the backends for the resources that clients want to hear of, where they were not asked on this connection.
    pub fn subscribe(&mut self) {
        for at in 0..self.subscriptions.len() {
            let own = &self.subscriptions[at];
            let (client, id) = (own.client, own.id.clone());
            let mut wanted: BTreeMap<u64, Vec<String>> = BTreeMap::new();
            for uri in &own.uris {
                let backend = self.routing.resource(uri).and_then(|name| self.backend(name));
                let line = backend.map_or(0, |backend| backend.line_of(client));
                if self.lines.get(&line).is_some_and(|line| line.open)
                    && own.asked.get(uri) != Some(&line)
                {
                    wanted.entry(line).or_default().push(uri.clone());
                }
            }
            for (line, uris) in wanted {
                let (modern, handshake) = (self.lines[&line].modern, self.lines[&line].handshake);
                let numbers: Vec<_> = if if id.is_some() { modern } else { !handshake } {
                    let filter = json!({ "notifications": { "resourceSubscriptions": uris }, "_meta": alone() });
                    let listen = Frame::request(0, "subscriptions/listen", filter);
                    let number = self.ask(Origin::Subscription(client, id.clone()), line, listen);
                    vec![(number, uris)]
                } else {
                    let subscribe = |uri: String| {
                        let asked =
                            self.ask_own(line, "resources/subscribe", json!({ "uri": uri }));
                        (asked.0, vec![uri])
                    };
                    uris.into_iter().map(subscribe).collect()
                };
                let own = &mut self.subscriptions[at];
                own.asked.extend(
                    numbers.iter().flat_map(|(_, uris)| uris).map(|uri| (uri.clone(), line)),
                );
                own.awaiting.extend(numbers);
            }
        }
        self.subscriptions.iter_mut().for_each(|own| {
            own.awaiting.retain(|number, uris| uris.is_empty() || self.flights.contains_key(number))
        });
    }

    /// A client begins to listen: the relay's own subscriptions must be acknowledged, too.
    pub fn listen(&mut self, client: u64, frame: &Frame) -> u64 {
        let begun = self.next();
        let mut own = Subscription::of(client, frame, begun);
        own.awaiting
            .extend(self.lines.values().filter_map(|line| Some((line.listening?, Vec::new()))));
        self.subscriptions.push(own);
        begun
    }

    /// A session of a backend has begun anew: it knows of no subscription.
    pub fn forget_asked(&mut self, line: u64) {
        if self.lines.get(&line).is_some_and(|line| !line.modern) {
            self.subscriptions.iter_mut().for_each(|own| own.asked.retain(|_, at| *at != line));
        }
    }

    /// A backend has agreed to what it was asked for; to all of it, unless it says to what.
    pub fn heard(&mut self, number: u64, agreed: Option<Vec<String>>) {
        let lines = self.lines.values_mut().filter(|line| line.listening == Some(number));
        lines.for_each(|line| line.listening = None);
        for own in &mut self.subscriptions {
            if let Some(uris) = own.awaiting.remove(&number) {
                own.agreed.extend(agreed.clone().unwrap_or(uris));
            }
        }
        self.acknowledge(Instant::now());
    }

    /// Acknowledges what all backends have agreed to, or what they have agreed to until now when time is up.
    pub fn acknowledge(&mut self, now: Instant) {
        let mut out = Vec::new();
        for own in &mut self.subscriptions {
            if own.acknowledged || !own.awaiting.is_empty() && own.until > now {
                continue;
            }
            own.acknowledged = true;
            let mut filter = json!({});
            for (kind, _) in KINDS.iter().zip(own.lists).filter(|it| it.1) {
                filter[format!("{kind}ListChanged")] = true.into();
            }
            if !own.agreed.is_empty() {
                filter["resourceSubscriptions"] = json!(own.agreed);
            }
            let told = Frame::notification(ACKNOWLEDGED, json!({ "notifications": filter }));
            out.push((own.client, own.about(told)));
        }
        out.into_iter().for_each(|(client, frame)| _ = self.tell(client, frame));
    }

    /// Tells of lists that have changed.
    pub fn tell_changes(&mut self) {
        let changed = std::mem::take(&mut self.changed);
        for (at, kind) in KINDS.iter().enumerate().filter(|(at, _)| changed[*at]) {
            let told = Frame::notification(&format!("notifications/{kind}/list_changed"), ());
            let all = self.subscriptions.iter().filter(|own| own.lists[at] && own.acknowledged);
            let all: Vec<_> = all.map(|own| (own.client, own.about(told.clone()))).collect();
            all.into_iter().for_each(|(client, frame)| _ = self.tell(client, frame));
        }
    }

    /// What a line says of a subscription, or of a resource; whether it was one of the two.
    pub fn line_tells(&mut self, line: u64, frame: &Frame) -> bool {
        let about = frame.names(&META_SUBSCRIPTION);
        let flight = self.flight(line, about.as_ref());
        if frame.calls(ACKNOWLEDGED) {
            let agreed = frame
                .params
                .as_deref()
                .and_then(|it| body::get(it, &["notifications", "resourceSubscriptions"]));
            let agreed =
                agreed.and_then(|it| serde_json::from_str(it.get()).ok()).unwrap_or_default();
            if let Some((number, _)) = flight {
                self.heard(number, Some(agreed));
            }
            return true;
        }
        let of = match flight {
            Some((_, flight)) => match &flight.from {
                Origin::Subscription(client, id) => Some((*client, id.clone())),
                _ => None,
            },
            None => None,
        };
        if of.is_none() && !frame.calls("notifications/resources/updated") {
            return false;
        }
        let uri = text(frame, &["uri"]);
        let (only, modern) = self.lines.get(&line).map_or((None, false), |it| (it.only, it.modern));
        let hears = |own: &&Subscription| match &of {
            Some((client, id)) => own.client == *client && own.id == *id,
            // One that listens is told by its own subscription there.
            None => {
                uri.as_ref().is_some_and(|uri| own.uris.contains(uri))
                    && only.is_none_or(|only| only == own.client)
                    && (own.id.is_none() || !modern)
            }
        };
        let all = self.subscriptions.iter().filter(|own| own.acknowledged).filter(hears);
        let all: Vec<_> = all.map(|own| (own.client, own.about(frame.clone()))).collect();
        all.into_iter().for_each(|(client, frame)| _ = self.tell(client, frame));
        true
    }
}

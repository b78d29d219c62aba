//! What a client says, and where it goes.
//!
//! Invariant: a body is opened only for the name that decides where it goes; what nobody knows goes on all the same.

use std::sync::Arc;
use std::time::Duration;

use kit::BoxFuture;
use mcp_wire::body;
use mcp_wire::frame::{Frame, Id, Kind, code};
use mcp_wire::headers::META_SUBSCRIPTION;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::backend::open;
use crate::lifecycle::{self, About, Refusal, raw};
use crate::manage;
use crate::relay::Relay;
use crate::routing::LISTS;
use crate::switch::{AWAY_PATIENCE, State, is_modern, named, text};

/// What of a backend's instructions goes on, in characters.
const INSTRUCTIONS: usize = 1000;

impl Relay {
    /// A frame of a client.
    pub(crate) async fn client_says(self: &Arc<Self>, client: u64, frame: Frame) {
        let method = frame.method.clone().unwrap_or_default();
        match (frame.kind(), &*method) {
            (Kind::Response, _) => self.peek(|state| state.client_answers(client, frame)),
            (Kind::Request, _) => self.request(client, frame, true).await,
            (_, "notifications/initialized") => self.peek(|state| {
                state.clients.get_mut(&client).into_iter().for_each(|it| it.end.initialized = true);
            }),
            (_, "notifications/cancelled") => {
                if let Some(id) = named(&frame, &["requestId"]) {
                    self.with(|state| state.client_cancels(client, &id, &frame)).await;
                }
            }
            _ => self.peek(|state| {
                let lines = state
                    .lines
                    .iter()
                    .filter(|(_, it)| it.end.open && it.end.only.is_none_or(|own| own == client));
                let lines: Vec<_> = lines.map(|(line, _)| *line).collect();
                lines.into_iter().for_each(|line| _ = state.tell_line(line, frame.clone()));
            }),
        }
    }

    /// A request; `early` when those who may answer it may be missing still.
    fn request(self: &Arc<Self>, client: u64, frame: Frame, early: bool) -> BoxFuture<'static, ()> {
        let relay = self.clone();
        Box::pin(async move { relay.requested(client, frame, early).await })
    }

    async fn requested(self: Arc<Self>, client: u64, frame: Frame, early: bool) {
        let method = frame.method.clone().unwrap_or_default();
        if &*method == "initialize" {
            let hello = frame.params.as_deref().and_then(|it| serde_json::from_str(it.get()).ok());
            self.peek(|state| {
                if let Some(side) = state.clients.get_mut(&client) {
                    side.end.hello = hello.unwrap_or_default();
                }
            });
        }
        if let Some(answer) = lifecycle::answer(&frame, || self.about()) {
            return self.answer(client, &frame, answer).await;
        }
        let own = text(&frame, &["name"])
            .filter(|name| &*method == "tools/call" && manage::NAMES.contains(&&**name));
        if let Some(name) = own {
            let arguments = frame.params.as_deref().and_then(|it| body::get(it, &["arguments"]));
            let arguments = arguments
                .and_then(|it| serde_json::from_str(it.get()).ok())
                .unwrap_or_else(|| json!({}));
            let work = self.clone().manage(name, arguments);
            return self.later(client, frame, work);
        }
        if let Some(at) = LISTS.iter().position(|(_, list, _)| **list == *method) {
            let (relay, asked) = (self.clone(), frame.clone());
            let work = async move {
                relay.settled(relay.patient_until()).await;
                Ok(relay.list(&asked, at))
            };
            return self.later(client, frame, work);
        }
        let refused = self
            .with(|state| match &*method {
                "logging/setLevel" => {
                    set_level(state, client, &frame);
                    Ok(())
                }
                "subscriptions/listen" => {
                    listen(state, client, &frame);
                    Ok(())
                }
                _ => self.forward(state, client, &frame),
            })
            .await;
        let Err(refusal) = refused else { return };
        // Whoever has it may not have said so yet.
        if early && self.peek(|state| state.backends.iter().any(|it| it.settles())) {
            let relay = self.clone();
            self.peek(|state| {
                state.clients.get_mut(&client).into_iter().for_each(|it| it.end.asked += 1)
            });
            tokio::spawn(async move {
                relay.settled(Instant::now() + AWAY_PATIENCE).await;
                relay.request(client, frame, false).await;
                relay.peek(|state| state.answered(client));
            });
            return;
        }
        self.answer(client, &frame, Err(refusal)).await;
    }

    async fn answer(&self, client: u64, asked: &Frame, answer: Result<Value, Refusal>) {
        self.with(|state| match answer {
            Ok(result) => state.tell_client(
                client,
                Frame::result(asked.id.clone().expect("it is a request"), result),
            ),
            Err(refusal) => state.refuse(client, asked, &refusal),
        })
        .await;
    }

    /// Answers when the answer is there, and holds up nothing meanwhile.
    fn later(
        self: &Arc<Self>,
        client: u64,
        asked: Frame,
        work: impl Future<Output = Result<Value, Refusal>> + Send + 'static,
    ) {
        let relay = self.clone();
        self.peek(|state| {
            state.clients.get_mut(&client).into_iter().for_each(|it| it.end.asked += 1)
        });
        tokio::spawn(async move {
            let answer = work.await;
            relay.answer(client, &asked, answer).await;
            relay.peek(|state| state.answered(client));
        });
    }

    fn list(&self, asked: &Frame, at: usize) -> Value {
        self.peek(|state| {
            let own = if at == 0 { manage::tools() } else { Vec::new() };
            let items: Vec<_> = own.iter().chain(&state.routing.tables[at].items).collect();
            lifecycle::list(asked, LISTS[at].2, items)
        })
    }

    /// Who the relay is: what any of its backends can do, and who is missing.
    fn about(&self) -> About {
        self.peek(|state| {
            let connected = state.backends.iter().filter(|it| it.connected);
            let (names, words): (Vec<_>, Vec<_>) = connected.map(|backend| {
                let name = backend.entry.name();
                let words = backend.hello["instructions"].as_str().unwrap_or_default();
                let words: String = words.chars().filter(|it| !it.is_control() || *it == '\n').collect();
                (name.to_owned(), format!("\n\n{name}: {}", kit::cut(words.trim(), INSTRUCTIONS)))
            }).unzip();
            let missing = state.backends.iter().filter(|it| it.entry.enabled && !it.connected).map(|it| {
                format!("{} ({})", it.entry.name(), it.error.as_deref().unwrap_or("connecting"))
            });
            let missing: Vec<_> = missing.collect();
            let mut text = format!("The tools of these servers: {}.", if names.is_empty() { "none yet".to_owned() } else { names.join(", ") });
            if !missing.is_empty() {
                text += &format!(" Missing: {}. The list changes when they are there; relay_get_status says how it stands.", missing.join(", "));
            }
            text.extend(words);
            let changes = json!({ "listChanged": true });
            About {
                name: "mcp_relay".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                capabilities: json!({
                    "tools": changes, "prompts": changes,
                    "resources": { "listChanged": true, "subscribe": true },
                    "completions": {}, "logging": {},
                }),
                instructions: text,
            }
        })
    }

    /// Sends a request to whom it belongs.
    fn forward(
        self: &Arc<Self>,
        state: &mut State,
        client: u64,
        frame: &Frame,
    ) -> Result<(), Refusal> {
        let method = frame.method.as_deref().unwrap_or_default();
        let mut frame = frame.clone();
        let name_at: &[&str] =
            if method == "completion/complete" { &["ref", "name"] } else { &["name"] };
        let uri_at: &[&str] =
            if method == "completion/complete" { &["ref", "uri"] } else { &["uri"] };
        let (name, uri) = (text(&frame, name_at), text(&frame, uri_at));
        let routing = &state.routing;
        let named = name.as_ref().and_then(|name| match method {
            "tools/call" => routing.tables[0].owner(name),
            "prompts/get" | "completion/complete" => routing.tables[3].owner(name),
            _ => routing.tables[0].owner(name).or_else(|| routing.tables[3].owner(name)),
        });
        let backend = match (named, &uri) {
            (Some((backend, own)), _) => {
                let params = frame.params.take();
                let renamed = params.as_deref().filter(|_| name.as_deref() != Some(own));
                let renamed = renamed.and_then(|params| body::set(params, name_at, &raw(own)));
                frame.params = renamed.or(params);
                Some(backend.to_owned())
            }
            (None, Some(uri)) => routing.resource(uri).map(str::to_owned),
            (None, None) => None,
        };
        let capability = match method.split('/').next().unwrap_or_default() {
            "completion" => "completions",
            first => first,
        };
        // What nobody lists may be the only one's that can have it; a tool must be listed.
        let backend =
            backend.or_else(|| sole(state, capability).filter(|_| method != "tools/call"));
        let Some(backend) = backend else {
            return Err(unknown(method, name.as_deref(), uri.as_deref(), &frame));
        };
        match (method, &uri) {
            ("resources/subscribe", Some(uri)) => {
                _ = state.watched.entry(uri.clone()).or_default().insert((client, None))
            }
            ("resources/unsubscribe", Some(uri)) => {
                let who = state.watched.entry(uri.clone()).or_default();
                who.remove(&(client, None));
                if !who.is_empty() {
                    let id = frame.id.clone().expect("it is a request");
                    state.tell_client(client, Frame::result(id, json!({})));
                    return Ok(());
                }
            }
            _ => {}
        }
        let line = self.line(state, client, &backend);
        state.ask_line(client, line, frame);
        Ok(())
    }

    /// The connection over which a client reaches a backend.
    fn line(self: &Arc<Self>, state: &mut State, client: u64, name: &str) -> u64 {
        let Some(at) = state.backends.iter().position(|it| it.entry.name() == name) else {
            return 0;
        };
        let backend = &state.backends[at];
        if !backend.entry.isolate {
            return backend.line;
        }
        if let Some(line) = backend.own.get(&client).filter(|line| state.lines.contains_key(line)) {
            return *line;
        }
        let entry = backend.entry.clone();
        let hello = state
            .clients
            .get(&client)
            .map(|side| side.end.hello.clone())
            .filter(|it| !it.is_null());
        let Some(hello) = hello else { return backend.line };
        let line = open(self, state, &entry, Some((client, hello)));
        state.backends[at].own.insert(client, line);
        line
    }

    /// Waits for a backend to come to something.
    pub(crate) async fn verdict(&self, name: &str, limit: Duration) {
        let mut verdicts = self.verdicts();
        let settled = async {
            while self.peek(|state| state.backend(name).is_some_and(|it| it.settles())) {
                if verdicts.changed().await.is_err() {
                    return;
                }
            }
        };
        let _ = tokio::time::timeout(limit, settled).await;
    }
}

/// The only backend that can be meant: of those that have the capability, where it is one.
fn sole(state: &State, capability: &str) -> Option<String> {
    let known = ["tools", "resources", "prompts", "completions"];
    let capability = Some(capability).filter(|it| known.contains(it));
    let mut able = state.backends.iter().filter(|it| {
        it.entry.enabled
            && capability.is_none_or(|capability| !it.hello["capabilities"][capability].is_null())
    });
    let one = able.next().filter(|_| able.next().is_none());
    one.filter(|it| it.line != 0).map(|it| it.entry.name().to_owned())
}

fn unknown(method: &str, name: Option<&str>, uri: Option<&str>, frame: &Frame) -> Refusal {
    let modern = is_modern(frame);
    match (method, name, uri) {
        ("tools/call", Some(name), _) => Refusal::new(
            code::INVALID_PARAMS,
            format!(
                "No such tool available: {name}. relay_get_status lists the servers and their tools"
            ),
        ),
        ("prompts/get", Some(name), _) => {
            Refusal::new(code::INVALID_PARAMS, format!("there is no prompt {name}"))
        }
        ("resources/read" | "resources/subscribe" | "resources/unsubscribe", _, Some(uri)) => {
            Refusal {
                code: if modern { code::INVALID_PARAMS } else { -32002 },
                message: "no server lists this resource".to_owned(),
                data: Some(json!({ "uri": uri })),
            }
        }
        ("tools/call" | "prompts/get", None, _) => {
            Refusal::new(code::INVALID_PARAMS, "Invalid params: name is missing")
        }
        _ => Refusal::unknown(method),
    }
}

/// Every backend that logs hears the level.
fn set_level(state: &mut State, client: u64, frame: &Frame) {
    let params = frame
        .params
        .as_deref()
        .and_then(|it| serde_json::from_str(it.get()).ok())
        .unwrap_or_else(|| json!({}));
    let logs = state.backends.iter().filter(|it| !it.hello["capabilities"]["logging"].is_null());
    let lines: Vec<_> = logs.map(|it| it.own.get(&client).copied().unwrap_or(it.line)).collect();
    for line in lines {
        state.tell_own(line, "logging/setLevel", params.clone());
    }
    state.tell_client(client, Frame::result(frame.id.clone().expect("it is a request"), json!({})));
}

/// A subscription: changes of lists the relay knows itself; of a resource its backend tells.
fn listen(state: &mut State, client: u64, frame: &Frame) {
    let id: Id = frame.id.clone().expect("it is a request");
    let params: Value = frame
        .params
        .as_deref()
        .and_then(|it| serde_json::from_str(it.get()).ok())
        .unwrap_or_default();
    let mut filter = json!({});
    for key in ["toolsListChanged", "promptsListChanged", "resourcesListChanged"] {
        if params["notifications"][key] == true {
            filter[key] = true.into();
        }
    }
    let uris = params["notifications"]["resourceSubscriptions"].as_array().into_iter().flatten();
    let known: Vec<_> = uris
        .filter_map(Value::as_str)
        .filter_map(|uri| {
            let backend = state.backend(state.routing.resource(uri)?)?;
            Some((uri.to_owned(), backend.line))
        })
        .collect();
    for (uri, line) in &known {
        state.watched.entry(uri.clone()).or_default().insert((client, Some(id.clone())));
        state.tell_own(*line, "resources/subscribe", json!({ "uri": uri }));
    }
    if !known.is_empty() {
        filter["resourceSubscriptions"] = known.into_iter().map(|(uri, _)| uri).collect();
    }
    let params = json!({ "_meta": { META_SUBSCRIPTION[1]: id.to_raw() }, "notifications": filter });
    state.listeners.push((client, id, filter));
    state.tell_client(
        client,
        Frame::notification("notifications/subscriptions/acknowledged", params),
    );
}

//! What a client says, and where it goes.
//!
//! Invariant: a body is opened only for the name that decides where it goes; what nobody knows goes on all the same.

use std::sync::Arc;

use kit::BoxFuture;
use mcp_wire::body;
use mcp_wire::frame::{Frame, Kind, code};
use mcp_wire::headers::own_version;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::backend::open;
use crate::lifecycle::{self, About, Refusal, raw};
use crate::manage;
use crate::relay::Relay;
use crate::routing::{LISTS, clean};
use crate::switch::{AWAY_PATIENCE, Origin, State, text};

/// What of a backend's instructions goes on, in characters.
const INSTRUCTIONS: usize = 1000;

impl Relay {
    /// A frame of a client.
    pub(crate) async fn client_says(self: &Arc<Self>, client: u64, frame: Frame) {
        match (frame.kind(), frame.method.as_deref().unwrap_or_default()) {
            (Kind::Response, _) => self.peek(|state| state.answer(client, frame)),
            (Kind::Request, _) => self.request(client, frame, true).await,
            (_, "notifications/initialized") => self.peek(|state| _ = state.session(client)),
            (_, "notifications/cancelled") => {
                if let Some(id) = frame.names(&["requestId"]) {
                    self.with(|state| state.cancel(client, &id, &frame)).await;
                }
            }
            _ => self.peek(|state| {
                let lines = state
                    .lines
                    .iter()
                    .filter(|(_, it)| it.open && it.only.is_none_or(|own| own == client));
                let lines: Vec<_> = lines.map(|(line, _)| *line).collect();
                lines.into_iter().for_each(|line| _ = state.tell(line, frame.clone()));
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
            let hello = value(frame.params.as_deref());
            self.peek(|state| {
                state.clients.get_mut(&client).into_iter().for_each(|it| it.hello = hello.clone());
            });
        }
        let relay = self.clone();
        if let Some(answer) = lifecycle::answer(&frame, || self.about()) {
            return self.with(|state| state.reply(client, &frame, answer)).await;
        }
        if let Some(name) = text(&frame, &["name"])
            .filter(|name| &*method == "tools/call" && manage::NAMES.contains(&&**name))
        {
            let arguments = frame.params.as_deref().and_then(|it| body::get(it, &["arguments"]));
            let work = relay.manage(name, value(arguments));
            return self.later(client, async move { Some((frame, work.await)) });
        }
        if let Some(at) = LISTS.iter().position(|(_, list, _)| **list == *method) {
            return self.later(client, async move {
                relay.settled(relay.patient_until()).await;
                let list = relay.list(&frame, at);
                Some((frame, Ok(list)))
            });
        }
        if &*method == "subscriptions/listen" {
            let begun = self.peek(|state| state.listen(client, &frame));
            return self.later(client, async move {
                relay.settled(relay.patient_until()).await;
                relay
                    .with(|state| {
                        state.subscribe();
                        state.heard(begun, None);
                    })
                    .await;
                None
            });
        }
        let refused = self.with(|state| match &*method {
            "logging/setLevel" => {
                state.set_level(client, &frame);
                Ok(())
            }
            _ => self.forward(state, client, &frame),
        });
        let Err(refusal) = refused.await else { return };
        // Whoever has it may not have said so yet.
        if early && self.peek(|state| state.backends.iter().any(|it| it.settles())) {
            return self.later(client, async move {
                relay.settled(Instant::now() + AWAY_PATIENCE).await;
                relay.request(client, frame, false).await;
                None
            });
        }
        self.with(|state| state.reply(client, &frame, Err(refusal))).await;
    }

    /// Answers when the answer is there, and holds up nothing meanwhile.
    fn later(
        self: &Arc<Self>,
        client: u64,
        work: impl Future<Output = Option<(Frame, Result<Value, Refusal>)>> + Send + 'static,
    ) {
        let relay = self.clone();
        let working = move |state: &mut State, change: isize| {
            let client = state.clients.get_mut(&client);
            client.into_iter().for_each(|it| it.working = it.working.saturating_add_signed(change));
        };
        self.peek(|state| working(state, 1));
        tokio::spawn(async move {
            let answer = work.await;
            relay
                .with(|state| {
                    if let Some((asked, answer)) = answer {
                        state.reply(client, &asked, answer);
                    }
                    working(state, -1);
                    state.ring(client);
                })
                .await;
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
                (name.to_owned(), format!("\n\n{name}: {}", clean(words.trim(), INSTRUCTIONS)))
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
        let line = self.line(state, client, &backend);
        let session = state.lines.get(&line).is_none_or(|line| line.handshake);
        let done = match (method, uri) {
            ("resources/subscribe", Some(uri)) => {
                let own = state.session(client);
                own.uris.insert(uri.clone());
                if session {
                    own.asked_at(uri, line);
                } else {
                    state.subscribe();
                }
                !session
            }
            ("resources/unsubscribe", Some(uri)) => {
                state.session(client).uris.remove(&uri);
                !session || state.subscriptions.iter().any(|it| it.uris.contains(&uri))
            }
            _ => false,
        };
        if done {
            state.reply(client, &frame, Ok(json!({})));
        } else {
            let id = frame.id.clone().expect("it is a request");
            state.ask(Origin::End(client, id), line, frame);
        }
        Ok(())
    }

    /// The connection over which a client reaches a backend.
    fn line(self: &Arc<Self>, state: &mut State, client: u64, name: &str) -> u64 {
        let Some(at) = state.backends.iter().position(|it| it.entry.name() == name) else {
            return 0;
        };
        let backend = &state.backends[at];
        let own = backend.own.get(&client).filter(|line| state.lines.contains_key(line));
        let hello = state.clients.get(&client).map(|it| it.hello.clone());
        match (own, hello.filter(|it| backend.entry.isolate && !it.is_null())) {
            (Some(line), _) => *line,
            (None, None) => backend.line,
            (None, Some(hello)) => {
                let entry = backend.entry.clone();
                let line = open(self, state, &entry, Some((client, hello)));
                state.backends[at].own.insert(client, line);
                line
            }
        }
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
    let modern = own_version(frame).is_some();
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
        ("completion/complete", ..) => {
            Refusal::new(code::INVALID_PARAMS, "no server has what is to be completed")
        }
        _ => Refusal::unknown(method),
    }
}

impl State {
    /// The relay's own answer to a client.
    fn reply(&mut self, client: u64, asked: &Frame, answer: Result<Value, Refusal>) {
        let id = asked.id.clone();
        let frame = match answer {
            Ok(result) => Frame::result(id.expect("it is a request"), result),
            Err(refusal) => refusal.answer(id),
        };
        self.tell(client, frame);
    }

    /// Every backend that logs hears the level.
    fn set_level(&mut self, client: u64, frame: &Frame) {
        let params = value(frame.params.as_deref());
        let logs = self.backends.iter().filter(|it| !it.hello["capabilities"]["logging"].is_null());
        for line in logs.map(|it| it.line_of(client)).collect::<Vec<_>>() {
            self.ask_own(line, "logging/setLevel", params.clone());
        }
        self.reply(client, frame, Ok(json!({})));
    }
}

/// A body as a value; an object without members when there is none.
fn value(body: Option<&RawValue>) -> Value {
    body.and_then(|it| serde_json::from_str(it.get()).ok()).unwrap_or_else(|| json!({}))
}

//! The owner over HTTP, for shims, for whoever sends messages, for who looks on.
//!
//! Invariants: a token says who asks, and an agent's token opens its own tools alone; every failure is a status, a word and a
//! sentence; who hangs up cancels what it asked for; what comes with the token of a process that has ended is refused, even
//! when it was on its way.

use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use http_body_util::{BodyExt, Full, Limited, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, StatusCode};
use mcp_relay::service::raw;
use mcp_wire::http::{Pages, Reply};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use crate::agent::Agent;
use crate::audit;
use crate::config::parsed;
use crate::owner::{Failure, Owner, Report};
use crate::tokens::{OWNER, Tokens};

/// The largest body.
const LIMIT: usize = 16 << 20;

/// What the pages need.
#[derive(Clone)]
pub struct Api {
    pub owner: Arc<Owner>,
    pub tokens: Tokens,
}

impl Api {
    /// The pages, for a front.
    pub fn pages(self) -> Pages {
        Arc::new(move |request| {
            let api = self.clone();
            Box::pin(async move {
                let done = api.respond(request).await;
                done.unwrap_or_else(|failure| reply(failure.status, &failure.body()))
            })
        })
    }

    async fn respond(&self, request: Request<Incoming>) -> Result<Reply, Failure> {
        let (head, body) = request.into_parts();
        let header =
            |name| head.headers.get(name).and_then(|it| it.to_str().ok()).unwrap_or_default();
        let token = header(AUTHORIZATION).strip_prefix("Bearer ").unwrap_or_default();
        let streams = header(ACCEPT).contains("text/event-stream");
        let path: Vec<&str> = head.uri.path().trim_matches('/').split('/').collect();
        let owner = &self.owner;
        match (&head.method, &path[..]) {
            (&Method::GET, ["api", "internal", "tools", agent]) => {
                let agent = self.agent(token, agent)?;
                let tools = owner.tools(&agent.config, agent.profile());
                Ok(reply(200, &tools.iter().map(|tool| &tool.raw).collect::<Vec<_>>()))
            }
            (&Method::GET, ["api", "internal", "tools", agent, "events"]) => {
                self.agent(token, agent)?;
                Ok(self.changes())
            }
            (&Method::POST, ["api", "internal", "tools", agent, tool]) => {
                let of = self.agent(token, agent)?;
                let (call, arguments) = ([token, agent, tool], read(body).await?);
                // What is not there has its status.
                if streams && owner.find(of, tool).is_ok() {
                    return Ok(self.stream(call, arguments));
                }
                Ok(reply(200, &self.call(call, arguments, &|_| ()).await?))
            }
            (&Method::POST, ["api", "agents", agent, "messages"]) => {
                self.allow(token, OWNER)?;
                let message = parsed(read(body).await?);
                let message = message.map_err(|why| Failure::new(400, "bad_message", why))?;
                Ok(reply(200, &owner.agent(agent)?.post(message).await?))
            }
            (&Method::GET, ["api", "agents"]) => {
                self.allow(token, OWNER)?;
                Ok(reply(200, &owner.status()))
            }
            (&Method::GET, ["api", "audit"]) => {
                self.allow(token, OWNER)?;
                let query = head.uri.query().unwrap_or_default();
                let field = |name: &str| query.split('&').find_map(|it| it.strip_prefix(name));
                let agent = field("agent=").map(str::to_owned);
                let limit: u32 = field("limit=").and_then(|it| it.parse().ok()).unwrap_or(50);
                Ok(reply(200, &audit::read(&owner.database, agent, limit).await?))
            }
            (method, _) => {
                self.allow(token, OWNER)?;
                let why = format!("there is no {method} {}", head.uri.path());
                Err(Failure::new(404, "no_such_page", why))
            }
        }
    }

    /// Whether a token is this one's, or the owner's, which opens everything.
    fn allow(&self, token: &str, name: &str) -> Result<(), Failure> {
        match self.tokens.who(token) {
            Some(who) if who == name || who == OWNER => Ok(()),
            Some(who) => {
                let why = format!("this is the token of {who}, not of {name}");
                Err(Failure::new(403, "not_you", why))
            }
            None => {
                let why = "the token is missing, wrong, or of a process that has ended";
                Err(Failure::new(401, "unauthorized", why))
            }
        }
    }

    /// The agent that a path names, if whoever has this token may speak for it.
    fn agent(&self, token: &str, name: &str) -> Result<&Arc<Agent>, Failure> {
        self.allow(token, name)?;
        self.owner.agent(name)
    }

    /// Calls a tool. The token is looked at once more: its process may have ended meanwhile.
    async fn call(
        &self,
        [token, agent, tool]: [&str; 3],
        arguments: Box<RawValue>,
        report: Report<'_>,
    ) -> Result<Box<RawValue>, Failure> {
        let agent = self.agent(token, agent)?;
        self.owner.call(agent, tool, arguments, report).await
    }

    /// Calls a tool as its response is read: an event for each progress, and one for the end.
    fn stream(&self, call: [&str; 3], arguments: Box<RawValue>) -> Reply {
        let (out, mut rows) = mpsc::channel(64);
        let (api, call) = (self.clone(), call.map(str::to_owned));
        let work = async move {
            // Who reads no progress misses some; the result waits for nobody.
            let report = |progress: &RawValue| _ = out.try_send(event("progress", progress));
            let call = call.each_ref().map(String::as_str);
            let last = match api.call(call, arguments, &report).await {
                Ok(result) => event("result", &result),
                Err(failure) => event("error", &raw(failure.body())),
            };
            let _ = out.send(last).await;
        };
        let rows = stream::poll_fn(move |cx| rows.poll_recv(cx));
        let work = stream::once(work).filter_map(|()| ready(None));
        events(stream::select(rows, work))
    }

    /// An event at once, and one whenever somebody's tools may have changed.
    fn changes(&self) -> Reply {
        let mut changed = self.owner.changed.subscribe();
        changed.mark_changed();
        events(stream::unfold(changed, async |mut changed| {
            changed.changed().await.ok()?;
            let ends = *changed.borrow();
            (!ends).then(|| (event("changed", &raw(json!({}))), changed))
        }))
    }
}

async fn read<T: DeserializeOwned>(body: Incoming) -> Result<T, Failure> {
    let bytes = Limited::new(body, LIMIT).collect().await;
    let bytes = bytes.map_err(|error| Failure::new(413, "bad_body", error.to_string()))?.to_bytes();
    let text = if bytes.is_empty() { b"{}" } else { &bytes[..] };
    serde_json::from_slice(text).map_err(|error| Failure::new(400, "bad_json", error.to_string()))
}

fn event(name: &str, data: &RawValue) -> String {
    // A line break inside JSON is a blank.
    format!("event: {name}\ndata: {}\n\n", data.get().replace(['\n', '\r'], " "))
}

fn events(rows: impl Stream<Item = String> + Send + 'static) -> Reply {
    let frames = rows.map(|text| Ok::<_, Infallible>(Frame::data(Bytes::from(text))));
    let mut reply = Reply::new(StreamBody::new(frames).boxed_unsync());
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    reply
}

fn reply(status: u16, body: &impl Serialize) -> Reply {
    let mut reply = Reply::new(Full::from(raw(body).get().to_owned()).boxed_unsync());
    *reply.status_mut() = StatusCode::from_u16(status).expect("they are written here");
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply
}

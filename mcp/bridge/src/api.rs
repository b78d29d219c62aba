//! The owner over HTTP, for shims, for whoever sends messages, for who looks on.
//!
//! Invariants: a token says who asks, and an agent's token opens its own tools alone; every failure is a status, a word and a
//! sentence; who hangs up cancels what it asked for; what comes with the token of a process that has ended is refused, even
//! when it was on its way.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http_body_util::{BodyExt, Full, Limited, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, StatusCode};
use mcp_relay::service::raw;
use mcp_wire::http::{Pages, Reply};
use serde_json::json;
use serde_json::value::RawValue;
use subtle::ConstantTimeEq;
use tokio::sync::mpsc;

use crate::agent::{Agents, Message};
use crate::config::Agent;
use crate::database::rows;
use crate::owner::{Failure, Owner, near};

/// The largest body.
const LIMIT: usize = 16 << 20;
/// Between two signs of life of an event stream.
const PING: Duration = Duration::from_secs(15);

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// Whoever runs the owner.
    Owner,
    /// An agent.
    Agent(String),
}

/// The tokens that are good now. Clones share them.
#[derive(Clone)]
pub struct Tokens {
    folder: PathBuf,
    good: Arc<RwLock<HashMap<String, (Who, bool)>>>,
}

impl Tokens {
    /// Those in a folder: `owner`, and one for each agent; what is missing is made.
    ///
    /// # Errors
    /// When the folder cannot be read or written.
    pub fn open(folder: &Path, agents: &[Agent]) -> Result<Self, String> {
        let wrong = |error: std::io::Error| format!("{}: {error}", folder.display());
        fs::create_dir_all(folder).map_err(wrong)?;
        let tokens = Self {
            folder: folder.to_owned(),
            good: Arc::default(),
        };
        let names = ["owner"].into_iter().chain(agents.iter().map(|agent| agent.name.as_str()));
        for name in names {
            let who = if name == "owner" { Who::Owner } else { Who::Agent(name.to_owned()) };
            let path = tokens.file(name);
            let token = fs::read_to_string(&path).unwrap_or_default().trim().to_owned();
            let token =
                if token.len() >= 32 { token } else { write_fresh(&path).map_err(wrong)? };
            tokens.good.write().unwrap().insert(token, (who, false));
        }
        Ok(tokens)
    }

    /// Where the token of an agent, or of the `owner`, stands.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A token for one process of an agent, written to this file; good until it is revoked.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn lend(&self, agent: &str, path: &Path) -> Result<(), String> {
        let token = write_fresh(path).map_err(|error| format!("{}: {error}", path.display()))?;
        self.good.write().unwrap().insert(token, (Who::Agent(agent.to_owned()), true));
        Ok(())
    }

    /// Takes back what was lent to an agent's processes.
    pub fn revoke(&self, agent: &str) {
        let lent = |(who, lent): &mut (Who, bool)| *lent && *who == Who::Agent(agent.to_owned());
        self.good.write().unwrap().retain(|_, entry| !lent(entry));
    }

    fn who(&self, token: &str) -> Option<Who> {
        let good = self.good.read().unwrap();
        let same = |other: &str| bool::from(other.as_bytes().ct_eq(token.as_bytes()));
        good.iter().filter(|(other, _)| same(other)).map(|(_, (who, _))| who.clone()).last()
    }
}

fn write_fresh(path: &Path) -> std::io::Result<String> {
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(std::io::Error::other)?;
    let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let _ = fs::remove_file(path);
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(token.as_bytes())?;
    Ok(token)
}

/// What the pages need.
#[derive(Clone)]
pub struct Api {
    /// The tools.
    pub owner: Arc<Owner>,
    /// The agents.
    pub agents: Agents,
    /// Who may ask.
    pub tokens: Tokens,
}

impl Api {
    /// The pages, for a front.
    pub fn pages(self) -> Pages {
        Arc::new(move |request| {
            let api = self.clone();
            Box::pin(async move {
                api.respond(request).await.unwrap_or_else(|failure| {
                    reply(failure.status, "application/json", failure.to_json())
                })
            })
        })
    }

    async fn respond(&self, request: Request<Incoming>) -> Result<Reply, Failure> {
        let (head, body) = request.into_parts();
        let header =
            |name| head.headers.get(name).and_then(|it| it.to_str().ok()).unwrap_or_default();
        let token = header(AUTHORIZATION).strip_prefix("Bearer ").unwrap_or_default();
        let who = || self.tokens.who(token).ok_or_else(unauthorized);
        who()?;
        let streams = header(ACCEPT).contains("text/event-stream");
        let path: Vec<&str> = head.uri.path().trim_matches('/').split('/').collect();
        match (&head.method, &path[..]) {
            (&Method::GET, ["api", "internal", "tools", agent]) => {
                let agent = self.agent(&who()?, agent)?;
                let tools = self.owner.tools(&agent, self.owner.profile(&agent.name));
                let tools: Vec<_> = tools.iter().map(|tool| &*tool.raw).collect();
                Ok(reply(200, "application/json", raw(&tools).get().to_owned()))
            }
            (&Method::GET, ["api", "internal", "tools", agent, "events"]) => {
                self.agent(&who()?, agent)?;
                Ok(self.changes())
            }
            (&Method::POST, ["api", "internal", "tools", agent, tool]) => {
                self.agent(&who()?, agent)?;
                let arguments = read(body).await?;
                // Once more: while it was read, the process may have ended.
                let agent = self.agent(&who()?, agent)?;
                let asked = (agent, (*tool).to_owned(), arguments);
                self.call(asked, token.to_owned(), streams).await
            }
            (&Method::POST, ["api", "agents", agent, "messages"]) => {
                of_owner(&who()?)?;
                let message = message(&read(body).await?)?;
                let answered = self.agents.post(agent, message).await?;
                Ok(reply(200, "application/json", json!(answered).to_string()))
            }
            (&Method::GET, ["api", "agents"]) => {
                of_owner(&who()?)?;
                Ok(reply(200, "application/json", json!(self.agents.status()).to_string()))
            }
            (&Method::GET, ["api", "audit"]) => {
                of_owner(&who()?)?;
                self.audit(head.uri.query().unwrap_or_default()).await
            }
            _ => Err(Failure::new(
                404,
                "no_such_page",
                format!("there is no {} {}", head.method, head.uri.path()),
            )),
        }
    }

    /// The agent that a path names, if whoever asks may speak for it.
    fn agent(&self, who: &Who, name: &str) -> Result<Agent, Failure> {
        if let Who::Agent(own) = who
            && own != name
        {
            let why = format!("this is the token of {own}, not of {name}");
            return Err(Failure::new(403, "not_you", why));
        }
        let config = &self.owner.config;
        config.agent(name).cloned().ok_or_else(|| {
            let near = near(name, config.agents.iter().map(|agent| agent.name.as_str()));
            Failure::new(404, "no_such_agent", format!("there is no agent {name:?}; {near}"))
        })
    }

    async fn call(
        &self,
        (agent, tool, arguments): (Agent, String, Box<RawValue>),
        token: String,
        streams: bool,
    ) -> Result<Reply, Failure> {
        let profile = self.owner.profile(&agent.name);
        self.owner.find(&agent, profile, &tool)?;
        if !streams {
            let result = self.owner.call(&agent, profile, &tool, arguments, &|_| ()).await?;
            return Ok(reply(200, "application/json", result.get().to_owned()));
        }
        let (out, rows) = mpsc::channel(64);
        let (owner, tokens, hung_up) = (self.owner.clone(), self.tokens.clone(), out.clone());
        let work = async move {
            // Who reads no progress misses some; the result waits for nobody.
            let report = |progress: &RawValue| _ = out.try_send(event("progress", progress.get()));
            // The prompt may have ended, and its process.
            let done = if tokens.who(&token).is_none() {
                Err(unauthorized())
            } else {
                let profile = owner.profile(&agent.name);
                owner.call(&agent, profile, &tool, arguments, &report).await
            };
            let last = match done {
                Ok(result) => event("result", result.get()),
                Err(failure) => event("error", &failure.to_json()),
            };
            let _ = out.send(last).await;
        };
        tokio::spawn(async move {
            tokio::select! {
                () = work => {}
                () = hung_up.closed() => {}
            }
        });
        Ok(events(rows))
    }

    /// An event at once, and one whenever somebody's tools may have changed.
    fn changes(&self) -> Reply {
        let (out, rows) = mpsc::channel(1);
        let (mut changes, mut closed, hung_up) =
            (self.owner.changes(), self.owner.closed(), out.clone());
        let work = async move {
            let mut text = event("changed", "{}");
            while out.send(text).await.is_ok() {
                text = tokio::select! {
                    Ok(()) = changes.changed() => event("changed", "{}"),
                    () = tokio::time::sleep(PING) => ": alive\n\n".to_owned(),
                };
            }
        };
        tokio::spawn(async move {
            tokio::select! {
                () = work => {}
                () = hung_up.closed() => {}
                _ = closed.wait_for(|closed| *closed) => {}
            }
        });
        events(rows)
    }

    async fn audit(&self, query: &str) -> Result<Reply, Failure> {
        let field =
            |name: &str| query.split('&').find_map(|it| it.strip_prefix(name)?.strip_prefix('='));
        let agent = field("agent").map(str::to_owned);
        let limit: u32 = field("limit").and_then(|it| it.parse().ok()).unwrap_or(50);
        let sql = "SELECT at, agent, tool, arguments, outcome, ms FROM audit
            WHERE ?1 IS NULL OR agent = ?1 ORDER BY id DESC LIMIT ?2";
        let lines = self.owner.database.run(move |tx| rows(tx, sql, (agent, limit)));
        let lines = lines.await.map_err(Failure::from)?;
        Ok(reply(200, "application/json", json!(lines).to_string()))
    }
}

fn unauthorized() -> Failure {
    let why = "the token is missing, wrong, or of a process that has ended";
    Failure::new(401, "unauthorized", why)
}

fn of_owner(who: &Who) -> Result<(), Failure> {
    match who {
        Who::Owner => Ok(()),
        Who::Agent(name) => {
            Err(Failure::new(403, "not_you", format!("the token of {name} opens its tools alone")))
        }
    }
}

fn message(body: &RawValue) -> Result<Message, Failure> {
    let wrong = |why: String| Failure::new(400, "bad_message", why);
    let mut text = serde_json::Deserializer::from_str(body.get());
    let message: Message = serde_path_to_error::deserialize(&mut text)
        .map_err(|error| wrong(format!("{}: {}", error.path(), error.inner())))?;
    if message.prompt.trim().is_empty() {
        return Err(wrong("prompt: must not be empty".to_owned()));
    }
    Ok(message)
}

async fn read(body: Incoming) -> Result<Box<RawValue>, Failure> {
    let bytes = Limited::new(body, LIMIT).collect().await;
    let bytes = bytes.map_err(|error| Failure::new(413, "bad_body", error.to_string()))?.to_bytes();
    let text = if bytes.is_empty() { b"{}" } else { &bytes[..] };
    serde_json::from_slice(text).map_err(|error| Failure::new(400, "bad_json", error.to_string()))
}

fn event(name: &str, data: &str) -> String {
    // A line break inside JSON is a blank.
    format!("event: {name}\ndata: {}\n\n", data.replace(['\n', '\r'], " "))
}

fn events(mut rows: mpsc::Receiver<String>) -> Reply {
    let rows = stream::poll_fn(move |cx| rows.poll_recv(cx));
    let frames = rows.map(|text| Ok::<_, Infallible>(Frame::data(Bytes::from(text))));
    let mut reply = Reply::new(StreamBody::new(frames).boxed_unsync());
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    reply
}

fn reply(status: u16, kind: &'static str, body: String) -> Reply {
    let mut reply = Reply::new(Full::from(body).boxed_unsync());
    *reply.status_mut() = StatusCode::from_u16(status).expect("they are written here");
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    reply
}

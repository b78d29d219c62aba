//! A client of one server: lists, calls, and answers what the server asks, over a connection that survives.
//!
//! It greets as servers up to 2025-11-25 want it; one that knows no `initialize` is asked without a session, as from
//! 2026-07-28 on. Invariants: bodies stay as the server wrote them; every call ends, in a result or in an [`Error`] that says
//! why.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use kit::BoxFuture;
use mcp_wire::frame::{Frame, code};
use mcp_wire::headers::{META_CAPABILITIES, META_VERSION, STATELESS, marked};
use mcp_wire::peer::{CallError, Incoming, Request};
use mcp_wire::{Peer, body};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

use crate::config::Server;
use crate::link::{self, AWAY, LOGIN, Patience, REASON, State, UNKNOWN, raw};
use crate::login::Login;
use crate::transport::Dialer;

/// The revision that is offered.
pub const VERSION: &str = "2025-11-25";
/// The most pages of a list, and rounds of questions before a result.
const ROUNDS: usize = 1000;

/// Answers what a server asks, by method and params; None refuses.
pub type Answers =
    Arc<dyn Fn(String, Box<RawValue>) -> BoxFuture<'static, Option<Value>> + Send + Sync>;

/// How a server is spoken to.
#[derive(Clone)]
pub struct Options {
    /// Where its tokens come from.
    pub login: Arc<dyn Login>,
    /// How long it may take.
    pub patience: Patience,
    /// For a call without progress.
    pub call: Duration,
    /// What this client can do, as `initialize` says it.
    pub capabilities: Value,
    /// Answers to what the server asks.
    pub answers: Option<Answers>,
    /// Receives the server's notifications, in order; it must be read.
    pub notifications: Option<mpsc::Sender<Frame>>,
    /// The one revision to speak; without it the newest that both know.
    pub version: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            login: Arc::new(crate::login::NoLogin),
            patience: Patience::default(),
            call: Duration::from_secs(100_000),
            capabilities: json!({}),
            answers: None,
            notifications: None,
            version: None,
        }
    }
}

/// Why there is no result.
#[derive(Clone, Debug)]
pub enum Error {
    /// The entry cannot be used.
    Config(String),
    /// The server cannot be reached, or does not answer.
    Connection(String),
    /// The connection broke under way: whether the server has acted is unknown.
    Unknown(String),
    /// Somebody has to log in.
    NeedsLogin(String),
    /// The server refuses.
    Server(Box<RawValue>),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(why)
            | Self::Connection(why)
            | Self::Unknown(why)
            | Self::NeedsLogin(why) => f.write_str(why),
            Self::Server(error) => match body::text(error, &["message"]) {
                Some(message) => write!(f, "the server refuses: {message}"),
                None => write!(f, "the server refuses: {}", error.get()),
            },
        }
    }
}

impl std::error::Error for Error {}

impl From<CallError> for Error {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Error(error) => {
                let why = body::text(&error, &["message"]).unwrap_or_default();
                match body::text(&error, &["data", REASON]).as_deref() {
                    Some(LOGIN) => Self::NeedsLogin(why),
                    Some(UNKNOWN) => Self::Unknown(why),
                    Some(AWAY) => Self::Connection(why),
                    _ => Self::Server(error),
                }
            }
            other => Self::Connection(other.to_string()),
        }
    }
}

/// A tool as the server lists it.
#[derive(Clone, Debug)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// All that the server says of it.
    pub raw: Box<RawValue>,
}

/// A connected server.
pub struct Client {
    peer: Peer,
    state: watch::Receiver<State>,
    task: JoinHandle<()>,
    options: Options,
    /// From 2026-07-28 on: what each request says about this client.
    meta: Option<Value>,
    timeout: Duration,
    /// The answer to the greeting.
    pub hello: Box<RawValue>,
}

impl Client {
    /// Connects to a server and greets it.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub async fn connect(server: &Server, options: Options) -> Result<Self, Error> {
        let dialer = Dialer::new(server).map_err(Error::Config)?;
        let (login, patience) = (options.login.clone(), options.patience.clone());
        let (connection, state, task) = link::hold(dialer, login, patience);
        let (peer, incoming) = Peer::new(connection);
        tokio::spawn(attend(incoming, options.clone()));
        let timeout = server.timeout.map_or(options.call, Duration::from_millis);
        let mut client = Self {
            peer,
            state,
            task,
            options,
            meta: None,
            timeout,
            hello: raw(()),
        };
        let version = client.options.version.as_deref();
        client.hello = if version.is_some_and(|version| version >= STATELESS) {
            client.discover().await?
        } else {
            match client.initialize().await {
                Err(Error::Server(error)) if knows_no_handshake(&error) => {
                    client.discover().await?
                }
                Err(error @ Error::Server(_)) => return Err(Error::Connection(error.to_string())),
                greeted => greeted?,
            }
        };
        Ok(client)
    }

    async fn initialize(&self) -> Result<Box<RawValue>, Error> {
        let hello = json!({
            "protocolVersion": self.options.version.as_deref().unwrap_or(VERSION),
            "capabilities": self.options.capabilities,
            "clientInfo": info(),
        });
        let call = self.peer.call("initialize", hello).await;
        // The connection has a limit for it, which a login does not count against.
        let answer = call.result().await?;
        self.notify("notifications/initialized", json!({})).await?;
        Ok(answer)
    }

    /// Asks a server without a session who it is.
    async fn discover(&mut self) -> Result<Box<RawValue>, Error> {
        self.meta = Some(self.about(self.options.version.as_deref().unwrap_or(STATELESS)));
        let answer = match self.ask("server/discover", json!({})).await {
            Err(Error::Server(error)) => match common_version(&error) {
                Some(version) => {
                    self.meta = Some(self.about(&version));
                    self.ask("server/discover", json!({})).await
                }
                None => Err(Error::Server(error)),
            },
            answer => answer,
        };
        match answer {
            // It need not say who it is.
            Err(Error::Server(error)) if is_code(&error, code::METHOD_NOT_FOUND) => {
                Ok(raw(json!({})))
            }
            answer => answer,
        }
    }

    fn about(&self, version: &str) -> Value {
        json!({
            META_VERSION[1]: version,
            META_CAPABILITIES[1]: self.options.capabilities,
            "io.modelcontextprotocol/clientInfo": info(),
        })
    }

    /// How it stands with the connection.
    pub fn state(&self) -> State {
        self.state.borrow().clone()
    }

    /// Tells of each change of that.
    pub fn states(&self) -> watch::Receiver<State> {
        self.state.clone()
    }

    /// Asks the server anything.
    ///
    /// # Errors
    /// Why there is no result.
    pub async fn ask(&self, method: &str, params: impl Serialize) -> Result<Box<RawValue>, Error> {
        self.ask_with_progress(method, raw(params), None).await
    }

    async fn ask_with_progress(
        &self,
        method: &str,
        mut params: Box<RawValue>,
        mut progress: Option<&mut (dyn FnMut(&RawValue) + Send)>,
    ) -> Result<Box<RawValue>, Error> {
        if let Some(meta) = &self.meta {
            params = with(&params, "_meta", meta);
        }
        for _ in 0..ROUNDS {
            let call = match progress {
                None => self.peer.call(method, &params).await,
                Some(_) => self.peer.call_with_progress(method, &params).await,
            };
            let mut call = call.timeout(self.timeout);
            while let Some(report) = call.progress().await {
                if let Some(told) = &mut progress {
                    told(&report);
                }
            }
            let answer = call.result().await?;
            if body::text(&answer, &["resultType"]).as_deref() != Some("input_required") {
                return Ok(answer);
            }
            params = self.with_answers(&answer, &params).await?;
        }
        Err(Error::Connection("the server asks for ever".to_owned()))
    }

    /// The params again, with answers to what a server without a session wants to know before it has a result.
    async fn with_answers(
        &self,
        asked: &RawValue,
        params: &RawValue,
    ) -> Result<Box<RawValue>, Error> {
        let wrong = || Error::Connection("the server asks what cannot be answered".to_owned());
        let requests = body::get(asked, &["inputRequests"]).map_or("{}", RawValue::get);
        let requests: Map<String, Value> = serde_json::from_str(requests).map_err(|_| wrong())?;
        let mut responses = Map::new();
        for (key, request) in requests {
            let method = request["method"].as_str().unwrap_or_default();
            let answer = answer(&self.options, method, raw(&request["params"])).await;
            responses.insert(key, answer.ok_or_else(wrong)?);
        }
        let params = with(params, "inputResponses", responses);
        Ok(match body::get(asked, &["requestState"]) {
            Some(state) => with(&params, "requestState", state),
            None => body::remove(&params, &["requestState"]).unwrap_or(params),
        })
    }

    /// All pages of a list: `tools/list` and `tools`, for instance.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn list(&self, method: &str, key: &str) -> Result<Vec<Box<RawValue>>, Error> {
        let mut items = Vec::new();
        let mut params = json!({});
        for _ in 0..ROUNDS {
            let page = self.ask(method, params.clone()).await?;
            let part = body::get(&page, &[key]).map_or("[]", RawValue::get);
            let part = serde_json::from_str::<Vec<Box<RawValue>>>(part);
            items.extend(part.map_err(|_| {
                Error::Connection(format!("the server answers {method} without a list of {key}"))
            })?);
            match body::text(&page, &["nextCursor"]) {
                Some(cursor) if params["cursor"] != *cursor => params["cursor"] = cursor.into(),
                _ => break,
            }
        }
        Ok(items)
    }

    /// The tools of the server. One whose marks for headers are wrong is left out, as the specification wants it.
    ///
    /// # Errors
    /// Why there are none.
    pub async fn tools(&self) -> Result<Vec<Tool>, Error> {
        let tools = self.list("tools/list", "tools").await?.into_iter();
        Ok(tools
            .filter_map(|raw| {
                let name = body::text(&raw, &["name"])?;
                let schema = body::get(&raw, &["inputSchema"]);
                let schema = schema.and_then(|schema| serde_json::from_str(schema.get()).ok());
                let schema: Value = schema.unwrap_or_default();
                match marked(&schema) {
                    Ok(_) => Some(Tool { name, raw }),
                    Err(why) => {
                        tracing::warn!("the tool {name} is left out: {why}");
                        None
                    }
                }
            })
            .collect())
    }

    /// Calls a tool; progress starts the time-out anew.
    ///
    /// # Errors
    /// Why there is no result. A result with `isError` is one.
    pub async fn call(
        &self,
        tool: &str,
        arguments: impl Serialize,
        mut progress: impl FnMut(&RawValue) + Send,
    ) -> Result<Box<RawValue>, Error> {
        // Their numbers stay as they are written, whatever their size.
        let params = with(&raw(json!({ "name": tool })), "arguments", arguments);
        self.ask_with_progress("tools/call", params, Some(&mut progress)).await
    }

    /// Tells the server something.
    ///
    /// # Errors
    /// When the connection has ended.
    pub async fn notify(&self, method: &str, params: Value) -> Result<(), Error> {
        let told = self.peer.notify(method, params).await;
        told.map_err(|closed| Error::Connection(closed.to_string()))
    }

    /// Closes the connection and ends the server's process.
    pub async fn close(self) {
        drop(self.peer);
        let _ = self.task.await;
    }
}

/// Params with one member more, or another one; what is no object has none.
fn with(params: &RawValue, key: &str, value: impl Serialize) -> Box<RawValue> {
    body::set(params, &[key], &raw(value)).unwrap_or_else(|| params.to_owned())
}

fn info() -> Value {
    json!({ "name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION") })
}

fn is_code(error: &RawValue, code: i64) -> bool {
    body::get(error, &["code"]).is_some_and(|it| it.get() == code.to_string())
}

fn knows_no_handshake(error: &RawValue) -> bool {
    is_code(error, code::METHOD_NOT_FOUND)
        || is_code(error, code::UNSUPPORTED_VERSION)
        || is_code(error, code::INVALID_PARAMS)
}

/// The newest revision without a session that a server says it speaks, and so does this client.
fn common_version(error: &RawValue) -> Option<String> {
    let known = body::get(error, &["data", "supported"])?;
    let known: Vec<String> = serde_json::from_str(known.get()).ok()?;
    known.into_iter().find(|version| version == STATELESS)
}

/// Reads what the server says of its own accord.
async fn attend(mut incoming: mcp_wire::peer::Receiver<Incoming>, options: Options) {
    while let Some(came) = incoming.recv().await {
        match came {
            Incoming::Request(request) => _ = tokio::spawn(reply(request, options.clone())),
            Incoming::Notification(frame) => {
                if let Some(listener) = &options.notifications {
                    let _ = listener.send(frame).await;
                }
            }
        }
    }
}

async fn reply(request: Request, options: Options) {
    let method = request.frame.method.as_deref().unwrap_or_default().to_owned();
    let params = request.frame.params.clone().unwrap_or_else(|| raw(json!({})));
    // Dropped, it is refused.
    if let Some(answer) = answer(&options, &method, params).await {
        request.answer(answer).await;
    }
}

async fn answer(options: &Options, method: &str, params: Box<RawValue>) -> Option<Value> {
    match (method, &options.answers) {
        ("ping", _) => Some(json!({})),
        (_, Some(answers)) => answers(method.to_owned(), params).await,
        _ => None,
    }
}

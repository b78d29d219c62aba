//! The shim: an MCP server that knows nothing. What it lists and calls is the owner's.
//!
//! An agent's harness starts it, and speaks MCP with it. Invariants: nothing is decided here and nothing kept but the list
//! that the owner gave last; a failure of the owner's reaches the model as a result that says so; a cancelled call hangs up.

use std::path::PathBuf;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use futures_util::StreamExt;
use kit::BoxFuture;
use mcp_relay::service::{About, Call, Refusal, Reports, Service, failed};
use mcp_wire::body;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{RequestBuilder, Response};
use serde_json::json;
use serde_json::value::RawValue;
use sse_stream::SseStream;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

/// Between two attempts to reach the owner.
const AGAIN: Duration = Duration::from_millis(500);
/// For the first list, before the client is greeted without it.
const FIRST_LIST: Duration = Duration::from_secs(10);

/// Where the owner is, and who this is.
#[derive(Clone)]
pub struct Shim {
    http: reqwest::Client,
    /// Of the agent's tools.
    url: String,
    agent: String,
    /// Read for each request: a new process has a new token.
    token: PathBuf,
    listed: Arc<RwLock<Vec<Box<RawValue>>>>,
    /// What it waits for.
    away: Arc<RwLock<Option<String>>>,
    changed: watch::Sender<()>,
}

impl Shim {
    /// A shim for this agent; it looks for the owner from here on.
    pub async fn start(port: u16, agent: &str, token: PathBuf) -> Arc<Self> {
        let shim = Arc::new(Self {
            http: http(),
            url: format!("http://127.0.0.1:{port}/api/internal/tools/{agent}"),
            agent: agent.to_owned(),
            token,
            listed: Arc::default(),
            away: Arc::new(RwLock::new(Some("the owner was not asked yet".to_owned()))),
            changed: watch::channel(()).0,
        });
        let mut first = shim.changed.subscribe();
        tokio::spawn(shim.clone().follow());
        let _ = timeout(FIRST_LIST, first.changed()).await;
        shim
    }

    /// Reads the list whenever the owner says that it has changed, for ever.
    async fn follow(self: Arc<Self>) {
        loop {
            let why = match self.events().await {
                Ok(()) => "the owner has ended".to_owned(),
                Err(why) => why,
            };
            if self.away.write().unwrap().replace(why.clone()).is_none_or(|before| before != why) {
                tracing::warn!(agent = self.agent, "waiting for the owner: {why}");
            }
            sleep(AGAIN).await;
        }
    }

    async fn events(&self) -> Result<(), String> {
        let response = self.ask(self.http.get(format!("{}/events", self.url))).await?;
        let mut events = SseStream::from_bytes_stream(response.bytes_stream());
        while let Some(event) = events.next().await {
            let event = event.map_err(|error| error.to_string())?;
            if event.event.as_deref() == Some("changed") {
                let list = self.ask(self.http.get(&self.url)).await?.bytes().await;
                let list = list.map_err(|error| error.to_string())?;
                *self.listed.write().unwrap() =
                    serde_json::from_slice(&list).map_err(|error| error.to_string())?;
                *self.away.write().unwrap() = None;
                self.changed.send_replace(());
            }
        }
        Ok(())
    }

    /// The response, or what the owner says is wrong.
    async fn ask(&self, request: RequestBuilder) -> Result<Response, String> {
        let token = std::fs::read_to_string(&self.token)
            .map_err(|error| format!("{}: {error}", self.token.display()))?;
        let sent = request.bearer_auth(token.trim()).send().await;
        let response = sent.map_err(|error| {
            if error.is_connect() {
                "the owner is not there (mcp_bridge serve)".to_owned()
            } else {
                error.to_string()
            }
        })?;
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status().as_u16();
        let text = response.text().await.unwrap_or_default();
        Err(format!("{} (HTTP {status})", message(&text)))
    }

    async fn perform(
        &self,
        name: &str,
        arguments: &RawValue,
        reports: &Reports,
    ) -> Result<Box<RawValue>, String> {
        let request =
            self.http.post(format!("{}/{name}", self.url)).body(arguments.get().to_owned());
        let request =
            request.header(ACCEPT, "text/event-stream").header(CONTENT_TYPE, "application/json");
        let response = self.ask(request).await?;
        let mut events = SseStream::from_bytes_stream(response.bytes_stream());
        while let Some(Ok(event)) = events.next().await {
            let data = event.data.unwrap_or_default();
            match event.event.as_deref() {
                Some("progress") => {
                    if let Ok(report) = RawValue::from_string(data) {
                        reports.report(report).await;
                    }
                }
                Some("error") => return Err(message(&data)),
                Some("result") => {
                    return RawValue::from_string(data).map_err(|error| error.to_string());
                }
                _ => {}
            }
        }
        Err("the owner has ended in the middle of the call; whether it has acted is unknown"
            .to_owned())
    }
}

/// A client for this machine alone: no certificates are read.
pub fn http() -> reqwest::Client {
    // The first to come installs the process's provider.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let plain = reqwest::Client::builder().tcp_nodelay(true).no_proxy().tls_certs_only([]);
    plain.build().expect("nothing special is asked for")
}

/// The sentence in the body of a failure.
fn message(body: &str) -> String {
    let raw: Option<Box<RawValue>> = serde_json::from_str(body).ok();
    let text = raw.and_then(|raw| body::text(&raw, &["error", "message"]));
    text.unwrap_or_else(|| kit::cut(body, 300).to_string())
}

impl Service for Shim {
    fn about(&self) -> About {
        let waiting = self.away.read().unwrap().clone();
        let waiting =
            waiting.map(|why| format!(" It is away ({why}); its tools appear when it is there."));
        About {
            name: "mcp_bridge".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            capabilities: json!({}),
            instructions: format!(
                "The tools of {} live in one process.{}",
                self.agent,
                waiting.unwrap_or_default()
            ),
        }
    }

    fn tools(&self) -> Vec<Box<RawValue>> {
        self.listed.read().unwrap().clone()
    }

    fn call(&self, call: Call) -> BoxFuture<'static, Result<Box<RawValue>, Refusal>> {
        let shim = self.clone();
        Box::pin(async move {
            // It becomes a part of a path.
            if !call.name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)) {
                return Ok(failed(format!("there is no tool {:?}", call.name)));
            }
            let done = shim.perform(&call.name, &call.arguments, &call.progress).await;
            Ok(done.unwrap_or_else(failed))
        })
    }

    fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }
}

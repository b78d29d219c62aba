//! The client: one conversation in, one reply out (Messages API, `POST /v1/messages`, streamed).
//!
//! The loop asks it with the whole conversation every time, so it joins JSON that each message made once. Invariant:
//! one call of `send` is one request; trying again is somebody else's decision.

use std::net::IpAddr;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context, Error, Result, ensure};
use futures_util::StreamExt;
use mock_servers::model::rehearsal::Rehearsal;
use mock_servers::model::{MockModel, Options};
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use serde::Serialize;

use crate::error::ApiError;
use crate::message::{Message, System};
use crate::observer::{Event, SharedObserver};
use crate::process::limit_memory;
use crate::reply::{Assembler, Reply, Usage};
use crate::response::{events, innermost};
use crate::settings::{Credentials, DEFAULT_BASE_URL, DEFAULT_MODEL, Settings, number};
use crate::tool::ToolSpec;

/// The most tokens a reply may have, unless the client is told otherwise.
const MAX_TOKENS: u32 = 8_000;

/// The context window of a model, in tokens, unless the settings say otherwise.
const CONTEXT_TOKENS: u64 = 200_000;

/// No window is larger, and sums of its tokens and bytes stay numbers.
const MOST_CONTEXT_TOKENS: u64 = 1_000_000_000;

const API_VERSION: &str = "2023-06-01";
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The API pings a slow stream; a model on a laptop may read a long prompt for minutes before its first word.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(300);

/// A model behind the Messages API. Clones share the connection and may ask different models.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
    model: String,
    max_tokens: u32,
    marks_last_message: bool,
    watcher: SharedObserver,
    context_tokens: u64,
    fallback_model: Option<String>,
}

struct Shared {
    http: reqwest::Client,
    messages_url: Url,
    /// Its scheme, host and port.
    address: String,
    credentials: Credentials,
    /// The model itself, when it lives in this process; it stops when the last client drops.
    _mock: Option<MockModel>,
    /// Whether a request ever reached the address, whatever it answered.
    met: AtomicBool,
    /// What all clones have spent. A std lock: nothing is awaited while it is held.
    spent: Mutex<Usage>,
}

/// A request as it goes out.
#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tools: &'a [ToolSpec],
    #[serde(skip_serializing_if = "System::is_empty")]
    system: &'a System,
    messages: Vec<&'a Message>,
}

impl Client {
    /// The model that the environment names, or the mock model when it names none. What the environment says of bash
    /// counts from here on.
    ///
    /// # Errors
    /// When the base URL, the key or another variable cannot be used.
    pub fn from_env(watcher: SharedObserver) -> Result<Self> {
        let settings = Settings::from_env();
        limit_memory(settings.bash_memory.as_deref())?;
        Self::new(settings, watcher)
    }

    /// A client with these settings.
    ///
    /// # Errors
    /// When the base URL or the key cannot be used, or the mock model cannot start.
    pub fn new(settings: Settings, watcher: SharedObserver) -> Result<Self> {
        // The mock model plays where nothing says where a model is.
        let is_alone = settings.base_url.is_none() && settings.credentials == Credentials::None;
        let mock = is_alone.then(start_mock).transpose()?;
        let base_url = match &mock {
            Some(mock) => mock.url(),
            None => settings.base_url.as_deref().unwrap_or(DEFAULT_BASE_URL),
        };
        let messages_url = messages_url(base_url)?;
        let context_tokens = match (settings.context_tokens.as_deref(), &mock) {
            (Some(written), _) => number("MODEL_CONTEXT_TOKENS", written, MOST_CONTEXT_TOKENS)?,
            (None, Some(mock)) => mock.context_tokens().into(),
            (None, None) => CONTEXT_TOKENS,
        };
        let address = messages_url.origin().ascii_serialization();
        let model = settings.model.unwrap_or_else(|| DEFAULT_MODEL.to_owned());
        let endpoint = match mock {
            Some(_) => format!("the mock model at {address} (no key needed; ask it for help)"),
            None => format!("{model} at {address}"),
        };
        watcher.see(Event::Connected(&endpoint));
        Ok(Self {
            shared: Arc::new(Shared {
                http: http_client(&messages_url, &settings.credentials)?,
                messages_url,
                credentials: settings.credentials,
                _mock: mock,
                address,
                met: AtomicBool::new(false),
                spent: Mutex::default(),
            }),
            model,
            max_tokens: MAX_TOKENS,
            marks_last_message: false,
            watcher,
            context_tokens,
            fallback_model: settings.fallback_model,
        })
    }

    /// The scheme, host and port that it asks.
    pub fn address(&self) -> &str {
        &self.shared.address
    }

    /// The same model, watched by somebody else.
    pub fn watched_by(mut self, watcher: SharedObserver) -> Self {
        self.watcher = watcher;
        self
    }

    /// The same model with another limit for its replies, in tokens.
    pub fn with_max_tokens(mut self, max_tokens: u32) -> Self {
        self.max_tokens = max_tokens;
        self
    }

    /// The same model; each request ends in a prompt-cache breakpoint, so that the next one reads this one's prefix. One
    /// without tools is a question beside the conversation: no other begins like it, and writing it down costs extra.
    pub fn with_breakpoint_on_last_message(mut self) -> Self {
        self.marks_last_message = true;
        self
    }

    /// The id of the model that is asked.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// How many tokens a request and its reply may have together.
    pub fn context_tokens(&self) -> u64 {
        self.context_tokens
    }

    /// The model to ask while this one is overloaded, if the settings name one.
    pub fn fallback(&self) -> Option<Self> {
        let model = self.fallback_model.clone()?;
        Some(Self {
            model,
            ..self.clone()
        })
    }

    /// The most tokens a reply may have.
    pub fn max_tokens(&self) -> u32 {
        self.max_tokens
    }

    /// What all replies so far have cost, those to clones included: subagents, teammates, side calls. A reply that
    /// was broken off counts with what the API had said of it.
    pub fn spent(&self) -> Usage {
        self.shared.spent.lock().unwrap().clone()
    }

    /// Sends the conversation and returns the reply, which the watcher sees arrive. Dropping the future closes the
    /// connection, and the model stops.
    ///
    /// # Errors
    /// One request, one error: nothing is tried again.
    pub async fn send(
        &self,
        system: impl Into<System>,
        history: &[Message],
        tools: &[ToolSpec],
    ) -> Result<Reply, ApiError> {
        let body = self.body(&system.into(), history, tools);
        let reply = self.request(body, history).await;
        reply.map_err(|error| error.redacted(&self.shared.credentials))
    }

    /// The request's JSON. Messages and tools were serialized when they were made: they are all of a long conversation.
    fn body(&self, system: &System, history: &[Message], tools: &[ToolSpec]) -> Vec<u8> {
        let marks = self.marks_last_message && !tools.is_empty();
        let marked = history.last().filter(|_| marks).map(Message::with_breakpoint);
        let earlier = history.len() - usize::from(marked.is_some());
        let messages = history[..earlier].iter().chain(&marked).collect();
        let body = Body {
            model: &self.model,
            max_tokens: self.max_tokens,
            stream: true,
            tools,
            system,
            messages,
        };
        serde_json::to_vec(&body).expect("strings and JSON values serialize")
    }

    async fn request(&self, body: Vec<u8>, history: &[Message]) -> Result<Reply, ApiError> {
        let mut reply = Assembler::new(&*self.watcher, history, &self.shared.spent);
        let sent = self.shared.http.post(self.shared.messages_url.clone()).body(body).send().await;
        let meets = !sent.as_ref().is_err_and(reqwest::Error::is_connect);
        let met = self.shared.met.fetch_or(meets, Ordering::Relaxed) || meets;
        let response = sent.map_err(|error| ApiError::Unreachable {
            address: self.shared.address.clone(),
            reason: innermost(&error),
            never_met: !met,
        })?;
        let mut events = pin!(events(response).await?);
        while let Some(data) = events.next().await {
            if reply.take(&data?)? {
                break;
            }
        }
        reply.finish()
    }
}

/// Where messages are posted. A base URL may end in a slash or in `/v1`, as other tools write it.
fn messages_url(base_url: &str) -> Result<Url> {
    let base = base_url.trim_end_matches('/').trim_end_matches("/v1");
    ensure!(
        base.starts_with("http://") || base.starts_with("https://"),
        "ANTHROPIC_BASE_URL must begin with http:// or https://, not {base_url:?}"
    );
    Url::parse(&format!("{base}/v1/messages")).with_context(|| {
        format!("ANTHROPIC_BASE_URL is no URL: {base_url:?} (an example: http://localhost:11434)")
    })
}

fn start_mock() -> Result<MockModel> {
    let options = Options::from_env().map_err(Error::msg)?;
    MockModel::start(options, Rehearsal).context("starting the mock model")
}

fn http_client(url: &Url, credentials: &Credentials) -> Result<reqwest::Client> {
    // The first to come installs the process's provider; it is the same one each time.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut headers = HeaderMap::from_iter([
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        ("anthropic-version".parse()?, HeaderValue::from_static(API_VERSION)),
    ]);
    headers.extend(credentials.header()?);
    let mut builder = reqwest::Client::builder()
        .default_headers(headers)
        .tcp_nodelay(true)
        .connect_timeout(CONNECT_TIMEOUT)
        .read_timeout(SILENCE_TIMEOUT)
        // The Messages API does not redirect, and another host must not be sent the key.
        .redirect(reqwest::redirect::Policy::none());
    if url.scheme() == "http" {
        // Reading the system's certificates takes tens of milliseconds; http never looks at them.
        builder = builder.tls_certs_only([]);
    }
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    if host == "localhost" || host.parse::<IpAddr>().is_ok_and(|it| it.is_loopback()) {
        builder = builder.no_proxy();
    }
    builder.build().context("setting up HTTP")
}

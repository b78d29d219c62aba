//! Opens a connection to a server, whatever carries it.
//!
//! The transports are mcp_wire's; here one is chosen, started and watched. Invariants: a child has no key of ours in its
//! environment unless its entry puts it there, and its last words on standard error are kept for the error.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use kit::one_line;
use mcp_wire::frame::FRAME_LIMIT;
use mcp_wire::http::ClientOptions;
use mcp_wire::{Connection, Error, http, legacy, stdio, ws};
use rustls_platform_verifier::ConfigVerifierExt;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpStream;
use tokio::net::unix::pipe::Receiver;
use tokio::process::Command;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::config::{Remote, Server, Transport};

/// Variables that a child does not inherit.
const KEYS: [&str; 3] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "MCP_CLIENT_KEY",
];
/// What is kept of a child's standard error: lines, and characters of each.
const TAIL: (usize, usize) = (5, 300);
/// For a child whose output has ended to end itself.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// What an editor wants its token in.
const IDE_TOKEN: HeaderName = HeaderName::from_static("x-claude-code-ide-authorization");

/// Opens connections to one server.
pub struct Dialer {
    transport: Transport,
    /// Sent with each request; the login's header among them.
    pub(crate) headers: Arc<Mutex<HeaderMap>>,
    /// What the configuration says of `Authorization`.
    configured: Option<HeaderValue>,
    /// Where editors leave their lock files.
    ide: PathBuf,
}

/// An open connection.
pub(crate) struct Opened {
    pub connection: Connection,
    pub process: Option<Process>,
}

impl Dialer {
    /// For this server.
    ///
    /// # Errors
    /// When a header of its entry cannot be sent.
    pub fn new(server: &Server) -> Result<Self, String> {
        let mut headers = HeaderMap::new();
        if let Transport::Remote { headers: own, .. } = &server.transport {
            for (name, value) in own {
                let header = name.parse::<HeaderName>().ok();
                let header = header.zip(value.parse::<HeaderValue>().ok());
                let (key, mut value) =
                    header.ok_or_else(|| format!("the header {name} cannot be sent"))?;
                value.set_sensitive(true);
                headers.insert(key, value);
            }
        }
        Ok(Self {
            transport: server.transport.clone(),
            configured: headers.get("authorization").cloned(),
            headers: Arc::new(Mutex::new(headers)),
            ide: config_home(&|name| std::env::var(name).ok()).join("ide"),
        })
    }

    /// The address, for a login.
    pub(crate) fn url(&self) -> Option<&str> {
        match &self.transport {
            Transport::Remote { url, .. } => Some(url),
            _ => None,
        }
    }

    /// Puts the login's header in place of the configuration's.
    pub(crate) fn authorize(&self, header: Option<HeaderValue>) {
        let mut headers = self.headers.lock().unwrap();
        match header.or_else(|| self.configured.clone()) {
            Some(header) => headers.insert("authorization", header),
            None => headers.remove("authorization"),
        };
    }

    pub(crate) async fn open(&self) -> Result<Opened, Error> {
        let (kind, url) = match &self.transport {
            Transport::Stdio { command, args, env } => return start(command, args, env),
            Transport::Sdk(open) => return open().await.map(Opened::from),
            Transport::Remote { kind, url, .. } => (kind, url),
        };
        let connection = match kind {
            Remote::Http => http::connect(self.options(url)),
            Remote::Sse => legacy::connect(self.options(url)).await?,
            Remote::Ws => self.websocket(url).await?,
            Remote::SseIde(token) => {
                let token = match token {
                    Some(token) => token.clone(),
                    None => self.ide_token(url)?,
                };
                let token = token.parse();
                let token = token.map_err(|_| broken("the editor's token cannot be sent"))?;
                self.headers.lock().unwrap().insert(IDE_TOKEN, token);
                legacy::connect(self.options(url)).await?
            }
        };
        Ok(connection.into())
    }

    fn options(&self, url: &str) -> ClientOptions {
        /// Shared by all connections: it holds the roots of TLS.
        static HTTP: LazyLock<reqwest::Client> = LazyLock::new(|| ClientOptions::new("").http);
        ClientOptions {
            url: url.to_owned(),
            headers: self.headers.clone(),
            http: HTTP.clone(),
            limit: FRAME_LIMIT,
        }
    }

    async fn websocket(&self, url: &str) -> Result<Connection, Error> {
        let options = ws::Options {
            headers: self.headers.lock().unwrap().clone(),
            ..ws::Options::default()
        };
        if url.starts_with("ws:") {
            return ws::connect(url, &options).await;
        }
        let mut request = url
            .into_client_request()
            .map_err(|error| broken(&error.to_string()))?;
        request.headers_mut().extend(options.headers.clone());
        let protocol = HeaderValue::from_static("mcp");
        request
            .headers_mut()
            .insert("sec-websocket-protocol", protocol);
        let uri = request.uri();
        let host = uri
            .host()
            .unwrap_or_default()
            .trim_matches(['[', ']'])
            .to_owned();
        let port = uri.port_u16().unwrap_or(443);
        let failed = |error: std::io::Error| broken(&format!("{host}:{port}: {error}"));
        let tcp = TcpStream::connect((host.as_str(), port))
            .await
            .map_err(failed)?;
        let _ = tcp.set_nodelay(true);
        // Fails when the program has chosen one already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let config = rustls::ClientConfig::with_platform_verifier();
        let config = config.map_err(|error| broken(&error.to_string()))?;
        let name = rustls::pki_types::ServerName::try_from(host.clone());
        let name = name.map_err(|error| broken(&error.to_string()))?;
        let tls = tokio_rustls::TlsConnector::from(Arc::new(config));
        let stream = tls.connect(name, tcp).await.map_err(failed)?;
        ws::over(request, stream, &options).await
    }

    /// The token that an editor has left for whoever connects to its port.
    fn ide_token(&self, url: &str) -> Result<String, Error> {
        let port = url.parse().ok().and_then(|url: hyper::Uri| url.port_u16());
        let file = self.ide.join(format!("{}.lock", port.unwrap_or(80)));
        let text = std::fs::read(&file).ok();
        let lock = text.and_then(|text| serde_json::from_slice::<serde_json::Value>(&text).ok());
        let token = lock.and_then(|lock| Some(lock["authToken"].as_str()?.to_owned()));
        token.ok_or_else(|| broken(&format!("there is no `authToken` in {}", file.display())))
    }
}

/// Where Claude Code keeps its settings.
pub fn config_home(variable: &dyn Fn(&str) -> Option<String>) -> PathBuf {
    variable("CLAUDE_CONFIG_DIR").map_or_else(
        || PathBuf::from(variable("HOME").unwrap_or_default()).join(".claude"),
        PathBuf::from,
    )
}

impl From<Connection> for Opened {
    fn from(connection: Connection) -> Self {
        Self {
            connection,
            process: None,
        }
    }
}

fn broken(why: &str) -> Error {
    Error::Broken(why.to_owned())
}

/// A server that runs as a child.
pub(crate) struct Process {
    child: stdio::Child,
    said: Arc<Mutex<VecDeque<String>>>,
}

fn start(program: &str, args: &[String], env: &BTreeMap<String, String>) -> Result<Opened, Error> {
    // Arguments and environment may hold passwords, so the error names the program alone.
    let failed = |error: std::io::Error| broken(&format!("{program} does not start: {error}"));
    let (errors, stderr) = std::io::pipe().map_err(failed)?;
    let errors = Receiver::from_owned_fd(errors.into()).map_err(failed)?;
    let mut command = Command::new(program);
    command.args(args).stderr(Stdio::from(stderr));
    for key in KEYS {
        command.env_remove(key);
    }
    let (connection, child) = stdio::spawn(command.envs(env), FRAME_LIMIT).map_err(failed)?;
    let said = Arc::<Mutex<VecDeque<String>>>::default();
    tokio::spawn(listen(errors, program.to_owned(), said.clone()));
    let process = Some(Process { child, said });
    Ok(Opened {
        connection,
        process,
    })
}

/// Keeps the last lines of a child's standard error.
async fn listen(errors: Receiver, program: String, said: Arc<Mutex<VecDeque<String>>>) {
    let mut errors = BufReader::new(errors);
    let mut line = Vec::new();
    loop {
        line.clear();
        // A line without an end is read in parts.
        let mut part = tokio::io::AsyncReadExt::take(&mut errors, 64 << 10);
        if !part
            .read_until(b'\n', &mut line)
            .await
            .is_ok_and(|read| read > 0)
        {
            return;
        }
        let text = kit::cut(&one_line(&String::from_utf8_lossy(&line)), TAIL.1);
        if text.is_empty() {
            continue;
        }
        tracing::debug!(server = program, "{text}");
        let mut said = said.lock().unwrap();
        said.push_back(text);
        if said.len() > TAIL.0 {
            said.pop_front();
        }
    }
}

impl Process {
    /// Why it has ended: its exit status, and what it said last.
    pub async fn last_words(&mut self) -> String {
        let status = timeout(LAST_WORDS, self.child.wait()).await;
        let ended = match status {
            Ok(Ok(status)) => format!("the server has ended ({status})"),
            _ => "the server has closed its output".to_owned(),
        };
        let said = self.said.lock().unwrap();
        if said.is_empty() {
            return ended;
        }
        let said: Vec<_> = said.iter().map(String::as_str).collect();
        format!("{ended}: {}", said.join(" / "))
    }

    /// Ends it and its group.
    pub async fn stop(self) {
        self.child.stop().await;
    }
}

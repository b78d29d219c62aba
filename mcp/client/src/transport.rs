//! Opens a connection to a server, whatever carries it.
//!
//! The transports are mcp_wire's; here one is chosen, started and watched. Invariants: a child has no key of ours in its
//! environment unless its entry puts it there, and its last words on standard error are kept for the error.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use hyper::Uri;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use mcp_wire::frame::FRAME_LIMIT;
use mcp_wire::http::ClientOptions;
use mcp_wire::{Connection, Error, http, stdio, ws};
use rustls::pki_types::InvalidDnsNameError;
use rustls_platform_verifier::ConfigVerifierExt;
use tokio::net::TcpStream;
use tokio::net::unix::pipe::Receiver;
use tokio::process::Command;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::child::{Errors, without_keys};
use crate::config::{Server, Transport};

/// How many programs on this crate have started one another, and the most that may: a configuration can name, by a detour,
/// the program that reads it, and each start would be followed by another.
const DEPTH: (&str, u32) = ("MCP_CLIENT_DEPTH", 4);
/// For a child whose output has ended to end itself.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// What an editor wants its token in.
const IDE_TOKEN: HeaderName = HeaderName::from_static("x-claude-code-ide-authorization");

/// Opens connections to one server.
pub struct Dialer {
    server: Server,
    /// Sent with each request; the login's header among them.
    headers: Arc<Mutex<HeaderMap>>,
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
        for (name, value) in &server.headers {
            let header = name.parse::<HeaderName>().ok();
            let header = header.zip(value.parse::<HeaderValue>().ok());
            let (key, mut value) =
                header.ok_or_else(|| format!("the header {name} cannot be sent"))?;
            value.set_sensitive(true);
            headers.insert(key, value);
        }
        let headers = Arc::new(Mutex::new(headers));
        Ok(Self {
            server: server.clone(),
            headers,
        })
    }

    /// The address, for a login; without one there is none.
    pub(crate) fn url(&self) -> &str {
        &self.server.url
    }

    /// Sends the login's header from now on, when there is one.
    pub(crate) fn authorize(&self, header: Option<HeaderValue>) {
        if let Some(header) = header {
            self.headers.lock().unwrap().insert(AUTHORIZATION, header);
        }
    }

    pub(crate) async fn open(&self) -> Result<Opened, Error> {
        let connection = match (self.server.transport, &self.server.sdk) {
            (Transport::Stdio, _) => return start(&self.server),
            (Transport::Sdk, Some(open)) => open().await?,
            (Transport::Sdk, None) => return Err(broken("there is no service behind it")),
            (Transport::Http, _) => http::connect(self.options()),
            (Transport::Ws, _) => self.websocket().await?,
            (Transport::Sse, _) => http::connect_sse(self.options()).await?,
            (Transport::SseIde, _) => {
                let token = self.server.token.clone().map_or_else(|| self.ide_token(), Ok)?;
                let token =
                    token.parse().map_err(|_| broken("the editor's token cannot be sent"))?;
                self.headers.lock().unwrap().insert(IDE_TOKEN, token);
                http::connect_sse(self.options()).await?
            }
        };
        Ok(Opened {
            connection,
            process: None,
        })
    }

    fn options(&self) -> ClientOptions {
        /// Shared by all connections: it holds the roots of TLS.
        static HTTP: LazyLock<reqwest::Client> = LazyLock::new(|| ClientOptions::new("").http);
        ClientOptions {
            url: self.server.url.clone(),
            headers: self.headers.clone(),
            http: HTTP.clone(),
            limit: FRAME_LIMIT,
        }
    }

    async fn websocket(&self) -> Result<Connection, Error> {
        let (url, options) = (&self.server.url, self.options());
        if url.starts_with("ws:") {
            return ws::connect(options).await;
        }
        let failed = |error: &dyn std::fmt::Display| broken(&error.to_string());
        let uri: Uri = url.parse().map_err(|error| failed(&error))?;
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let port = uri.port_u16().unwrap_or(443);
        let tcp = TcpStream::connect((host.as_str(), port)).await;
        let tcp = tcp.map_err(|error| failed(&error))?;
        let _ = tcp.set_nodelay(true);
        // Fails when the program has chosen one already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let config =
            rustls::ClientConfig::with_platform_verifier().map_err(|error| failed(&error))?;
        let name = host.try_into().map_err(|error: InvalidDnsNameError| failed(&error))?;
        let tls = TlsConnector::from(Arc::new(config)).connect(name, tcp).await;
        ws::over(tls.map_err(|error| failed(&error))?, options).await
    }

    /// The token that an editor has left for whoever connects to its port.
    fn ide_token(&self) -> Result<String, Error> {
        let port = self.server.url.parse().ok().and_then(|url: Uri| url.port_u16());
        let home = config_home(&|name| std::env::var(name).ok());
        let file = home.join(format!("ide/{}.lock", port.unwrap_or(80)));
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

fn broken(why: &str) -> Error {
    Error::Broken(why.to_owned())
}

/// A server that runs as a child.
pub(crate) struct Process {
    child: stdio::Child,
    errors: Errors,
}

fn start(server: &Server) -> Result<Opened, Error> {
    let program = &server.command;
    // Arguments and environment may hold passwords, so the error names the program alone.
    let failed = |error: std::io::Error| broken(&format!("{program} does not start: {error}"));
    let depth = std::env::var(DEPTH.0).ok().and_then(|depth| depth.parse().ok()).unwrap_or(0);
    if depth >= DEPTH.1 {
        let why = "is not started: the programs above it start one another without end";
        return Err(broken(&format!("{program} {why}; mend their configuration")));
    }
    let (errors, stderr) = std::io::pipe().map_err(failed)?;
    let errors = Receiver::from_owned_fd(errors.into()).map_err(failed)?;
    let mut command = Command::new(program);
    command.args(&server.args).stderr(Stdio::from(stderr));
    without_keys(command.envs(&server.env).env(DEPTH.0, (depth + 1).to_string()));
    let (connection, child) = stdio::spawn(&mut command, FRAME_LIMIT).map_err(failed)?;
    let errors = Errors::listen(errors, &server.name);
    let process = Some(Process { child, errors });
    Ok(Opened {
        connection,
        process,
    })
}

impl Process {
    /// Why it has ended: its exit status, and what it said last.
    pub async fn last_words(&mut self) -> String {
        let status = timeout(LAST_WORDS, self.child.wait()).await;
        let ended = match status {
            Ok(Ok(status)) => format!("the server has ended ({status})"),
            _ => "the server has closed its output".to_owned(),
        };
        match self.errors.last().await {
            said if said.is_empty() => ended,
            said => format!("{ended}: {said}"),
        }
    }

    /// Ends it and its group.
    pub async fn stop(self) {
        self.child.stop().await;
    }
}

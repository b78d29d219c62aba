//! Where clients come in: standard input and output, or streamable HTTP with a token.
//!
//! Every program around MCP has the same front, so that all of them start, refuse, tell how they are and end alike.
//! Invariants: no request from a foreign page or without the token reaches a program; a client whose call is under way
//! when the program is told to stop has ten seconds for its answer.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyper::header::{AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};
pub use mcp_client::start::{Common, FAILED, Failure, Shell, completions, main, say, table};
use mcp_wire::http::{Hosts, Listener, Pages, ServerOptions};
use mcp_wire::{Connection, stdio};
use serde_json::json;
use subtle::ConstantTimeEq;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

/// For calls that are under way when the program is told to stop.
pub const LAST_CALLS: Duration = Duration::from_secs(10);

/// How clients reach a program; `#[command(flatten)]` it.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Args {
    /// Serves streamable HTTP at http://127.0.0.1:PORT/mcp instead of standard input and output; 0 takes a free port
    #[arg(long, value_name = "[ADDRESS:]PORT")]
    pub http: Option<Address>,
    /// Requests must carry this file's token as `Authorization: Bearer …`
    #[arg(long, value_name = "FILE", requires = "http")]
    pub token_file: Option<PathBuf>,
    /// Another name that requests may call this server by
    #[arg(long, value_name = "NAME", requires = "http")]
    pub allow_host: Vec<String>,
}

/// Where to listen.
#[derive(Clone, Copy, Debug)]
pub struct Address(pub SocketAddr);

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let port = text.parse().map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let address = port.or_else(|_| text.parse());
        address.map(Self).map_err(|_| "a port is wanted, or ADDRESS:PORT".to_owned())
    }
}

impl Args {
    /// For somebody who has started the program by hand, on a terminal that speaks no MCP: five lines to print instead of
    /// waiting. `about` is a sentence; `files` are options, and the files behind those that were given.
    pub fn explain(
        &self,
        program: &str,
        about: &str,
        files: &[(&str, Option<&Path>)],
    ) -> Option<String> {
        let terminal = std::io::IsTerminal::is_terminal(&std::io::stdin());
        (terminal && self.http.is_none()).then(|| {
            let path = std::env::current_exe().unwrap_or_else(|_| program.into());
            let given = files.iter().filter_map(|(option, file)| Some((option, (*file)?)));
            let arguments = given.flat_map(|(option, file)| {
                let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
                [(*option).to_owned(), file.display().to_string()]
            });
            let entry = json!({ "command": path, "args": arguments.collect::<Vec<_>>() });
            format!(
                "{program}: {about}\n\
                 It speaks MCP on standard input and output, for a program that starts it. Put this into its .mcp.json:\n  \
                 {{\"mcpServers\": {{\"{program}\": {entry}}}}}\n\
                 Or serve it over HTTP: {program} --http 8080\n\
                 All else: {program} --help"
            )
        })
    }

    /// Opens the front. `ready` answers `/readyz`; `pages` answers what is asked for beside `/mcp`.
    ///
    /// # Errors
    /// Why it cannot be opened.
    pub async fn open(&self, ready: Ready, pages: Option<Pages>) -> Result<Front, String> {
        let (stop, mut stopped) = watch::channel(false);
        let Some(Address(address)) = self.http else {
            let stopped = async move { _ = stopped.wait_for(|stop| *stop).await };
            let (connection, written) = stdio::own_until(stopped);
            let clients = Clients::Stdio(Some(connection), written);
            return Front::new(clients, stop);
        };
        let token = self.token_file.as_ref().map(|file| {
            let text = std::fs::read_to_string(file).unwrap_or_default().trim().to_owned();
            let bad = text.is_empty() || !text.bytes().all(|it| it.is_ascii_graphic());
            let why =
                || format!("{}: there must be a token in it, and nothing else", file.display());
            if bad { Err(why()) } else { Ok(text) }
        });
        let token = token.transpose()?;
        if token.is_none() && !address.ip().is_loopback() {
            return Err(format!("{address}: other machines reach it, so it needs --token-file"));
        }
        let own = Some(address.ip()).filter(|ip| !ip.is_unspecified()).map(|ip| match ip {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        });
        let options = ServerOptions {
            hosts: Hosts(self.allow_host.iter().cloned().chain(own).collect()),
            guard: Some(Arc::new(move |request| guard(request, token.as_deref(), &ready))),
            pages,
            ..ServerOptions::default()
        };
        let listener = Listener::bind(address, options).await;
        let listener = listener.map_err(|error| format!("listening at {address}: {error}"))?;
        Front::new(Clients::Http(listener), stop)
    }
}

/// The two pages for those who watch the program, and the token for all others.
fn guard(request: &Parts, token: Option<&str>, ready: &Ready) -> Option<Response<String>> {
    let page = |status, text| Some(response(status, "text/plain; charset=utf-8", text));
    match request.uri.path() {
        "/healthz" => return page(StatusCode::OK, "ok\n".to_owned()),
        "/readyz" => {
            let missing = ready.missing();
            return if missing.is_empty() {
                page(StatusCode::OK, "ready\n".to_owned())
            } else {
                page(StatusCode::SERVICE_UNAVAILABLE, missing.join("\n") + "\n")
            };
        }
        _ => {}
    }
    let token = token?;
    let given = request.headers.get(AUTHORIZATION).map(|it| it.as_bytes()).unwrap_or_default();
    let scheme = given.get(..7).is_some_and(|it| it.eq_ignore_ascii_case(b"bearer "));
    if scheme && bool::from(given[7..].trim_ascii().ct_eq(token.as_bytes())) {
        return None;
    }
    let why = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"type":"unauthorized","message":"the token is missing or wrong"}}"#;
    let mut refusal = response(StatusCode::UNAUTHORIZED, "application/json", why.to_owned());
    refusal.headers_mut().insert(WWW_AUTHENTICATE, "Bearer".parse().expect("it is ASCII"));
    Some(refusal)
}

fn response(status: StatusCode, kind: &str, body: String) -> Response<String> {
    let response = Response::builder().status(status).header(CONTENT_TYPE, kind);
    response.body(body).expect("nothing special is in it")
}

/// What a program still lacks, or what has failed: a sentence each. It is ready when there is none.
#[derive(Clone, Debug, Default)]
pub struct Ready(Arc<Mutex<BTreeMap<String, String>>>);

impl Ready {
    /// `what` is missing, as `sentence` says.
    pub fn lacks(&self, what: &str, sentence: impl Into<String>) {
        self.0.lock().unwrap().insert(what.to_owned(), sentence.into());
    }

    /// `what` is there, or is not needed any more.
    pub fn has(&self, what: &str) {
        self.0.lock().unwrap().remove(what);
    }

    /// The sentences.
    pub fn missing(&self) -> Vec<String> {
        self.0.lock().unwrap().values().cloned().collect()
    }
}

/// An open front.
pub struct Front {
    clients: Clients,
    /// Ends the reading of standard input.
    stop: watch::Sender<bool>,
    signals: [Signal; 2],
}

enum Clients {
    Stdio(Option<Connection>, JoinHandle<()>),
    Http(Listener),
}

impl Front {
    fn new(clients: Clients, stop: watch::Sender<bool>) -> Result<Self, String> {
        let hear = |kind| signal(kind).map_err(|error| format!("waiting for signals: {error}"));
        let signals = [hear(SignalKind::interrupt())?, hear(SignalKind::terminate())?];
        Ok(Self {
            clients,
            stop,
            signals,
        })
    }

    /// Where HTTP clients find it.
    pub fn address(&self) -> Option<SocketAddr> {
        match &self.clients {
            Clients::Http(listener) => Some(listener.address()),
            Clients::Stdio(..) => None,
        }
    }

    /// Serves each client until the one on standard input is gone, SIGTERM or Ctrl-C. A client's future ends by itself
    /// when its reader does: it answers what is under way, and drops its writer. The program closes what it holds behind this.
    pub async fn serve<F>(mut self, serve: impl Fn(Connection) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let mut serving = JoinSet::new();
        loop {
            let client = tokio::select! {
                client = self.clients.next(), if !self.clients.is_last() || serving.is_empty() => client,
                Some(_) = serving.join_next() => continue,
                () = told(&mut self.signals) => None,
            };
            match client {
                Some(client) => _ = serving.spawn(serve(client)),
                None => break,
            }
        }
        self.stop.send_replace(true);
        let clients = self.clients;
        let ending = async move {
            let served = async { while serving.join_next().await.is_some() {} };
            match clients {
                Clients::Http(listener) => _ = tokio::join!(served, listener.close()),
                Clients::Stdio(_, written) => _ = tokio::join!(served, written),
            }
        };
        tokio::select! {
            ended = timeout(LAST_CALLS, ending) => if ended.is_err() {
                tracing::warn!("calls are still under way after {LAST_CALLS:?}");
            },
            () = told(&mut self.signals) => tracing::warn!("told twice to stop: calls under way are lost"),
        }
    }
}

impl Clients {
    async fn next(&mut self) -> Option<Connection> {
        match self {
            Self::Stdio(connection, _) => connection.take(),
            Self::Http(listener) => listener.accept().await,
        }
    }

    /// Whether nobody comes after those who are served.
    fn is_last(&self) -> bool {
        matches!(self, Self::Stdio(None, _))
    }
}

async fn told([interrupt, terminate]: &mut [Signal; 2]) {
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

//! A server: the handshake, the list of its tools, calls.
//!
//! What MCP adds to a conversation in JSON-RPC, as far as a client of tools needs it. What stands in brackets in these
//! files, such as `server/tools`, is a page of <https://modelcontextprotocol.io/specification/2025-11-25>. Invariant: the list is read whole,
//! again when the server says that it has changed, once at a time and not without a pause.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Result, bail};
use s02_tools::Workspace;
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use crate::connection::{Connection, OnProgress, Patience};
use crate::launch::Launch;
use crate::lines::MAX_LINE;
use crate::plain::one_line;
use crate::process::Process;
use crate::protocol::{CallResult, Hello, KNOWN_VERSIONS, Page, ToolInfo, Unreadable, VERSION};

/// How many pages a list of tools may have.
const MAX_PAGES: usize = 1_000;

/// How long a list is good at least, however often its server says that it has changed, unless a call waits for it.
const BETWEEN_LISTS: Duration = Duration::from_secs(1);

/// How long a call that has its answer waits at most for a list that was announced before.
const RELISTED: Duration = Duration::from_secs(5);

/// A server that runs. Clones share it; when the last one drops, it is killed.
#[derive(Clone)]
pub struct Server {
    inner: Arc<Inner>,
}

struct Inner {
    launch: Launch,
    connection: Connection,
    instructions: Option<String>,
    listed: Arc<Listed>,
    /// The conversation and the list, kept up. Dropping them drops the process.
    _tasks: JoinSet<()>,
}

/// A server's list of tools.
#[derive(Clone, Default)]
struct List {
    tools: Arc<[Arc<ToolInfo>]>,
    unreadable: Arc<[Unreadable]>,
}

/// The list as last read.
#[derive(Default)]
struct Listed {
    /// A std lock: nothing is awaited while it is held.
    list: Mutex<List>,
    /// How many announcements of a change were there when it was read.
    read: watch::Sender<u64>,
    /// A call waits for it.
    is_wanted: Notify,
}

impl Listed {
    fn of(list: List) -> Self {
        Self {
            list: Mutex::new(list),
            ..Self::default()
        }
    }
}

impl Server {
    /// Starts a server, shakes hands and reads the list of its tools.
    ///
    /// # Errors
    /// When it does not start or does not speak the protocol. Its process has been killed then.
    pub async fn start(launch: Launch, ws: &Workspace) -> Result<Self> {
        Self::start_with(launch, ws, Patience::default()).await
    }

    /// The same with another patience.
    ///
    /// # Errors
    /// When it does not start or does not speak the protocol. Its process has been killed then.
    pub async fn start_with(launch: Launch, ws: &Workspace, patience: Patience) -> Result<Self> {
        let (process, streams) = Process::start(&launch, ws)?;
        let connection = Connection::new(&launch.name, patience);
        let mut tasks = JoinSet::new();
        tasks.spawn(connection.clone().serve(process, streams));
        let began = Instant::now();
        let greeted = async {
            let hello = shake_hands(&connection).await?;
            let left = patience.start.saturating_sub(began.elapsed());
            Ok((list(&connection, &hello, left).await?, hello))
        };
        match greeted.await {
            Ok((list, hello)) => {
                let listed = Arc::new(Listed::of(list));
                let instructions = hello.instructions.clone();
                tasks.spawn(keep_listed(connection.clone(), hello, listed.clone()));
                let inner = Inner {
                    launch,
                    connection,
                    instructions,
                    listed,
                    _tasks: tasks,
                };
                Ok(Self {
                    inner: Arc::new(inner),
                })
            }
            Err(error) => {
                tasks.shutdown().await;
                Err(error)
            }
        }
    }

    /// What the user calls it.
    pub fn name(&self) -> &str {
        &self.inner.launch.name
    }

    /// Its tools as last listed.
    pub fn tools(&self) -> Arc<[Arc<ToolInfo>]> {
        self.inner.listed.list.lock().unwrap().tools.clone()
    }

    /// The entries of the same list that are no tools.
    pub fn unreadable(&self) -> Arc<[Unreadable]> {
        self.inner.listed.list.lock().unwrap().unreadable.clone()
    }

    /// What it says about how to use it.
    pub fn instructions(&self) -> Option<&str> {
        self.inner.instructions.as_deref()
    }

    /// Calls a tool by the name its server gave it (`server/tools`, section Calling Tools). Dropping the future cancels
    /// the call.
    ///
    /// # Errors
    /// When the server refuses the call, does not answer in time, or fails. A tool that fails is no error here.
    pub async fn call(&self, tool: &str, arguments: Value) -> Result<CallResult> {
        self.call_with_progress(tool, arguments, |_| {}).await
    }

    /// The same, telling meanwhile how far the server says it is.
    ///
    /// # Errors
    /// As above.
    pub async fn call_with_progress(
        &self,
        tool: &str,
        arguments: Value,
        on_progress: impl Fn(&str) + Send + 'static,
    ) -> Result<CallResult> {
        let Inner {
            connection, launch, ..
        } = &*self.inner;
        let params = json!({ "name": tool, "arguments": arguments });
        let within = launch.timeout.unwrap_or(connection.patience().call);
        let on_progress = Some(Box::new(on_progress) as OnProgress);
        let result = connection
            .request("tools/call", params, within, on_progress)
            .await;
        self.relisted().await;
        result
    }

    /// Waits until the list is read that was announced before now: what a call has brought, the next request holds.
    async fn relisted(&self) {
        let listed = &self.inner.listed;
        let (announced, mut read) = (self.inner.connection.announced(), listed.read.subscribe());
        if *read.borrow() < announced {
            listed.is_wanted.notify_one();
            let _ = timeout(RELISTED, read.wait_for(|read| *read >= announced)).await;
        }
    }

    /// One sentence on why there is nothing more to expect of it, once that is so.
    pub fn failure(&self) -> Option<String> {
        self.inner.connection.failure()
    }

    /// Ends it: closes its input and waits; then asks it to end; then kills it.
    pub async fn shut_down(&self) {
        self.inner.connection.close().await;
    }
}

/// The handshake (`basic/lifecycle`, section Initialization).
async fn shake_hands(connection: &Connection) -> Result<Hello> {
    let params = json!({
        "protocolVersion": VERSION,
        "capabilities": {},
        "clientInfo": { "name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION") },
    });
    let within = connection.patience().start;
    let hello: Hello = connection
        .request("initialize", params, within, None)
        .await?;
    let (name, version) = (connection.name(), &*hello.protocol_version);
    if !KNOWN_VERSIONS.contains(&version) {
        let (version, known) = (one_line(version, 40), KNOWN_VERSIONS.join(", "));
        bail!("the MCP server '{name}' speaks version {version} of MCP; known here are {known}");
    }
    connection.notify("notifications/initialized", &json!({}))?;
    Ok(hello)
}

/// The whole list, within this time. A server without that capability has an empty one.
async fn list(connection: &Connection, hello: &Hello, within: Duration) -> Result<List> {
    if hello.capabilities.tools.is_none() {
        return Ok(List::default());
    }
    let Ok(list) = timeout(within, all_pages(connection)).await else {
        let (name, most) = (connection.name(), connection.patience().start);
        bail!("the MCP server '{name}' did not list all of its tools within {most:?}");
    };
    list
}

/// All tools, page by page (`server/utilities/pagination`).
async fn all_pages(connection: &Connection) -> Result<List> {
    let (mut tools, mut unreadable) = (Vec::new(), Vec::new());
    let mut params = json!({});
    let mut size = 0;
    for _ in 0..MAX_PAGES {
        let within = connection.patience().start;
        let page: Page = connection
            .request("tools/list", params, within, None)
            .await?;
        for entry in page.tools {
            size += entry.get().len();
            match ToolInfo::read(entry.get()) {
                Ok(tool) => tools.push(Arc::new(tool)),
                // It is left out; the others are not its fault.
                Err(entry) => unreadable.push(entry),
            }
        }
        if size > MAX_LINE {
            let (name, most) = (connection.name(), MAX_LINE >> 20);
            bail!("the MCP server '{name}' lists more than {most} MB of tools");
        }
        match page.next_cursor.filter(|cursor| !cursor.is_empty()) {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => {
                let (tools, unreadable) = (tools.into(), unreadable.into());
                return Ok(List { tools, unreadable });
            }
        }
    }
    let name = connection.name();
    bail!("the MCP server '{name}' lists its tools on more than {MAX_PAGES} pages")
}

/// Reads the list again whenever it has changed (`server/tools`, section List Changed Notification). When that goes
/// wrong, the list stays as it was.
async fn keep_listed(connection: Connection, hello: Hello, listed: Arc<Listed>) {
    let mut announced = 0;
    loop {
        announced = connection.list_changed(announced).await;
        let within = connection.patience().start;
        if let Ok(fresh) = list(&connection, &hello, within).await {
            *listed.list.lock().unwrap() = fresh;
        }
        listed.read.send_replace(announced);
        // Some servers say so each time they are asked.
        let _ = timeout(BETWEEN_LISTS, listed.is_wanted.notified()).await;
    }
}

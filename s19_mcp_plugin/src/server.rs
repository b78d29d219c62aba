//! A server: initialization, the list of its tools, calls.
//!
//! What MCP adds to a conversation in JSON-RPC, as far as a client of tools needs it. What stands in brackets in these
//! files, such as `server/tools`, is a page of <https://modelcontextprotocol.io/specification/2025-11-25>. Invariant: the
//! list is read whole, again when the server says that it has changed, once at a time and not without a pause.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use anyhow::{Result, bail};
use s02_tools::Workspace;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Notify, SetOnce, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout, timeout_at};

use crate::connection::{Connection, OnNotification, OnProgress, Peer};
use crate::lines::{MAX_LINE, StderrTail};
use crate::process::{Process, StdioServerConfig};
use crate::protocol::{
    CallToolResult, InitializeResult, KNOWN_VERSIONS, LeftOut, ListToolsResult, Tool, VERSION,
};
use crate::text::one_line;

/// `server/tools`, section List Changed Notification
const LIST_CHANGED: &str = "notifications/tools/list_changed";

/// How many pages a list of tools may have.
const MAX_PAGES: usize = 1_000;

/// The pause between two lists, however often the server says that its list has changed, unless a call waits for it.
const BETWEEN_LISTS: Duration = Duration::from_secs(1);

/// How long a call that has its answer waits at most for a list that was announced before.
const RELISTED: Duration = Duration::from_secs(5);

/// Called with the method and the params of each notification that this library does not know, once the server has been
/// initialized.
pub type Listener = Arc<dyn Fn(&Peer, &str, &str) + Send + Sync>;

/// The timeouts of a server.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// For `initialize` and the first list of tools together, and for each later list.
    pub start: Duration,
    /// For a call. Progress does not extend it.
    pub call: Duration,
    /// For the end of a process, before SIGTERM and again before SIGKILL.
    pub end: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(30),
            call: Duration::from_millis(100_000_000),
            end: Duration::from_secs(2),
        }
    }
}

/// A running server. Clones share it; when the last one drops, its process is killed.
#[derive(Clone)]
pub struct Server {
    inner: Arc<Inner>,
}

struct Inner {
    connection: Connection,
    timeouts: Timeouts,
    instructions: Option<String>,
    list: Arc<List>,
    /// The connection is closed and its process has ended.
    ended: Arc<SetOnce<()>>,
    /// They serve the connection and keep the list up to date. Dropping them drops the process.
    _tasks: JoinSet<()>,
}

/// A server's list of tools.
#[derive(Default)]
struct List {
    /// As last read. A std lock: nothing is awaited while it is held.
    listed: Mutex<Listed>,
    /// How often the server has said that it has changed.
    changes: watch::Sender<u64>,
    /// How many of these changes there were when it was last read.
    seen: watch::Sender<u64>,
    /// A call waits for it.
    is_wanted: Notify,
    /// Whoever listens, once the server may speak.
    listening: OnceLock<(Peer, Listener)>,
}

#[derive(Clone, Default)]
struct Listed {
    tools: Arc<[Arc<Tool>]>,
    malformed: Arc<[LeftOut]>,
}

impl Server {
    /// Starts a program, initializes it and lists its tools.
    ///
    /// # Errors
    /// When it does not start or does not speak the protocol. Its process has been killed then.
    pub async fn start(
        config: &StdioServerConfig,
        ws: &Workspace,
        timeouts: Timeouts,
    ) -> Result<Self> {
        Self::start_with(config, ws, timeouts, None).await
    }

    /// The same for somebody who listens.
    ///
    /// # Errors
    /// As above.
    pub async fn start_with(
        config: &StdioServerConfig,
        ws: &Workspace,
        mut timeouts: Timeouts,
        listener: Option<Listener>,
    ) -> Result<Self> {
        timeouts.call = config.timeout.unwrap_or(timeouts.call);
        let process = Process::start(config, ws)?;
        let (list, stderr) = <(Arc<List>, Arc<StderrTail>)>::default();
        let (connection, posted) = Connection::new(&config.name, &stderr, list.listener());
        let serve = process.serve(connection.clone(), posted, stderr, timeouts.end);
        Self::initialized(connection, list, serve, timeouts, listener).await
    }

    /// Initializes a server that runs already, at the other end of two byte streams, and lists its tools.
    ///
    /// # Errors
    /// When it does not speak the protocol.
    pub async fn connect(
        name: &str,
        output: impl AsyncRead + Unpin + Send + 'static,
        input: impl AsyncWrite + Unpin + Send + 'static,
        timeouts: Timeouts,
    ) -> Result<Self> {
        let list = Arc::<List>::default();
        let (connection, posted) = Connection::new(name, &Arc::default(), list.listener());
        let served = connection.clone();
        let serve = async move {
            let why = served.serve(posted, output, input).await;
            served.fail(why.as_deref().unwrap_or("it closed the connection"));
        };
        Self::initialized(connection, list, serve, timeouts, None).await
    }

    async fn initialized(
        connection: Connection,
        list: Arc<List>,
        serve: impl Future<Output = ()> + Send + 'static,
        timeouts: Timeouts,
        listener: Option<Listener>,
    ) -> Result<Self> {
        let mut tasks = JoinSet::new();
        let ended = Arc::new(SetOnce::new());
        let over = ended.clone();
        tasks.spawn(async move {
            serve.await;
            let _ = over.set(());
        });
        let began = Instant::now();
        let ready = async {
            let hello = initialize(&connection, timeouts.start).await?;
            if let Some(listener) = listener {
                let peer = connection.peer(hello.capabilities.experimental.clone());
                let _ = list.listening.set((peer, listener));
            }
            // From now on the server may speak.
            connection.notify("notifications/initialized", &json!({}))?;
            if hello.capabilities.tools.is_some() {
                list.read(&connection, timeouts.start, began + timeouts.start).await?;
            }
            anyhow::Ok(hello)
        };
        let hello = match ready.await {
            Ok(hello) => hello,
            Err(error) => {
                tasks.shutdown().await;
                return Err(error);
            }
        };
        if hello.capabilities.tools.is_some() {
            tasks.spawn(list.clone().keep(connection.clone(), timeouts.start));
        }
        let inner = Inner {
            connection,
            timeouts,
            instructions: hello.instructions,
            list,
            ended,
            _tasks: tasks,
        };
        let inner = Arc::new(inner);
        Ok(Self { inner })
    }

    /// What the user calls it.
    pub fn name(&self) -> &str {
        self.inner.connection.name()
    }

    /// Its tools as last listed.
    pub fn tools(&self) -> Arc<[Arc<Tool>]> {
        self.inner.list.listed.lock().unwrap().tools.clone()
    }

    /// The malformed entries of the same list.
    pub fn malformed(&self) -> Arc<[LeftOut]> {
        self.inner.list.listed.lock().unwrap().malformed.clone()
    }

    /// How to use it, in its own words.
    pub fn instructions(&self) -> Option<&str> {
        self.inner.instructions.as_deref()
    }

    /// Calls a tool by the name its server gave it (`server/tools`, section Calling Tools), and passes progress on.
    /// Dropping the future cancels the call.
    ///
    /// # Errors
    /// When the server refuses the call, does not answer in time, or fails. A tool that fails is no error here.
    pub async fn call(
        &self,
        tool: &str,
        arguments: Value,
        on_progress: impl Fn(&str) + Send + 'static,
    ) -> Result<CallToolResult> {
        let Inner {
            connection,
            list,
            timeouts,
            ..
        } = &*self.inner;
        let params = json!({ "name": tool, "arguments": arguments });
        let on_progress: OnProgress = Box::new(on_progress);
        let result =
            connection.request("tools/call", params, timeouts.call, Some(on_progress)).await;
        list.up_to_date().await;
        result
    }

    /// Why it has failed, in one sentence.
    pub fn failure(&self) -> Option<String> {
        self.inner.connection.failure()
    }

    /// Ends it: closes its input and waits; then SIGTERM; then SIGKILL.
    pub async fn shut_down(&self) {
        self.inner.connection.close();
        self.inner.ended.wait().await;
    }
}

impl List {
    /// Counts the changes that the server announces. What else it says goes to whoever listens.
    fn listener(self: &Arc<Self>) -> OnNotification {
        let list = self.clone();
        Box::new(move |method, params| {
            if method == LIST_CHANGED {
                list.changes.send_modify(|changes| *changes += 1);
            } else if let Some((peer, listener)) = list.listening.get() {
                listener(peer, method, params);
            }
        })
    }

    /// Reads the list again whenever it has changed. When that goes wrong, it stays as it was.
    async fn keep(self: Arc<Self>, connection: Connection, within: Duration) {
        let mut changes = self.changes.subscribe();
        loop {
            let seen = *self.seen.borrow();
            let changed = changes.wait_for(|changes| *changes > seen).await;
            let now = *changed.expect("the sender lives as long as the list");
            let _ = self.read(&connection, within, Instant::now() + within).await;
            self.seen.send_replace(now);
            // Some servers say that it has changed each time they are asked for it.
            let _ = timeout(BETWEEN_LISTS, self.is_wanted.notified()).await;
        }
    }

    async fn read(&self, connection: &Connection, within: Duration, end: Instant) -> Result<()> {
        let Ok(listed) = timeout_at(end, all_pages(connection, within)).await else {
            let name = connection.name();
            bail!("the MCP server '{name}' did not list all of its tools within {within:?}");
        };
        *self.listed.lock().unwrap() = listed?;
        Ok(())
    }

    /// Waits for a list that was announced before now: the next request offers what a call has brought.
    async fn up_to_date(&self) {
        let (changes, mut seen) = (*self.changes.borrow(), self.seen.subscribe());
        if *seen.borrow() < changes {
            self.is_wanted.notify_one();
            let _ = timeout(RELISTED, seen.wait_for(|seen| *seen >= changes)).await;
        }
    }
}

/// `basic/lifecycle`, section Initialization
async fn initialize(connection: &Connection, within: Duration) -> Result<InitializeResult> {
    let params = json!({
        "protocolVersion": VERSION,
        "capabilities": {},
        "clientInfo": { "name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION") },
    });
    let hello: InitializeResult = connection.request("initialize", params, within, None).await?;
    let (name, version) = (connection.name(), &*hello.protocol_version);
    if !KNOWN_VERSIONS.contains(&version) {
        let (version, known) = (one_line(version, 40), KNOWN_VERSIONS.join(", "));
        bail!("the MCP server '{name}' speaks version {version} of MCP; known here are {known}");
    }
    Ok(hello)
}

/// All tools, page by page (`server/utilities/pagination`). A malformed entry is no fault of the others.
async fn all_pages(connection: &Connection, within: Duration) -> Result<Listed> {
    let (name, mut size, mut params) = (connection.name(), 0, json!({}));
    let (mut tools, mut malformed) = (Vec::new(), Vec::new());
    for _ in 0..MAX_PAGES {
        let page: ListToolsResult = connection.request("tools/list", params, within, None).await?;
        for entry in page.tools {
            size += entry.get().len();
            match Tool::parse(entry.get()) {
                Ok(tool) => tools.push(Arc::new(tool)),
                Err(entry) => malformed.push(entry),
            }
        }
        if size > MAX_LINE {
            let most = MAX_LINE >> 20;
            bail!("the MCP server '{name}' lists more than {most} MB of tools");
        }
        match page.next_cursor.filter(|cursor| !cursor.is_empty()) {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => {
                let (tools, malformed) = (tools.into(), malformed.into());
                return Ok(Listed { tools, malformed });
            }
        }
    }
    bail!("the MCP server '{name}' lists its tools on more than {MAX_PAGES} pages")
}

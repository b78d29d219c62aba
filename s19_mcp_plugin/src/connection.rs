//! The conversation with a server: JSON-RPC 2.0, one message a line, over any two byte streams.
//!
//! Several requests are in flight at once, answers come in any order, and the server sends requests and notifications in
//! between. Invariants: every request ends with its answer, its timeout or the connection; sending never waits for the
//! server to read, and what waits to be sent has a limit; an abandoned request is cancelled.
//!
//! ```text
//!  request ──► outbox ──────► input   ┌────────┐
//!     ▲                               │ server │
//!     └── pending[id] ◄── read ◄── output ──────┘
//! ```

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{SetOnce, mpsc, oneshot};
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

use crate::jsonrpc::{self, Message, Outcome};
use crate::lines::{Lines, StderrTail};
use crate::protocol::ProgressNotificationParams;

/// How many lines that are no messages may come in a row.
const MAX_STRAYS: usize = 1_000;

/// How many lines may wait for the server to read them.
const MAX_UNREAD: usize = 1_000;

/// How many lines are read before other tasks get their turn, so that a flood of them starves nobody.
const LINES_A_TURN: u64 = 64;

/// How long the output is still read after the server has closed its input.
pub(crate) const GRACE: Duration = Duration::from_secs(1);

const PROGRESS: &str = "notifications/progress";

/// Called with each progress message of a request.
pub(crate) type OnProgress = Box<dyn Fn(&str) + Send>;

/// Called with the method and the params of each notification that is not about progress, known or not.
pub(crate) type OnNotification = Box<dyn Fn(&str, &str) + Send + Sync>;

/// The lines that wait to be sent.
pub(crate) type Outbox = mpsc::Receiver<String>;

/// A connection to a server. Clones share it.
#[derive(Clone)]
pub(crate) struct Connection {
    shared: Arc<Shared>,
}

/// A server for whoever [listens](crate::Listener) to it. It does not keep the connection open.
#[derive(Clone)]
pub struct Peer {
    name: String,
    experimental: Arc<Value>,
    shared: Weak<Shared>,
}

impl Peer {
    /// What the user calls it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it declares this experimental capability.
    pub fn declares(&self, capability: &str) -> bool {
        self.experimental.get(capability).is_some_and(|it| !it.is_null())
    }

    /// Sends it a notification.
    ///
    /// # Errors
    /// When it is gone, or does not read what it is sent.
    pub fn notify(&self, method: &str, params: &Value) -> Result<()> {
        let shared = self.shared.upgrade().context("the server is disconnected")?;
        shared.post(jsonrpc::notification(method, params))
    }
}

struct Shared {
    name: String,
    outbox: mpsc::Sender<String>,
    /// A std lock: nothing is awaited while it is held.
    pending: Mutex<Pending>,
    stderr: Arc<StderrTail>,
    on_notification: OnNotification,
    closing: SetOnce<()>,
    failure: SetOnce<String>,
}

/// The requests in flight, by id.
#[derive(Default)]
struct Pending {
    last_id: u64,
    by_id: HashMap<u64, Caller>,
}

struct Caller {
    answer: oneshot::Sender<Outcome>,
    on_progress: Option<OnProgress>,
}

/// A request in flight. Dropped before its answer has come, it is cancelled (`basic/utilities/cancellation`).
struct InFlight<'a> {
    shared: &'a Shared,
    id: u64,
    method: &'static str,
}

impl Connection {
    /// A connection to the server of this name. Requests stay in the outbox until it is [served](Self::serve).
    pub fn new(
        name: &str,
        stderr: &Arc<StderrTail>,
        on_notification: OnNotification,
    ) -> (Self, Outbox) {
        let (outbox, posted) = mpsc::channel(MAX_UNREAD);
        let shared = Shared {
            name: name.to_owned(),
            outbox,
            pending: Mutex::default(),
            stderr: stderr.clone(),
            on_notification,
            closing: SetOnce::new(),
            failure: SetOnce::new(),
        };
        let shared = Arc::new(shared);
        (Self { shared }, posted)
    }

    /// Sends a request and waits for its answer, at most this long. Dropping the future cancels the request.
    ///
    /// # Errors
    /// When the server refuses, does not answer in time, answers with something unreadable, or fails.
    pub async fn request<T: DeserializeOwned>(
        &self,
        method: &'static str,
        params: Value,
        within: Duration,
        on_progress: Option<OnProgress>,
    ) -> Result<T> {
        let shared = &*self.shared;
        let name = &shared.name;
        // What the server wrote before the request is read before it.
        yield_now().await;
        let (_in_flight, answer) = shared.send(method, params, on_progress)?;
        let outcome = match timeout(within, answer).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => bail!(self.failure().unwrap_or_default()),
            Err(_) => bail!(
                "the MCP server '{name}' did not answer {method} within {within:?}{}",
                shared.hint()
            ),
        };
        let result =
            outcome.map_err(|why| anyhow!("the MCP server '{name}' refused {method}: {why}"))?;
        serde_json::from_str(&result).with_context(|| {
            format!("the MCP server '{name}' answered {method} with what cannot be read")
        })
    }

    /// This server for a listener.
    pub fn peer(&self, experimental: Value) -> Peer {
        Peer {
            name: self.shared.name.clone(),
            experimental: Arc::new(experimental),
            shared: Arc::downgrade(&self.shared),
        }
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// When the server does not read what it is sent.
    pub fn notify(&self, method: &str, params: &Value) -> Result<()> {
        self.shared.post(jsonrpc::notification(method, params))
    }

    /// What the user calls the server.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// Why the connection has ended, in one sentence.
    pub fn failure(&self) -> Option<String> {
        self.shared.failure.get().cloned()
    }

    /// Asks [`serve`](Self::serve) to stop once the posted lines are sent.
    pub fn close(&self) {
        let _ = self.shared.closing.set(());
    }

    /// Carries messages until the server closes a stream or breaks the protocol, or until [`close`](Self::close). Returns
    /// why; `None` when the server has closed a stream, for a reason that whoever owns the streams may know.
    pub async fn serve(
        &self,
        mut posted: Outbox,
        output: impl AsyncRead + Unpin,
        mut input: impl AsyncWrite + Unpin,
    ) -> Option<String> {
        let write = async {
            while let Some(line) = posted.recv().await {
                if input.write_all(line.as_bytes()).await.is_err() {
                    break;
                }
            }
            // What the server answers before its end still counts.
            sleep(GRACE).await;
        };
        // In this order: what was posted before `close` is sent, unless the server does not read.
        tokio::select! {
            biased;
            read = self.shared.read(output) => read.err().map(|why| format!("{why:#}")),
            () = write => None,
            () = self.shared.closing.wait() => Some("it was shut down".to_owned()),
        }
    }

    /// Ends all requests, those in flight and those to come, for this reason.
    pub fn fail(&self, why: &str) {
        let shared = &*self.shared;
        let mut pending = shared.pending.lock().unwrap();
        let (name, hint) = (&shared.name, shared.hint());
        let why = format!("the MCP server '{name}' is disconnected: {why}{hint}");
        let _ = shared.failure.set(why);
        pending.by_id.clear();
    }
}

impl Shared {
    /// Posts a request and remembers who waits for the answer. The progress token is the id.
    fn send(
        &self,
        method: &'static str,
        mut params: Value,
        on_progress: Option<OnProgress>,
    ) -> Result<(InFlight<'_>, oneshot::Receiver<Outcome>)> {
        let mut pending = self.pending.lock().unwrap();
        if let Some(why) = self.failure.get() {
            bail!(why.clone());
        }
        let id = pending.last_id + 1;
        if on_progress.is_some() {
            params["_meta"] = json!({ "progressToken": id });
        }
        let posted = self.post(jsonrpc::request(id, method, &params));
        posted.with_context(|| format!("the MCP server '{}' was not asked", self.name))?;
        if pending.by_id.is_empty() {
            // What is older explains nothing.
            self.stderr.clear();
        }
        let (answer, answered) = oneshot::channel();
        pending.last_id = id;
        let caller = Caller {
            answer,
            on_progress,
        };
        pending.by_id.insert(id, caller);
        let shared = self;
        Ok((InFlight { shared, id, method }, answered))
    }

    fn post(&self, line: String) -> Result<()> {
        let unread = |_| anyhow!("it has not read the last {MAX_UNREAD} messages it was sent");
        self.outbox.try_send(line).map_err(unread)
    }

    /// Reads what the server says, to the end of its output.
    async fn read(&self, output: impl AsyncRead + Unpin) -> Result<()> {
        let mut lines = Lines::new(output);
        let mut strays = 0;
        for number in 1_u64.. {
            let Some(line) = lines.next().await? else {
                break;
            };
            match Message::read(&line)? {
                Some(message) => {
                    self.receive(message)?;
                    strays = 0;
                }
                None => {
                    self.stderr.add(&line);
                    self.stderr.add(b"\n");
                    strays += 1;
                }
            }
            if strays > MAX_STRAYS {
                bail!("it writes text instead of messages");
            }
            if number.is_multiple_of(LINES_A_TURN) {
                yield_now().await;
            }
        }
        Ok(())
    }

    fn receive(&self, message: Message) -> Result<()> {
        match message {
            Message::Request { id, method } => return self.post(jsonrpc::answer(&id, &method)),
            Message::Notification { method, params } if method == PROGRESS => {
                self.progress(&params);
            }
            Message::Notification { method, params } => (self.on_notification)(&method, &params),
            Message::Answer { id, outcome } => {
                // An answer that nobody waits for came too late.
                if let Some(caller) = number(&id).and_then(|id| self.forget(id)) {
                    let _ = caller.answer.send(outcome);
                }
            }
        }
        Ok(())
    }

    /// Passes progress on to the caller of its request. What cannot be read says nothing.
    fn progress(&self, params: &str) {
        let Ok(progress) = serde_json::from_str::<ProgressNotificationParams>(params) else {
            return;
        };
        let pending = self.pending.lock().unwrap();
        let caller = number(&progress.progress_token).and_then(|id| pending.by_id.get(&id));
        if let Some(on_progress) = caller.and_then(|caller| caller.on_progress.as_ref()) {
            on_progress(&progress.to_string());
        }
    }

    fn forget(&self, id: u64) -> Option<Caller> {
        self.pending.lock().unwrap().by_id.remove(&id)
    }

    /// What may explain a failure: the end of what the server wrote outside the protocol.
    fn hint(&self) -> String {
        let words = self.stderr.shown();
        words.map_or(String::new(), |words| format!("; it last wrote: {words}"))
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        let is_unanswered = self.shared.forget(self.id).is_some();
        // The specification forbids to cancel `initialize`.
        if is_unanswered && self.method != "initialize" {
            let params = json!({ "requestId": self.id });
            let cancelled = jsonrpc::notification("notifications/cancelled", &params);
            let _ = self.shared.post(cancelled);
        }
    }
}

/// One of our ids. Some servers make a string of it.
fn number(id: &Value) -> Option<u64> {
    id.as_u64().or_else(|| id.as_str()?.parse().ok())
}

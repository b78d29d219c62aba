//! The conversation with a server: JSON-RPC 2.0, one message a line.
//!
//! Several requests are under way at once, answers come in any order, and the server asks and tells on its own in
//! between. Invariants: every request ends, with its answer, with its time, or with the connection; nobody who asks
//! waits for the server to read; what is given up is cancelled.
//!
//! ```text
//!  request ──► outbox ──► write ──► stdin  ┌────────┐
//!     ▲                                    │ server │
//!     └── waiting[id] ◄── listen ◄── stdout└────────┘
//! ```

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::{Notify, SetOnce, oneshot, watch};
use tokio::task::yield_now;
use tokio::time::timeout;

use crate::lines::{LastWords, Lines};
use crate::outbox::Outbox;
use crate::process::{Process, Streams};
use crate::protocol::Progress;
use crate::wire::{self, Message, Outcome};

/// How many lines that are no messages may come in a row.
const MAX_STRAYS: usize = 1_000;

/// The notifications that are listened to (`server/tools`, section List Changed Notification; `basic/utilities/progress`).
const LIST_CHANGED: &str = "notifications/tools/list_changed";
const PROGRESS: &str = "notifications/progress";

/// How many lines are read before it is somebody else's turn, so that a flood of them holds nobody up.
const TURN: u64 = 64;

/// How long a server that has closed its output is given to end, so that it can be said how it ended.
const GRACE: Duration = Duration::from_secs(1);

/// How long is waited.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For the handshake, and for a list of tools.
    pub start: Duration,
    /// For the answer to a call. What it says meanwhile about its progress makes that no longer.
    pub call: Duration,
    /// For the end of a server, before it is asked to end and again before it is killed.
    pub end: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(30),
            call: Duration::from_millis(100_000_000),
            end: Duration::from_secs(2),
        }
    }
}

/// A conversation. Clones share it.
#[derive(Clone)]
pub struct Connection {
    shared: Arc<Shared>,
}

struct Shared {
    name: String,
    patience: Patience,
    outbox: Outbox,
    /// A std lock: nothing is awaited while it is held.
    waiting: Mutex<Waiting>,
    last_words: LastWords,
    /// How often the server has said that its list of tools has changed.
    announced: watch::Sender<u64>,
    /// Somebody wants it to end.
    closing: SetOnce<()>,
    /// Why there is no conversation any more.
    failure: SetOnce<String>,
    /// Its process has ended.
    ended: SetOnce<()>,
}

/// What is done when a server says how far it is.
pub type OnProgress = Box<dyn Fn(&str) + Send>;

/// Who waits for the answer to which request.
#[derive(Default)]
struct Waiting {
    last_id: u64,
    by_id: HashMap<u64, Asker>,
    /// How much had been written beside the conversation when the last of them ended.
    idle_since: u64,
}

/// Somebody who waits for an answer.
struct Asker {
    answer: oneshot::Sender<Outcome>,
    on_progress: Option<OnProgress>,
    /// How much had been written beside the conversation when it was asked: what is older explains nothing.
    since: u64,
}

/// A request under way. Dropped before its answer has come, it is cancelled (`basic/utilities/cancellation`).
struct Asked<'a> {
    shared: &'a Shared,
    id: u64,
    method: &'static str,
    since: u64,
}

impl Connection {
    /// A conversation with the server of this name. Requests lie in the outbox until it is [served](Self::serve).
    pub fn new(name: &str, patience: Patience) -> Self {
        Self {
            shared: Arc::new(Shared {
                name: name.to_owned(),
                patience,
                outbox: Outbox::default(),
                waiting: Mutex::default(),
                last_words: LastWords::default(),
                announced: watch::Sender::new(0),
                closing: SetOnce::new(),
                failure: SetOnce::new(),
                ended: SetOnce::new(),
            }),
        }
    }

    /// Asks the server and waits for its answer, so long. Dropping the future cancels the request.
    ///
    /// # Errors
    /// When the server refuses, does not answer in time, answers with what cannot be read, or fails.
    pub async fn request<T: DeserializeOwned>(
        &self,
        method: &'static str,
        params: Value,
        within: Duration,
        on_progress: Option<OnProgress>,
    ) -> Result<T> {
        let shared = &*self.shared;
        let name = &shared.name;
        // What was written before the request is heard before it.
        yield_now().await;
        let (asked, answer) = shared.ask(method, params, on_progress)?;
        let outcome = match timeout(within, answer).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => bail!(self.failure().unwrap_or_default()),
            Err(_) => bail!(
                "the MCP server '{name}' did not answer {method} within {within:?}{}",
                shared.hint(asked.since)
            ),
        };
        let result =
            outcome.map_err(|why| anyhow!("the MCP server '{name}' refused {method}: {why}"))?;
        serde_json::from_str(&result).with_context(|| {
            format!("the MCP server '{name}' answered {method} with what cannot be read")
        })
    }

    /// Tells the server something.
    ///
    /// # Errors
    /// When it does not read what it is sent.
    pub fn notify(&self, method: &str, params: &Value) -> Result<()> {
        self.shared.outbox.post(&wire::notification(method, params))
    }

    /// What the user calls the server.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// How long is waited.
    pub fn patience(&self) -> Patience {
        self.shared.patience
    }

    /// How often the server has said that its list of tools has changed.
    pub fn announced(&self) -> u64 {
        *self.shared.announced.borrow()
    }

    /// Waits until it has said so more often than this.
    pub async fn list_changed(&self, known: u64) -> u64 {
        let mut announced = self.shared.announced.subscribe();
        let more = announced.wait_for(|times| *times > known).await;
        *more.expect("the sender lives as long as the connection")
    }

    /// Why there is no conversation any more, in one sentence.
    pub fn failure(&self) -> Option<String> {
        self.shared.failure.get().cloned()
    }

    /// Ends the conversation, and waits for the end of the process.
    pub async fn close(&self) {
        let _ = self.shared.closing.set(());
        self.shared.ended.wait().await;
    }

    /// Does what a conversation does by itself, to the end of the process.
    pub async fn serve(self, mut process: Process, streams: Streams) {
        let shared = &*self.shared;
        let (said, heard) = (SetOnce::<Option<String>>::new(), Notify::new());
        let serving = async {
            // In this order: what was posted before the end is sent, unless the server does not read.
            let why = tokio::select! {
                biased;
                why = said.wait() => why.clone(),
                _ = shared.write(streams.stdin) => None,
                () = shared.closing.wait() => Some("it was shut down".to_owned()),
            };
            let why = match why {
                Some(why) => why,
                None => how_it_ended(&mut process, &heard).await,
            };
            shared.fail(&why);
            process.end(shared.patience.end).await;
        };
        // Listening comes first and goes on to the very end: what the server still answered counts, and it does not die
        // of what it still writes.
        tokio::select! {
            biased;
            () = shared.listen(streams.stdout, &said) => {}
            () = shared.hear(streams.stderr, &heard) => {}
            () = serving => {}
        }
        let _ = shared.ended.set(());
    }
}

impl Shared {
    /// Posts a request and remembers who waits for the answer. Who wants to know how far it is sends a token for that.
    fn ask(
        &self,
        method: &'static str,
        mut params: Value,
        on_progress: Option<OnProgress>,
    ) -> Result<(Asked<'_>, oneshot::Receiver<Outcome>)> {
        let mut waiting = self.waiting.lock().unwrap();
        if let Some(why) = self.failure.get() {
            bail!(why.clone());
        }
        let id = waiting.last_id + 1;
        if on_progress.is_some() {
            params["_meta"] = json!({ "progressToken": id });
        }
        let posted = self.outbox.post(&wire::request(id, method, &params));
        posted.with_context(|| format!("the MCP server '{}' was not asked", self.name))?;
        let (answer, answered) = oneshot::channel();
        let since = self.last_words.written();
        let asker = Asker {
            answer,
            on_progress,
            since,
        };
        waiting.last_id = id;
        waiting.by_id.insert(id, asker);
        let asked = Asked {
            shared: self,
            id,
            method,
            since,
        };
        Ok((asked, answered))
    }

    /// Writes what is posted, until nobody reads it any more.
    async fn write(&self, mut stdin: ChildStdin) -> io::Result<()> {
        loop {
            stdin.write_all(&self.outbox.take().await).await?;
        }
    }

    /// Listens to the server, and says when there is nothing more to listen to, and why if that is its fault.
    async fn listen(&self, stdout: ChildStdout, said: &SetOnce<Option<String>>) {
        let listened = self.read(stdout).await;
        let _ = said.set(listened.err().map(|why| format!("{why:#}")));
        std::future::pending().await
    }

    /// Reads what the server says, to the end of its output.
    async fn read(&self, stdout: ChildStdout) -> Result<()> {
        let mut lines = Lines::new(stdout);
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
                    self.last_words.add(&line);
                    self.last_words.add(b"\n");
                    strays += 1;
                }
            }
            if strays > MAX_STRAYS {
                bail!("it writes text instead of messages");
            }
            if number.is_multiple_of(TURN) {
                yield_now().await;
            }
        }
        Ok(())
    }

    fn receive(&self, message: Message) -> Result<()> {
        match message {
            Message::Request { id, method } => {
                return self.outbox.post(&wire::answer(&id, &method));
            }
            Message::Notification { method, params } => match &*method {
                LIST_CHANGED => self.announced.send_modify(|times| *times += 1),
                PROGRESS => self.progressed(&params),
                _ => {}
            },
            Message::Answer { id, outcome } => self.answered(&id, outcome),
        }
        Ok(())
    }

    /// Hears what the server writes beside the conversation (`basic/transports`, section stdio): nothing to worry about.
    async fn hear(&self, mut stderr: ChildStderr, heard: &Notify) {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
            self.last_words.add(&buffer[..count]);
        }
        heard.notify_one();
        std::future::pending().await
    }

    /// Gives an answer to whoever waits for it. One that nobody waits for came too late.
    fn answered(&self, id: &Value, outcome: Outcome) {
        let asker = number(id).and_then(|id| self.forget(id));
        if let Some(asker) = asker {
            let _ = asker.answer.send(outcome);
        }
    }

    /// Tells whoever waits for it how far a request is. What cannot be read says nothing.
    fn progressed(&self, params: &str) {
        let Ok(progress) = serde_json::from_str::<Progress>(params) else {
            return;
        };
        let waiting = self.waiting.lock().unwrap();
        let asker = number(&progress.progress_token).and_then(|id| waiting.by_id.get(&id));
        if let Some(on_progress) = asker.and_then(|asker| asker.on_progress.as_ref()) {
            on_progress(&progress.to_string());
        }
    }

    /// Nobody waits for this answer any more; gives who did.
    fn forget(&self, id: u64) -> Option<Asker> {
        let mut waiting = self.waiting.lock().unwrap();
        let asker = waiting.by_id.remove(&id);
        if waiting.by_id.is_empty() {
            waiting.idle_since = self.last_words.written();
        }
        asker
    }

    /// Ends all requests, those under way and those to come.
    fn fail(&self, why: &str) {
        let mut waiting = self.waiting.lock().unwrap();
        let since = waiting.by_id.values().map(|asker| asker.since).min();
        let (name, hint) = (&self.name, self.hint(since.unwrap_or(waiting.idle_since)));
        let why = format!("the MCP server '{name}' is disconnected: {why}{hint}");
        let _ = self.failure.set(why);
        waiting.by_id.clear();
    }

    /// What may explain that something went wrong: the end of what was written beside the conversation since then.
    fn hint(&self, since: u64) -> String {
        let words = self.last_words.shown(since);
        words.map_or(String::new(), |words| format!("; it last wrote: {words}"))
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        let is_unanswered = self.shared.forget(self.id).is_some();
        // The handshake is the one request that must not be cancelled.
        if is_unanswered && self.method != "initialize" {
            let params = json!({ "requestId": self.id });
            let cancelled = wire::notification("notifications/cancelled", &params);
            let _ = self.shared.outbox.post(&cancelled);
        }
    }
}

/// One of our numbers. Some servers make a string of it.
fn number(id: &Value) -> Option<u64> {
    id.as_u64().or_else(|| id.as_str()?.parse().ok())
}

/// How a server ended that has closed its output, once it has said its last words.
async fn how_it_ended(process: &mut Process, heard: &Notify) -> String {
    match timeout(GRACE, process.ended()).await {
        Ok(Ok(end)) => {
            let _ = timeout(GRACE, heard.notified()).await;
            format!("it ended with {end}")
        }
        _ => "it closed the connection".to_owned(),
    }
}

//! The servers behind the proxy: connected side by side, listed, followed, called.
//!
//! Invariants: every server stands somewhere, connecting, up or away and why; each change of that, or of a list of tools, is
//! told; a server that is away is tried again without end and costs the others nothing.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use mcp_client::fleet::{self, Limits};
use mcp_client::login::{self, Login};
use mcp_client::{Client, Error, Options, Server, State};
use mcp_wire::Frame;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};

use crate::index::Tool;
use crate::trust::{self, Sign};

/// Before a server that could not be reached is tried again: at first, and at most.
const PAUSE: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(300));
/// Characters of a name.
const NAME: usize = 128;

/// A tool as its server lists it.
#[derive(Debug)]
pub struct Listed {
    /// What the index knows of it.
    pub tool: Tool,
    /// All that the server says of it.
    pub whole: Value,
    /// The SHA-256 of everything that a model may read of it.
    pub fingerprint: String,
    /// What is suspicious in that.
    pub signs: Vec<Sign>,
    /// Words in it that may be names of tools.
    pub mentions: Vec<String>,
}

fn fingerprint(whole: &Value) -> String {
    let mut read = json!({ "name": whole["name"] });
    trust::READ.iter().for_each(|key| read[*key] = whole[*key].clone());
    // Whatever the order of keys.
    read.sort_all_objects();
    let hash = Sha256::digest(read.to_string());
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Where a server stands.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    /// Its tools; those of a server that has gone away are still known.
    pub tools: Vec<Arc<Listed>>,
    /// What is wrong with tools that were left out.
    pub left_out: Vec<String>,
    /// Whether it can be reached.
    pub state: State,
    /// How long it took to connect and to list.
    pub took: Duration,
}

/// All servers.
pub struct Backends {
    all: Vec<Backend>,
    limits: Limits,
    changes: watch::Sender<()>,
}

struct Backend {
    server: Server,
    login: Arc<dyn Login>,
    standing: Mutex<Standing>,
    client: OnceLock<Client>,
}

type Tools = (Vec<Arc<Listed>>, Vec<String>);

/// What a server that was reached tells from then on, and how it stands with the connection.
type Heard = (mpsc::Receiver<Frame>, watch::Receiver<State>);

impl Backends {
    /// Begins to connect to these servers, with the logins that `mcp_client login` has kept.
    pub fn start(servers: Vec<Server>, logins: &Arc<login::Store>, limits: Limits) -> Arc<Self> {
        let all = servers.iter().map(|server| Backend {
            server: server.clone(),
            login: login::of(server, logins, None),
            standing: Mutex::default(),
            client: OnceLock::new(),
        });
        let backends = Arc::new(Self {
            all: all.collect(),
            limits,
            changes: watch::channel(()).0,
        });
        let started = backends.clone();
        tokio::spawn(async move {
            fleet::each(
                &servers,
                limits,
                |at| started.open(at),
                |at, heard| {
                    tokio::spawn(started.clone().follow(at, heard));
                },
            )
            .await;
        });
        backends
    }

    /// Is told whenever a server stands elsewhere, or has other tools.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// Where each server stands, in the order of the configuration.
    pub fn standings(&self) -> Vec<(Server, Standing)> {
        let standing = |it: &Backend| (it.server.clone(), it.standing.lock().unwrap().clone());
        self.all.iter().map(standing).collect()
    }

    /// Calls a tool of a server.
    ///
    /// # Errors
    /// Why there is no result, in a sentence.
    pub async fn call(
        &self,
        tool: &Tool,
        arguments: &RawValue,
        progress: impl FnMut(&RawValue) + Send,
    ) -> Result<Box<RawValue>, String> {
        let server = &tool.server;
        let backend = self.all.iter().find(|it| it.server.name == *server);
        let client = backend.and_then(|it| it.client.get());
        let client = client.ok_or_else(|| format!("{server} is away; nothing was done"))?;
        let answer = client.call(&tool.name, arguments, progress).await;
        answer.map_err(|error| format!("{server}: {error}"))
    }

    /// Connects to a server and lists its tools; None when that is for another time.
    async fn open(&self, at: usize) -> Option<Heard> {
        let backend = &self.all[at];
        let (notifications, told) = mpsc::channel(64);
        let options = Options {
            notifications: Some(notifications),
            ..self.limits.options(backend.login.clone())
        };
        let began = Instant::now();
        let opened = async {
            let client = Client::connect(&backend.server, options).await.map_err(away)?;
            let mut states = client.states();
            states.mark_unchanged();
            let tools = self.list(at, &client).await?;
            Ok((tools, states, client))
        };
        let opened = opened.await;
        backend.standing.lock().unwrap().took = began.elapsed();
        let (tools, opened) = match opened {
            Ok((tools, states, client)) => {
                backend.client.get_or_init(|| client);
                (Ok(tools), Some((told, states)))
            }
            Err(state) => (Err(state), None),
        };
        self.stands(at, tools);
        opened
    }

    async fn list(&self, at: usize, client: &Client) -> Result<Tools, State> {
        let server = self.all[at].server.name.clone();
        let limit = self.limits.connect;
        let late = |_| State::Failed(format!("there is no list of tools after {limit:?}").into());
        let tools = timeout(limit, client.tools()).await.map_err(late)?.map_err(away)?;
        let tools: Vec<_> = tools.into_iter().map(|tool| tool.raw).collect();
        // Descriptions of many tools take a while to be checked.
        let read = tokio::task::spawn_blocking(move || read(&server, &tools)).await;
        read.map_err(|error| State::Failed(error.to_string().into()))
    }

    fn stands(&self, at: usize, tools: Result<Tools, State>) {
        let standing = &mut *self.all[at].standing.lock().unwrap();
        match tools {
            Ok((tools, left_out)) => {
                (standing.tools, standing.left_out) = (tools, left_out);
                standing.state = State::Connected;
            }
            Err(state) => standing.state = state,
        }
        self.changes.send_replace(());
    }

    /// Opens a server until it has been there once; from then on the connection survives by itself, and its tools are listed
    /// again when the server says that they have changed, or comes back.
    async fn follow(self: Arc<Self>, at: usize, mut opened: Option<Heard>) {
        let mut pause = PAUSE.0;
        let (mut told, mut states) = loop {
            match opened {
                Some(heard) => break heard,
                None => sleep(pause).await,
            }
            pause = (pause * 2).min(PAUSE.1);
            opened = self.open(at).await;
        };
        let Some(client) = self.all[at].client.get() else { return };
        loop {
            tokio::select! {
                Some(frame) = told.recv() => if !frame.calls("notifications/tools/list_changed") {
                    continue;
                },
                Ok(()) = states.changed() => match client.state() {
                    State::Connected => {}
                    away => {
                        self.stands(at, Err(away));
                        continue;
                    }
                },
                else => return,
            }
            let tools = self.list(at, client).await;
            self.stands(at, tools);
        }
    }
}

fn away(error: Error) -> State {
    let why = error.to_string().into();
    if matches!(error, Error::NeedsLogin(_)) { State::NeedsAuth(why) } else { State::Failed(why) }
}

/// The tools that can be used, the first of each name; and why the others cannot.
pub fn read(server: &str, tools: &[Box<RawValue>]) -> Tools {
    let (mut listed, mut wrong, mut names) = (Vec::new(), Vec::new(), BTreeSet::new());
    for raw in tools {
        let whole: Value = serde_json::from_str(raw.get()).unwrap_or_default();
        let name = whole["name"].as_str().unwrap_or_default();
        let why = if name.is_empty() || name.len() > NAME || kit::one_line(name) != name {
            "its name is no name"
        } else if !whole["inputSchema"].is_object() {
            "its inputSchema is no object"
        } else if !matches!(whole["description"], Value::String(_) | Value::Null) {
            "its description is no text"
        } else if !names.insert(name.to_owned()) {
            "there are two of this name"
        } else {
            let shown = trust::cleaned(&whole);
            let tool = Tool {
                name: name.to_owned(),
                server: server.to_owned(),
                description: shown["description"].as_str().unwrap_or_default().to_owned(),
                input_schema: shown["inputSchema"].clone(),
                annotations: shown["annotations"].clone(),
            };
            listed.push((tool, whole));
            continue;
        };
        wrong.push(format!("{}: {why}", kit::cut(&kit::one_line(name), NAME)));
    }
    let siblings: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let listed = listed.into_iter().map(|(tool, whole)| {
        let text = trust::text(&whole);
        Arc::new(Listed {
            fingerprint: fingerprint(&whole),
            signs: trust::signs(&text, &siblings),
            mentions: trust::names(&text).map(str::to_owned).collect(),
            tool,
            whole,
        })
    });
    (listed.collect(), wrong)
}

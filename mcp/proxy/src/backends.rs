//! The servers behind the proxy: connected side by side, listed, followed, called.
//!
//! Invariants: every server stands somewhere, connecting, up or away and why; each change of that, or of a list of tools, is
//! told; a server that is away is tried again without end and costs the others nothing.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use mcp_client::fleet::{self, Limits};
use mcp_client::{Client, Options, Patience, Server, State};
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
    options: Options,
    standing: Mutex<Standing>,
    client: OnceLock<Arc<Client>>,
}

type Tools = (Vec<Arc<Listed>>, Vec<String>);

/// A server that was reached, and what it tells from then on.
struct Connected {
    client: Arc<Client>,
    told: mpsc::Receiver<Frame>,
    states: watch::Receiver<State>,
    tools: Tools,
    took: Duration,
}

impl Backends {
    /// Begins to connect to these servers.
    pub fn start(servers: Vec<(Server, Options)>, limits: Limits) -> Arc<Self> {
        let all = servers.into_iter().map(|(server, options)| Backend {
            server,
            options: Options {
                patience: Patience {
                    connect: limits.connect,
                    ..options.patience
                },
                call: limits.call,
                ..options
            },
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
            let servers: Vec<_> = started.all.iter().map(|it| it.server.clone()).collect();
            let connect = |at| started.connect(at);
            fleet::each(&servers, limits, connect, |at, connected| {
                tokio::spawn(started.clone().follow(at, connected));
            })
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
        arguments: Value,
        progress: impl FnMut(&RawValue) + Send,
    ) -> Result<Box<RawValue>, String> {
        let server = &tool.server;
        let backend = self.all.iter().find(|it| it.server.name == *server);
        let client = backend.and_then(|it| it.client.get());
        let client = client.ok_or_else(|| format!("{server} is away; nothing was done"))?;
        let answer = client.call(&tool.name, arguments, progress).await;
        answer.map_err(|error| format!("{server}: {error}"))
    }

    async fn connect(&self, at: usize) -> Result<Connected, String> {
        let Backend {
            server, options, ..
        } = &self.all[at];
        let (notifications, told) = mpsc::channel(64);
        let options = Options {
            notifications: Some(notifications),
            ..options.clone()
        };
        let began = Instant::now();
        let client = Client::connect(server, options).await.map_err(|error| error.to_string())?;
        let mut states = client.states();
        states.mark_unchanged();
        let tools = self.list(at, &client).await?;
        Ok(Connected {
            client: Arc::new(client),
            told,
            states,
            tools,
            took: began.elapsed(),
        })
    }

    async fn list(&self, at: usize, client: &Client) -> Result<Tools, String> {
        let server = self.all[at].server.name.clone();
        let limit = self.limits.connect;
        let tools = timeout(limit, client.tools()).await;
        let tools = tools.map_err(|_| format!("there is no list of tools after {limit:?}"))?;
        let tools = tools.map_err(|error| error.to_string())?;
        let tools: Vec<_> = tools.into_iter().map(|tool| tool.raw).collect();
        // Descriptions of many tools take a while to be checked.
        let read = tokio::task::spawn_blocking(move || read(&server, &tools)).await;
        read.map_err(|error| error.to_string())
    }

    fn stands(&self, at: usize, tools: Result<Tools, State>) {
        let standing = &mut *self.all[at].standing.lock().unwrap();
        match tools {
            Ok((tools, left_out)) => {
                *standing = Standing {
                    tools,
                    left_out,
                    state: State::Connected,
                    ..*standing
                };
            }
            Err(state) => standing.state = state,
        }
        self.changes.send_replace(());
    }

    async fn follow(self: Arc<Self>, at: usize, mut connected: Result<Connected, String>) {
        let mut pause = PAUSE.0;
        loop {
            match connected {
                Ok(connected) => {
                    let client = self.all[at].client.get_or_init(|| connected.client);
                    self.all[at].standing.lock().unwrap().took = connected.took;
                    self.stands(at, Ok(connected.tools));
                    return self.listen(at, client, connected.told, connected.states).await;
                }
                Err(why) => self.stands(at, Err(State::Failed(why.into()))),
            }
            sleep(pause).await;
            pause = (pause * 2).min(PAUSE.1);
            connected = self.connect(at).await;
        }
    }

    /// Lists the tools again when the server says that they have changed, or comes back. The connection itself survives.
    async fn listen(
        &self,
        at: usize,
        client: &Client,
        mut told: mpsc::Receiver<Frame>,
        mut states: watch::Receiver<State>,
    ) {
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
            self.stands(at, tools.map_err(|why| State::Failed(why.into())));
        }
    }
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
            let tool = Tool {
                name: name.to_owned(),
                server: server.to_owned(),
                description: whole["description"].as_str().unwrap_or_default().to_owned(),
                input_schema: whole["inputSchema"].clone(),
                annotations: whole["annotations"].clone(),
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

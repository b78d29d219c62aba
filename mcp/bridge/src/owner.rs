//! The owner: all tools in one process, each agent's part of them, and a line for every call.
//!
//! Agents live in processes that import nothing of it. Invariants: an agent reaches its own tools only, in an unattended
//! prompt those of its lean profile only; a tool's schema goes on as its server wrote it; each call is audited once,
//! however it ends.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use mcp_client::client::{Client, Error, Options};
use mcp_client::config::Server;
use mcp_client::fleet::Limits;
use mcp_relay::service::{failed, raw};
use mcp_wire::body;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};

use crate::audit::Audit;
use crate::config::{Agent, Config};
use crate::database::Database;
use crate::tools::{self, REFUSED};

/// Between two attempts to reach a server.
const AGAIN: Duration = Duration::from_secs(5);
/// The longest name of a tool that the Messages API takes, behind `mcp__bridge__`.
const LONGEST_NAME: usize = 50;

/// Which tools a prompt has.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// All of the agent's.
    #[default]
    Full,
    /// Without what acts on the world: nobody watches.
    Lean,
}

/// A tool, wherever it lives.
#[derive(Clone)]
pub struct Offered {
    /// Its name here.
    pub name: String,
    /// As it is listed.
    pub raw: Arc<RawValue>,
    /// Whether it changes nothing, as it says.
    pub reads: bool,
    /// Whether it neither destroys anything nor speaks to the outside world.
    pub harmless: bool,
    source: Source,
}

#[derive(Clone)]
enum Source {
    Here,
    Server(Arc<Client>, String),
}

/// Why a call has no result: an HTTP status, a word and a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Of HTTP.
    pub status: u16,
    /// For programs.
    pub kind: &'static str,
    /// For people and models.
    pub message: String,
}

impl Failure {
    /// One.
    pub fn new(status: u16, kind: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            status,
            kind,
            message,
        }
    }

    /// As the body of a response.
    pub fn to_json(&self) -> String {
        json!({ "error": { "type": self.kind, "message": self.message } }).to_string()
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::new(500, "broken", format!("the database: {error}"))
    }
}

/// Where a call reports its progress to.
pub type Report<'a> = &'a (dyn Fn(&RawValue) + Sync);

/// What happens in the prompt that an agent's process has in hand.
#[derive(Clone, Debug, Default)]
pub struct InHand {
    /// The profile that counts.
    pub profile: Profile,
    /// The tools it has called that may have changed something.
    pub acted: Vec<String>,
}

/// The owner.
pub struct Owner {
    /// Who there is.
    pub config: Config,
    /// The database.
    pub database: Database,
    here: Vec<Offered>,
    /// The tools of each server, in the order of the configuration.
    servers: RwLock<Vec<Vec<Offered>>>,
    /// Changes when somebody's tools do.
    changed: watch::Sender<()>,
    in_hand: Mutex<HashMap<String, InHand>>,
    /// It is about to end.
    closed: watch::Sender<bool>,
    /// When an agent called last.
    active: watch::Sender<HashMap<String, tokio::time::Instant>>,
}

impl Owner {
    /// An owner that has its own tools; [`Owner::connect`] adds those of servers.
    pub fn new(config: Config, database: Database) -> Arc<Self> {
        let here = tools::all().into_iter().map(|(tool, reads)| Offered {
            name: tool["name"].as_str().unwrap_or_default().to_owned(),
            raw: raw(tool).into(),
            reads,
            harmless: true,
            source: Source::Here,
        });
        Arc::new(Self {
            here: here.collect(),
            servers: RwLock::new(vec![Vec::new(); config.servers.len()]),
            config,
            database,
            changed: watch::channel(()).0,
            in_hand: Mutex::default(),
            closed: watch::channel(false).0,
            active: watch::channel(HashMap::new()).0,
        })
    }

    /// Connects to all servers, side by side, and keeps at it in the background; returns what is wrong with those that are
    /// not there after the first attempt.
    pub async fn connect(self: &Arc<Self>, limits: Limits) -> Vec<String> {
        let wrong = Mutex::new(Vec::new());
        let servers = self.config.servers.clone();
        let attempt = |at: usize| {
            let owner = self.clone();
            let server = self.config.servers[at].clone();
            async move { owner.attach(at, &server, limits).await }
        };
        mcp_client::fleet::each(&servers, limits, attempt, |at, outcome| {
            if let Err(why) = outcome {
                wrong.lock().unwrap().push(format!("{}: {why}", servers[at].name));
                let (owner, server) = (self.clone(), servers[at].clone());
                tokio::spawn(async move {
                    while let Err(why) = owner.attach(at, &server, limits).await {
                        tracing::warn!(server = server.name, %why, "not connected");
                        tokio::time::sleep(AGAIN).await;
                    }
                });
            }
        })
        .await;
        wrong.into_inner().unwrap()
    }

    async fn attach(
        self: &Arc<Self>,
        at: usize,
        server: &Server,
        limits: Limits,
    ) -> Result<(), Error> {
        let (told, mut notifications) = mpsc::channel(64);
        let options = Options {
            // Our own limit comes first, and says so.
            call: self.config.call.min(limits.call) + Duration::from_secs(1),
            notifications: Some(told),
            ..Options::default()
        };
        let client = Arc::new(Client::connect(server, options).await?);
        self.list(at, server, &client).await?;
        let (owner, server) = (self.clone(), server.clone());
        tokio::spawn(async move {
            while let Some(frame) = notifications.recv().await {
                if frame.calls("notifications/tools/list_changed")
                    && let Err(error) = owner.list(at, &server, &client).await
                {
                    tracing::warn!(server = server.name, %error, "its list of tools is the old one");
                }
            }
        });
        Ok(())
    }

    /// Reads a server's list. A tool whose name the model's API would not take is left out.
    async fn list(&self, at: usize, server: &Server, client: &Arc<Client>) -> Result<(), Error> {
        let mut offered = Vec::new();
        for tool in client.tools().await? {
            let name = format!("{}_{}", server.name, tool.name);
            let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            if name.len() > LONGEST_NAME || !name.chars().all(fits) {
                tracing::warn!(tool = name, "left out: no model could call it");
                continue;
            }
            let hint = |key, default| {
                let said = body::get(&tool.raw, &["annotations", key]).map(RawValue::get);
                said.map_or(default, |said| said == "true")
            };
            let reads = hint("readOnlyHint", false);
            let acts = hint("destructiveHint", true) || hint("openWorldHint", true);
            let Some(raw) = body::set(&tool.raw, &["name"], &raw(&name)) else { continue };
            let source = Source::Server(client.clone(), tool.name);
            let (raw, harmless) = (raw.into(), reads || !acts);
            offered.push(Offered {
                name,
                raw,
                reads,
                harmless,
                source,
            });
        }
        self.servers.write().unwrap()[at] = offered;
        self.changed.send_replace(());
        Ok(())
    }

    /// Changes when somebody's tools may have.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Ends what would have no end by itself.
    pub fn close(&self) {
        self.closed.send_replace(true);
    }

    /// Becomes true when the owner is about to end.
    pub fn closed(&self) -> watch::Receiver<bool> {
        self.closed.subscribe()
    }

    /// The tools of an agent in this profile. The first of a name wins.
    pub fn tools(&self, agent: &Agent, profile: Profile) -> Vec<Offered> {
        let servers = self.servers.read().unwrap();
        let all = self.here.iter().chain(servers.iter().flatten());
        let mut names = BTreeSet::new();
        all.filter(|tool| agent.tools.is_match(&tool.name))
            .filter(|tool| match profile {
                Profile::Full => true,
                Profile::Lean => tool.harmless && !agent.lean_without.is_match(&tool.name),
            })
            .filter(|tool| names.insert(tool.name.clone()))
            .cloned()
            .collect()
    }

    /// What is wrong with the agents' tools: more than the budget, or none.
    pub fn verify(&self) -> Vec<String> {
        let wrong = self.config.agents.iter().filter_map(|agent| {
            let names: Vec<_> = self.tools(agent, Profile::Full).into_iter().map(|it| it.name).collect();
            let (name, count, most) = (&agent.name, names.len(), agent.tool_budget);
            (count > most).then(|| {
                format!("{name} has {count} tools, its tool_budget is {most} (7 to 10 are recommended): {}", names.join(", "))
            })
        });
        wrong.collect()
    }

    /// The profile of the prompt that the agent's process has in hand.
    pub fn profile(&self, agent: &str) -> Profile {
        self.in_hand.lock().unwrap().get(agent).map_or(Profile::Full, |it| it.profile)
    }

    /// A prompt begins.
    pub fn begin(&self, agent: &str, profile: Profile) {
        let fresh = InHand {
            profile,
            ..InHand::default()
        };
        let before = self.in_hand.lock().unwrap().insert(agent.to_owned(), fresh);
        if before.map_or(Profile::Full, |it| it.profile) != profile {
            self.changed.send_replace(());
        }
    }

    /// A prompt ends; what it has done.
    pub fn end(&self, agent: &str) -> Vec<String> {
        let ended = self.in_hand.lock().unwrap().remove(agent).unwrap_or_default();
        if ended.profile == Profile::Lean {
            self.changed.send_replace(());
        }
        ended.acted
    }

    /// When agents called last.
    pub fn activity(&self) -> watch::Receiver<HashMap<String, tokio::time::Instant>> {
        self.active.subscribe()
    }

    /// Looks a tool up.
    ///
    /// # Errors
    /// 404 when there is none, 403 when it is not this agent's, or not now.
    pub fn find(&self, agent: &Agent, profile: Profile, name: &str) -> Result<Offered, Failure> {
        let own = self.tools(agent, Profile::Full);
        if let Some(tool) = self.tools(agent, profile).into_iter().find(|tool| tool.name == name) {
            return Ok(tool);
        }
        if own.iter().any(|tool| tool.name == name) {
            let why = format!("{name} is not for prompts that nobody watches (lean profile)");
            return Err(Failure::new(403, "not_in_profile", why));
        }
        let servers = self.servers.read().unwrap();
        if self.here.iter().chain(servers.iter().flatten()).any(|tool| tool.name == name) {
            let why = format!("{name} is not a tool of {}", agent.name);
            return Err(Failure::new(403, "not_your_tool", why));
        }
        let near = near(name, own.iter().map(|tool| tool.name.as_str()));
        Err(Failure::new(404, "no_such_tool", format!("there is no tool {name:?}; {near}")))
    }

    /// Calls a tool for an agent. Dropped, it is cancelled, and audited as such.
    ///
    /// # Errors
    /// Why there is no result.
    pub async fn call(
        &self,
        agent: &Agent,
        profile: Profile,
        name: &str,
        arguments: Box<RawValue>,
        report: Report<'_>,
    ) -> Result<Box<RawValue>, Failure> {
        self.active
            .send_modify(|all| _ = all.insert(agent.name.clone(), tokio::time::Instant::now()));
        let mut audit = Audit::new(self.database.clone(), &agent.name, name, &arguments);
        let outcome = match self.find(agent, profile, name) {
            Ok(tool) => {
                if !tool.reads
                    && let Some(prompt) = self.in_hand.lock().unwrap().get_mut(&agent.name)
                {
                    prompt.acted.push(name.to_owned());
                }
                let limit = self.config.call;
                let work = self.perform(agent, &tool, arguments, report);
                let late = || {
                    Failure::new(
                        408,
                        "timed_out",
                        format!(
                            "{name} took longer than {limit:?}; whether it has acted is unknown"
                        ),
                    )
                };
                tokio::time::timeout(limit, work).await.unwrap_or_else(|_| Err(late()))
            }
            Err(failure) => Err(failure),
        };
        self.active
            .send_modify(|all| _ = all.insert(agent.name.clone(), tokio::time::Instant::now()));
        audit.outcome = match &outcome {
            Ok(result) if body::get(result, &["isError"]).is_some_and(|it| it.get() == "true") => {
                "tool error".to_owned()
            }
            Ok(_) => "ok".to_owned(),
            Err(failure) => format!("{} {}", failure.status, failure.kind),
        };
        outcome
    }

    async fn perform(
        &self,
        agent: &Agent,
        tool: &Offered,
        arguments: Box<RawValue>,
        report: Report<'_>,
    ) -> Result<Box<RawValue>, Failure> {
        let input: Value = serde_json::from_str(arguments.get())
            .map_err(|error| Failure::new(400, "bad_arguments", error.to_string()))?;
        if !input.is_object() {
            return Err(Failure::new(400, "bad_arguments", "the arguments are an object"));
        }
        match &tool.source {
            Source::Here => {
                let (call, by) = (tools::Call::parse(&tool.name, &input)?, agent.clone());
                match self.database.run(move |tx| call.run(tx, &by)).await {
                    Ok(value) => Ok(raw(json!({
                        "content": [{ "type": "text", "text": value.to_string() }],
                        "structuredContent": value,
                    }))),
                    Err(refusal) if refusal.kind == REFUSED => Ok(failed(refusal.message)),
                    Err(failure) => Err(failure),
                }
            }
            Source::Server(client, name) => {
                client.call(name, input, report).await.map_err(|error| match error {
                    Error::Unknown(why) => Failure::new(500, "outcome_unknown", why),
                    other => Failure::new(500, "server_failed", other.to_string()),
                })
            }
        }
    }
}

/// Names for whoever has named none of them: those that look like it, or all.
pub fn near<'a>(name: &str, all: impl Iterator<Item = &'a str>) -> String {
    let all: Vec<_> = all.collect();
    let mut near = all.clone();
    near.retain(|it| strsim::jaro_winkler(it, name) > 0.8);
    let named = if near.is_empty() { all } else { near };
    if named.is_empty() {
        "there is none".to_owned()
    } else {
        format!("near it: {}", named.join(", "))
    }
}

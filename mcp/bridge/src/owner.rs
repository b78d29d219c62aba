//! The owner: all tools in one process, each agent's part of them, and a line for every call.
//!
//! Agents live in processes that import nothing of it. Invariants: an agent reaches its own tools only, in an unattended
//! prompt those of its lean profile only; a tool's schema goes on as its server wrote it; each call is audited once,
//! however it ends.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use mcp_client::client::{Client, Error, Options};
use mcp_client::fleet::{self, Limits};
use mcp_relay::front::Ready;
use mcp_relay::service::{failed, raw};
use mcp_wire::body;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, timeout};

use crate::agent::{Agent, Status};
use crate::audit::Audit;
use crate::config::{self, Config};
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
pub struct Tool {
    /// Its name here.
    pub name: String,
    /// As it is listed.
    pub raw: Box<RawValue>,
    /// Whether it changes nothing, as it says.
    reads: bool,
    /// Whether it neither destroys anything nor speaks to the outside world.
    harmless: bool,
    source: Source,
}

impl Tool {
    /// Whether an agent has it when nobody watches.
    fn is_lean(&self, agent: &config::Agent) -> bool {
        self.harmless && !agent.lean_without.is_match(&self.name)
    }
}

enum Source {
    Here,
    Server(Arc<Client>, String),
}

/// Why there is no result: an HTTP status, a word and a sentence.
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
    pub(crate) fn body(&self) -> Value {
        json!({ "error": { "type": self.kind, "message": self.message } })
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::new(500, "broken", format!("the database: {error}"))
    }
}

/// Where a call reports its progress to.
pub type Report<'a> = &'a (dyn Fn(&RawValue) + Sync);

/// The owner.
pub struct Owner {
    /// What it was told.
    pub config: Config,
    /// The database.
    pub database: Database,
    /// What it lacks still.
    pub ready: Ready,
    pub(crate) agents: BTreeMap<String, Arc<Agent>>,
    /// Its own, and those of each server, in the order of the configuration.
    offered: RwLock<Vec<Vec<Arc<Tool>>>>,
    /// Changes when somebody's tools do. True when it is about to end.
    pub(crate) changed: watch::Sender<bool>,
    /// True when what is under way must end.
    pub(crate) stop: watch::Sender<bool>,
}

impl Owner {
    /// An owner that has its own tools; [`Owner::connect`] adds those of servers.
    pub fn new(config: Config, database: Database) -> Arc<Self> {
        let here = tools::all().into_iter().map(|(tool, reads)| {
            Arc::new(Tool {
                name: tool["name"].as_str().unwrap_or_default().to_owned(),
                raw: raw(tool),
                reads,
                harmless: true,
                source: Source::Here,
            })
        });
        let agent = |it: &config::Agent| (it.name.clone(), Arc::new(Agent::new(it.clone())));
        let mut offered = vec![here.collect()];
        offered.resize(1 + config.servers.len(), Vec::new());
        Arc::new(Self {
            database,
            ready: Ready::default(),
            agents: config.agents.iter().map(agent).collect(),
            config,
            offered: offered.into(),
            changed: watch::channel(false).0,
            stop: watch::channel(false).0,
        })
    }

    /// The agent of this name.
    ///
    /// # Errors
    /// 404 when there is none.
    pub fn agent(&self, name: &str) -> Result<&Arc<Agent>, Failure> {
        self.agents.get(name).ok_or_else(|| {
            let near = near(name, self.agents.keys());
            Failure::new(404, "no_such_agent", format!("there is no agent {name:?}; {near}"))
        })
    }

    /// How all agents are, by name.
    pub fn status(&self) -> Vec<Status> {
        self.agents.values().map(|agent| agent.status()).collect()
    }

    /// Connects to all servers, side by side. Those that are not there are tried again in the background.
    pub async fn connect(self: &Arc<Self>, limits: Limits) {
        let attempt = |at| self.clone().attach(at, limits);
        fleet::each(&self.config.servers, limits, attempt, |at, attached| {
            let owner = self.clone();
            let again = async move {
                sleep(AGAIN).await;
                while let Err(why) = owner.clone().attach(at, limits).await {
                    let server = &owner.config.servers[at].name;
                    tracing::warn!(server, %why, "not connected");
                    sleep(AGAIN).await;
                }
            };
            if attached.is_err() {
                tokio::spawn(again);
            }
        })
        .await;
    }

    /// Connects to a server, and follows its list of tools.
    async fn attach(self: Arc<Self>, at: usize, limits: Limits) -> Result<(), Error> {
        let server = &self.config.servers[at];
        let (told, mut notifications) = mpsc::channel(64);
        let options = Options {
            // Our own limit comes first, and says so.
            call: self.config.call.min(limits.call) + Duration::from_secs(1),
            notifications: Some(told),
            ..Options::default()
        };
        let connected = async {
            let client = Arc::new(Client::connect(server, options).await?);
            self.list(at, &client).await.map(|()| client)
        };
        let connected = connected.await;
        match &connected {
            Ok(_) => self.ready.has(&server.name),
            Err(why) => self.ready.lacks(&server.name, format!("{}: {why}", server.name)),
        }
        let client = connected?;
        tokio::spawn(async move {
            while let Some(frame) = notifications.recv().await {
                if frame.calls("notifications/tools/list_changed")
                    && let Err(error) = self.list(at, &client).await
                {
                    let server = &self.config.servers[at].name;
                    tracing::warn!(server, %error, "its list of tools is the old one");
                }
            }
        });
        Ok(())
    }

    /// Reads a server's list. A tool whose name the model's API would not take is left out.
    async fn list(&self, at: usize, client: &Arc<Client>) -> Result<(), Error> {
        let server = &self.config.servers[at].name;
        let offer = |tool: mcp_client::client::Tool| {
            let name = format!("{server}_{}", tool.name);
            let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            if name.len() > LONGEST_NAME || !name.chars().all(fits) {
                tracing::warn!(tool = name, "left out: no model could call it");
                return None;
            }
            let hint = |key, default| {
                let said = body::get(&tool.raw, &["annotations", key]);
                said.map_or(default, |said| said.get() == "true")
            };
            let reads = hint("readOnlyHint", false);
            let acts = hint("destructiveHint", true) || hint("openWorldHint", true);
            Some(Arc::new(Tool {
                raw: body::set(&tool.raw, &["name"], &raw(&name))?,
                name,
                reads,
                harmless: reads || !acts,
                source: Source::Server(client.clone(), tool.name),
            }))
        };
        let offered = client.tools().await?.into_iter().filter_map(offer).collect();
        self.offered.write().unwrap()[at + 1] = offered;
        self.changed.send_modify(|_| ());
        Ok(())
    }

    /// The tools of an agent in this profile. The first of a name wins.
    pub fn tools(&self, agent: &config::Agent, profile: Profile) -> Vec<Arc<Tool>> {
        let offered = self.offered.read().unwrap();
        let mut names = HashSet::new();
        let own = offered.iter().flatten().filter(|tool| agent.tools.is_match(&tool.name));
        let own = own.filter(|tool| names.insert(&tool.name));
        own.filter(|tool| profile == Profile::Full || tool.is_lean(agent)).cloned().collect()
    }

    /// Whether no agent has more tools than its budget allows.
    ///
    /// # Errors
    /// Who has.
    pub fn verify(&self) -> Result<(), String> {
        let wrong = self.config.agents.iter().find_map(|agent| {
            let tools = self.tools(agent, Profile::Full);
            let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
            let (name, count, most) = (&agent.name, names.len(), agent.tool_budget);
            (count > most).then(|| {
                format!("{name} has {count} tools, its tool_budget is {most} (7 to 10 are recommended): {}", names.join(", "))
            })
        });
        wrong.map_or(Ok(()), Err)
    }

    /// From here on an agent has the tools of this profile: a prompt begins, or, with the full one, has ended.
    pub fn begin(&self, agent: &Agent, profile: Profile) {
        if agent.profile.send_replace(profile) != profile {
            self.changed.send_modify(|_| ());
        }
    }

    /// The tool of this name: 404 when there is none, 403 when it is not this agent's, or not now.
    pub(crate) fn find(&self, agent: &Agent, name: &str) -> Result<Arc<Tool>, Failure> {
        let own = self.tools(&agent.config, Profile::Full);
        let named = |tool: &&Arc<Tool>| tool.name == name;
        let no = |kind, why: &str| Err(Failure::new(403, kind, format!("{name} is not {why}")));
        if let Some(tool) = own.iter().find(named) {
            if agent.profile() == Profile::Lean && !tool.is_lean(&agent.config) {
                return no("not_in_profile", "for prompts that nobody watches (lean profile)");
            }
            return Ok(tool.clone());
        }
        if self.offered.read().unwrap().iter().flatten().any(|tool| named(&tool)) {
            return no("not_your_tool", &format!("a tool of {}", agent.config.name));
        }
        let near = near(name, own.iter().map(|tool| &tool.name));
        Err(Failure::new(404, "no_such_tool", format!("there is no tool {name:?}; {near}")))
    }

    /// Calls a tool for an agent. Dropped, it is cancelled, and audited as such.
    ///
    /// # Errors
    /// Why there is no result.
    pub async fn call(
        &self,
        agent: &Agent,
        name: &str,
        arguments: Box<RawValue>,
        report: Report<'_>,
    ) -> Result<Box<RawValue>, Failure> {
        agent.called.send_replace(Instant::now());
        let mut audit = Audit::new(self.database.clone(), &agent.config.name, name, &arguments);
        let limit = self.config.call;
        let work = self.perform(agent, name, arguments, report);
        let outcome = timeout(limit, work).await.unwrap_or_else(|_| {
            let why = format!("{name} took longer than {limit:?}; whether it has acted is unknown");
            Err(Failure::new(408, "timed_out", why))
        });
        agent.called.send_replace(Instant::now());
        let is_error =
            |result| body::get(result, &["isError"]).is_some_and(|it| it.get() == "true");
        audit.outcome = match &outcome {
            Ok(result) if is_error(result) => "tool error".to_owned(),
            Ok(_) => "ok".to_owned(),
            Err(failure) => format!("{} {}", failure.status, failure.kind),
        };
        outcome
    }

    async fn perform(
        &self,
        agent: &Agent,
        name: &str,
        arguments: Box<RawValue>,
        report: Report<'_>,
    ) -> Result<Box<RawValue>, Failure> {
        let tool = self.find(agent, name)?;
        if !tool.reads {
            agent.acts(name);
        }
        let bad = |why: String| Failure::new(400, "bad_arguments", why);
        if !arguments.get().starts_with('{') {
            return Err(bad("the arguments are an object".to_owned()));
        }
        match &tool.source {
            Source::Here => {
                let call = tools::Call::parse(name, &arguments).map_err(bad)?;
                let by = agent.config.clone();
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
                client.call(name, arguments, report).await.map_err(|error| match error {
                    Error::Unknown(why) => Failure::new(500, "outcome_unknown", why),
                    other => Failure::new(500, "server_failed", other.to_string()),
                })
            }
        }
    }
}

/// Names for whoever has named none of them: those that look like it, or all.
fn near<'a>(name: &str, all: impl Iterator<Item = &'a String>) -> String {
    let all: Vec<_> = all.map(String::as_str).collect();
    let mut near = all.clone();
    near.retain(|it| strsim::jaro_winkler(it, name) > 0.8);
    match if near.is_empty() { all } else { near }.join(", ") {
        none if none.is_empty() => "there is none".to_owned(),
        names => format!("near it: {names}"),
    }
}

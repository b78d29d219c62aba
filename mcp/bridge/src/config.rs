//! `agents.yaml`: who there is, which tools each has, how long its process may live.
//!
//! Invariants: a field that nobody knows, a name twice or a time of zero is refused with its path; an agent without a time
//! of its own has that of its role, or the default, and never none.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use globset::GlobSet;
use mcp_client::config::Server;
use s14_cron::Schedule;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Reads the environment.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// How long processes of a role rest before they end, in seconds; `idle_s` in the file adds to it.
const IDLE: [(&str, u64); 6] = [
    ("research", 180),
    ("review", 150),
    ("building", 150),
    ("chief of staff", 120),
    ("engineering", 120),
    ("default", 90),
];

/// What an agent runs in.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The course's own harness.
    #[default]
    S20,
    /// Claude Code.
    Claude,
    /// `command`, which speaks the same lines.
    Command,
    /// Nothing: the owner answers.
    None,
}

/// An agent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an agent")]
pub struct Agent {
    /// Its name, a word.
    #[serde(deserialize_with = "name")]
    pub name: String,
    /// What it is for.
    #[serde(default)]
    pub role: String,
    /// The model it asks.
    pub model: Option<String>,
    /// What it runs in.
    #[serde(default)]
    pub process: Kind,
    /// The program, for [`Kind::Command`].
    #[serde(default)]
    pub command: Vec<String>,
    /// Added to its environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Its tools.
    pub tools: GlobSet,
    /// Those that it has not when nobody watches it, besides those that act on the world.
    #[serde(default)]
    pub lean_without: GlobSet,
    /// The most tools it may have.
    #[serde(default = "tool_budget")]
    pub tool_budget: usize,
    /// How long its process may rest.
    #[serde(rename = "idle_s", default, deserialize_with = "seconds")]
    pub idle: Duration,
    /// The longest that a prompt may take.
    #[serde(rename = "max_s", default = "cap", deserialize_with = "seconds")]
    pub cap: Duration,
    /// The most units that it may spend in a day.
    #[serde(default = "allowance")]
    pub allowance: u64,
}

/// A prompt that comes by itself.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a schedule")]
pub struct Cron {
    /// When.
    #[serde(rename = "cron", deserialize_with = "schedule")]
    pub schedule: Schedule,
    /// For whom.
    pub agent: String,
    /// What.
    pub prompt: String,
}

/// All of it.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping with `agents`")]
pub struct Config {
    /// The agents.
    pub agents: Vec<Agent>,
    /// What comes by itself.
    #[serde(default)]
    pub schedule: Vec<Cron>,
    #[serde(default, rename = "servers")]
    entries: BTreeMap<String, Value>,
    /// The MCP servers whose tools are offered.
    #[serde(skip)]
    pub servers: Vec<Server>,
    #[serde(default)]
    idle_s: BTreeMap<String, Seconds>,
    /// The folder of the database, the tokens and the agents' own folders; beside the file.
    #[serde(default = "state")]
    pub state: PathBuf,
    /// The longest that a call may take.
    #[serde(rename = "call_s", default = "call", deserialize_with = "seconds")]
    pub call: Duration,
    /// How long a process that has failed is left alone, in seconds; doubled each time.
    #[serde(default = "retry")]
    pub retry_s: u64,
}

#[derive(Clone, Deserialize)]
struct Seconds(#[serde(deserialize_with = "seconds")] Duration);

fn state() -> PathBuf {
    ".mcp_bridge".into()
}
fn call() -> Duration {
    Duration::from_secs(900)
}
fn retry() -> u64 {
    30
}
fn tool_budget() -> usize {
    10
}
fn cap() -> Duration {
    Duration::from_secs(600)
}
fn allowance() -> u64 {
    100_000
}

impl Config {
    /// Reads a file; what it names lies beside it.
    ///
    /// # Errors
    /// What is wrong and where, in a sentence.
    pub fn read(path: &Path, variable: Variables<'_>) -> Result<Self, String> {
        let wrong = |why: String| format!("{}: {why}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
        Self::parse(&text, folder.unwrap_or(Path::new(".")), variable).map_err(wrong)
    }

    /// Reads the text of a file that lies in `folder`.
    ///
    /// # Errors
    /// What is wrong and where.
    pub fn parse(text: &str, folder: &Path, variable: Variables<'_>) -> Result<Self, String> {
        let file = serde_saphyr::from_str(text);
        let file = file.map_err(|error| kit::one_line(&error.without_snippet().to_string()))?;
        let mut config: Self = parsed(file)?;
        let mut idle: BTreeMap<&str, Duration> =
            IDLE.map(|(role, count)| (role, Duration::from_secs(count))).into();
        idle.extend(config.idle_s.iter().map(|(role, Seconds(time))| (role.as_str(), *time)));
        for at in 0..config.agents.len() {
            let (before, agent) = config.agents.split_at_mut(at);
            let agent = &mut agent[0];
            if before.iter().any(|other| other.name == agent.name) {
                return Err(format!("agents[{at}].name: {} is taken", agent.name));
            }
            if (agent.process == Kind::Command) == agent.command.is_empty() {
                let why = "it belongs to `process: command`, and to nothing else";
                return Err(format!("agents[{at}].command: {why}"));
            }
            if agent.idle.is_zero() {
                agent.idle = *idle.get(&*agent.role).unwrap_or(&idle["default"]);
            }
        }
        if config.agents.is_empty() {
            return Err("agents: there must be one".to_owned());
        }
        for (at, cron) in config.schedule.iter().enumerate() {
            if !config.agents.iter().any(|agent| agent.name == cron.agent) {
                return Err(format!("schedule[{at}].agent: there is no agent {}", cron.agent));
            }
        }
        for (name, entry) in std::mem::take(&mut config.entries) {
            let server = Server::parse(&name, &entry, variable);
            config.servers.push(server.map_err(|why| format!("servers.{name}{why}"))?);
        }
        config.state = folder.join(config.state);
        Ok(config)
    }
}

/// A value as a type, or which field of it is wrong and why.
pub(crate) fn parsed<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = Some(error.path().to_string()).filter(|path| path != ".");
        path.map_or_else(String::new, |path| path + ": ") + &error.inner().to_string()
    })
}

fn name<'a, D: Deserializer<'a>>(field: D) -> Result<String, D::Error> {
    let name = String::deserialize(field)?;
    if kit::is_safe_name(&name, 40) && name != "owner" {
        return Ok(name);
    }
    Err(D::Error::custom(format!("{name:?} is no name; take a to z, digits, - and _")))
}

fn seconds<'a, D: Deserializer<'a>>(field: D) -> Result<Duration, D::Error> {
    match u64::deserialize(field)? {
        0 => Err(D::Error::custom("at least 1 second")),
        count if count > 86_400 => Err(D::Error::custom("at most a day, 86400 seconds")),
        count => Ok(Duration::from_secs(count)),
    }
}

fn schedule<'a, D: Deserializer<'a>>(field: D) -> Result<Schedule, D::Error> {
    Schedule::parse(&String::deserialize(field)?).map_err(D::Error::custom)
}

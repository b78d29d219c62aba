//! `agents.yaml`: who there is, which tools each has, how long its process may live.
//!
//! Invariants: a field that nobody knows, a name twice or a time of zero is refused with its path; an agent without a time
//! of its own has that of its role, or the default, and never none.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use globset::{Glob, GlobSet, GlobSetBuilder};
use mcp_client::config::Server;
use s14_cron::Schedule;
use serde::Deserialize;
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    agents: Vec<AgentEntry>,
    #[serde(default)]
    schedule: Vec<CronEntry>,
    #[serde(default)]
    servers: BTreeMap<String, Value>,
    #[serde(default)]
    idle_s: BTreeMap<String, u64>,
    /// Beside the file.
    #[serde(default = "state")]
    state: PathBuf,
    #[serde(default = "call_s")]
    call_s: u64,
    #[serde(default = "retry_s")]
    retry_s: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentEntry {
    name: String,
    #[serde(default)]
    role: String,
    model: Option<String>,
    #[serde(default)]
    process: Kind,
    /// For a process of another kind.
    #[serde(default)]
    command: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    tools: Vec<String>,
    #[serde(default)]
    lean_without: Vec<String>,
    #[serde(default = "tool_budget")]
    tool_budget: usize,
    idle_s: Option<u64>,
    #[serde(default = "max_s")]
    max_s: u64,
    #[serde(default = "allowance")]
    allowance: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CronEntry {
    cron: String,
    agent: String,
    prompt: String,
}

fn state() -> PathBuf {
    ".mcp_bridge".into()
}
fn call_s() -> u64 {
    900
}
fn retry_s() -> u64 {
    30
}
fn tool_budget() -> usize {
    10
}
fn max_s() -> u64 {
    600
}
fn allowance() -> u64 {
    100_000
}

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
#[derive(Clone, Debug)]
pub struct Agent {
    /// Its name, a word.
    pub name: String,
    /// What it is for.
    pub role: String,
    /// The model it asks.
    pub model: Option<String>,
    /// What it runs in.
    pub process: Kind,
    /// The program, for [`Kind::Command`].
    pub command: Vec<String>,
    /// Added to its environment.
    pub env: BTreeMap<String, String>,
    /// Its tools.
    pub tools: GlobSet,
    /// Those that it has not when nobody watches it, besides those that act on the world.
    pub lean_without: GlobSet,
    /// The most tools it may have.
    pub tool_budget: usize,
    /// How long its process may rest.
    pub idle: Duration,
    /// The longest that a prompt may take.
    pub cap: Duration,
    /// The most units that it may spend in a day.
    pub allowance: u64,
}

/// A prompt that comes by itself.
#[derive(Clone, Debug)]
pub struct Cron {
    /// When.
    pub schedule: Schedule,
    /// For whom.
    pub agent: String,
    /// What.
    pub prompt: String,
}

/// All of it.
#[derive(Clone)]
pub struct Config {
    /// The agents.
    pub agents: Vec<Agent>,
    /// What comes by itself.
    pub schedule: Vec<Cron>,
    /// The MCP servers whose tools are offered.
    pub servers: Vec<Server>,
    /// The folder of the database, the tokens and the agents' own folders.
    pub state: PathBuf,
    /// The longest that a call may take.
    pub call: Duration,
    /// How long a process that has failed is left alone; doubled each time.
    pub retry: Duration,
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
        let file: Value =
            serde_saphyr::from_str(text).map_err(|error| kit::one_line(&error.to_string()))?;
        let file: File = serde_path_to_error::deserialize(file)
            .map_err(|error| format!("{}: {}", error.path(), error.inner()))?;
        let mut idle: BTreeMap<&str, u64> = IDLE.into();
        idle.extend(file.idle_s.iter().map(|(role, time)| (role.as_str(), *time)));
        let mut agents: Vec<Agent> = Vec::new();
        for (at, entry) in file.agents.into_iter().enumerate() {
            let agent = agent(entry, &idle).map_err(|why| format!("agents[{at}].{why}"))?;
            if agents.iter().any(|other| other.name == agent.name) {
                return Err(format!("agents[{at}].name: {} is taken", agent.name));
            }
            agents.push(agent);
        }
        if agents.is_empty() {
            return Err("agents: there must be one".to_owned());
        }
        let mut schedule = Vec::new();
        for (at, entry) in file.schedule.into_iter().enumerate() {
            let wrong = |why: String| format!("schedule[{at}].{why}");
            if !agents.iter().any(|agent| agent.name == entry.agent) {
                return Err(wrong(format!("agent: there is no agent {}", entry.agent)));
            }
            schedule.push(Cron {
                schedule: Schedule::parse(&entry.cron)
                    .map_err(|error| wrong(format!("cron: {error}")))?,
                agent: entry.agent,
                prompt: entry.prompt,
            });
        }
        let mut servers = Vec::new();
        for (name, entry) in &file.servers {
            let server = Server::parse(name, entry, variable);
            servers.push(server.map_err(|why| format!("servers.{name}{why}"))?);
        }
        Ok(Self {
            agents,
            schedule,
            servers,
            state: folder.join(file.state),
            call: seconds(file.call_s, "call_s")?,
            retry: Duration::from_secs(file.retry_s),
        })
    }

    /// The agent of this name.
    pub fn agent(&self, name: &str) -> Option<&Agent> {
        self.agents.iter().find(|agent| agent.name == name)
    }
}

fn agent(entry: AgentEntry, idle: &BTreeMap<&str, u64>) -> Result<Agent, String> {
    let name = entry.name;
    if !kit::is_safe_name(&name, 40) || name == "owner" {
        return Err(format!("name: {name:?} is no name; take a to z, digits, - and _"));
    }
    if (entry.process == Kind::Command) == entry.command.is_empty() {
        return Err("command: it belongs to `process: command`, and to nothing else".to_owned());
    }
    let rests = entry.idle_s.or_else(|| idle.get(&*entry.role).copied());
    Ok(Agent {
        role: entry.role,
        model: entry.model,
        process: entry.process,
        command: entry.command,
        env: entry.env,
        tools: patterns(&entry.tools, "tools")?,
        lean_without: patterns(&entry.lean_without, "lean_without")?,
        tool_budget: entry.tool_budget,
        idle: seconds(rests.unwrap_or(idle["default"]), "idle_s")?,
        cap: seconds(entry.max_s, "max_s")?,
        allowance: entry.allowance,
        name,
    })
}

fn seconds(count: u64, field: &str) -> Result<Duration, String> {
    match count {
        0 => Err(format!("{field}: at least 1 second")),
        count if count > 86_400 => Err(format!("{field}: at most a day, 86400 seconds")),
        count => Ok(Duration::from_secs(count)),
    }
}

fn patterns(texts: &[String], field: &str) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for text in texts {
        set.add(Glob::new(text).map_err(|error| format!("{field}: {error}"))?);
    }
    set.build().map_err(|error| format!("{field}: {error}"))
}

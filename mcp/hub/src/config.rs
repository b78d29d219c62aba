//! `spokes.yaml`: which agents there are, how each is reached, and what it may use.
//!
//! Invariants: a field that nobody knows, or that does not go with the kind of a spoke, is refused with its path; without a
//! file there is the embedded spoke `gpt`, with the course's docs server to look things up in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mcp_client::Server;
use mcp_client::config::expand;
use mcp_client::sources::Catalog;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The environment, as a function.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// The name under which the hub's own tools are granted to a spoke.
pub const HUB: &str = "hub";

/// What the hub works with.
#[derive(Clone)]
pub struct Config {
    /// The agents, in the order of the file.
    pub spokes: Vec<Spoke>,
    /// The servers whose tools they may use.
    pub servers: Vec<Server>,
    /// Files are read below these only.
    pub roots: Vec<PathBuf>,
    /// For the question that a client asks.
    pub limits: Limits,
}

/// An agent that can be asked.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Spoke {
    /// What a client calls it.
    pub name: String,
    /// How it is spoken to.
    pub kind: Kind,
    /// Shown by `list_agents`: what it is good at.
    pub description: String,
    /// The model it uses, in its own words; `provider/model` for opencode.
    pub model: Option<String>,
    /// A known program of kind command.
    pub preset: Option<Preset>,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Added to the program's environment.
    pub env: BTreeMap<String, String>,
    /// Where it is, of kinds run and model; a model without one is the embedded mock model.
    pub url: Option<String>,
    /// The variable that has the key for it.
    pub key_env: Option<String>,
    /// The agent of opencode's that answers.
    pub agent: Option<String>,
    /// What it may use: `server:tool`, a tool by its name; `server` or `*`, those that only read.
    pub capabilities: Option<Vec<String>>,
    /// Instead of the hub's.
    pub limits: Limits,
}

/// How a spoke is spoken to.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The Messages API, with the course's loop.
    #[default]
    Model,
    /// A program that is started for each question.
    Command,
    /// `POST url/run`.
    Run,
    /// A child `opencode serve`.
    Opencode,
}

/// Programs whose command lines are known.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// `claude -p`.
    Claude,
    /// `codex exec`.
    Codex,
    /// `s20_full -p`.
    S20,
}

/// What a question may cost.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// From the question to the answer, in seconds.
    pub seconds: u64,
    /// Requests to spokes and models, those that spokes make included.
    pub requests: u64,
    /// Tools that spokes call.
    pub tool_calls: u64,
    /// Of all requests and replies.
    pub tokens: u64,
    /// How many spokes may stand behind each other.
    pub depth: u64,
    /// The context that is sent with a question, in tokens.
    pub context_tokens: u64,
    /// The answer that a client is given, in tokens.
    pub answer_tokens: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            seconds: 300,
            requests: 12,
            tool_calls: 24,
            tokens: 400_000,
            depth: 2,
            context_tokens: 30_000,
            answer_tokens: 25_000,
        }
    }
}

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    spokes: Vec<Spoke>,
    #[serde(default)]
    servers: BTreeMap<String, Value>,
    /// Files with more of them, as other clients have them.
    #[serde(default)]
    mcp_json: Vec<PathBuf>,
    #[serde(default)]
    roots: Option<Vec<PathBuf>>,
    #[serde(default)]
    limits: Limits,
}

impl Config {
    /// Reads a file; what it names lies beside it.
    ///
    /// # Errors
    /// What is wrong and where, in a sentence.
    pub fn read(path: &Path, variable: Variables<'_>) -> Result<Self, String> {
        let wrong = |why: String| format!("{}: {why}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        Self::parse(&text, path.parent().unwrap_or(Path::new("")), variable).map_err(wrong)
    }

    /// Reads the text of a file that lies in `folder`.
    ///
    /// # Errors
    /// What is wrong and where.
    pub fn parse(text: &str, folder: &Path, variable: Variables<'_>) -> Result<Self, String> {
        let mut file: Value =
            serde_saphyr::from_str(text).map_err(|error| kit::one_line(&error.to_string()))?;
        inherit_limits(&mut file);
        let file: File = serde_path_to_error::deserialize(file)
            .map_err(|error| format!("{}: {}", error.path(), error.inner()))?;
        let mut servers = Vec::new();
        for (name, entry) in &file.servers {
            let server = Server::parse(name, entry, variable);
            servers.push(server.map_err(|why| format!("servers.{name}{why}"))?);
        }
        for path in &file.mcp_json {
            let catalog = Catalog::of_file(&folder.join(path), variable);
            catalog.wrong.first().map_or(Ok(()), |why| Err(why.clone()))?;
            for found in catalog.found {
                servers.push(found.server?);
            }
        }
        let mut spokes = file.spokes;
        for (at, spoke) in spokes.iter_mut().enumerate() {
            let wrong = |why: String| format!("spokes[{at}].{why}");
            let unset = |name| wrong(format!("the variable {name} is not set"));
            for value in spoke.env.values_mut().chain(&mut spoke.url) {
                *value = expand(value, variable).map_err(unset)?;
            }
            spoke.check().map_err(wrong)?;
        }
        let twice = |at: usize| spokes[..at].iter().any(|other| other.name == spokes[at].name);
        if let Some(at) = (0..spokes.len()).find(|at| twice(*at)) {
            return Err(format!("spokes[{at}].name: {} is taken", spokes[at].name));
        }
        let roots = file.roots.unwrap_or_else(|| vec![PathBuf::new()]);
        let roots = roots.iter().map(|root| folder.join(root)).collect();
        Ok(Self {
            spokes,
            servers,
            roots,
            limits: file.limits,
        })
    }

    /// What there is without a file.
    pub fn embedded(folder: &Path) -> Self {
        let description = "the course's mock model; it needs no key".to_owned();
        let gpt = Spoke {
            name: "gpt".to_owned(),
            description,
            ..Spoke::default()
        };
        let docs = Catalog::embedded().get("docs").and_then(|docs| docs.server.clone().ok());
        Self {
            spokes: vec![gpt],
            servers: docs.into_iter().collect(),
            roots: vec![folder.to_owned()],
            limits: Limits::default(),
        }
    }

    /// The spoke of this name.
    pub fn spoke(&self, name: &str) -> Option<&Spoke> {
        self.spokes.iter().find(|spoke| spoke.name == name)
    }
}

/// What a spoke does not say of its limits, the hub's say.
fn inherit_limits(file: &mut Value) {
    let all = file.get("limits").cloned().unwrap_or_else(|| json!({}));
    for spoke in file.get_mut("spokes").and_then(Value::as_array_mut).into_iter().flatten() {
        let (Some(spoke), Some(all)) = (spoke.as_object_mut(), all.as_object()) else {
            continue;
        };
        let own = spoke.entry("limits").or_insert_with(|| json!({}));
        for (key, value) in all {
            own.as_object_mut().map(|own| own.entry(key).or_insert_with(|| value.clone()));
        }
    }
}

impl Spoke {
    /// Whether its fields go together.
    fn check(&self) -> Result<(), String> {
        if !kit::is_safe_name(&self.name, 32) || self.name == HUB {
            return Err(format!("name: {:?} is none; a-z, 0-9, - and _, at most 32", self.name));
        }
        let set = [
            ("preset", self.preset.is_some()),
            ("command", !self.command.is_empty()),
            ("env", !self.env.is_empty()),
            ("url", self.url.is_some()),
            ("key_env", self.key_env.is_some()),
            ("agent", self.agent.is_some()),
        ];
        let (known, needed): (&[&str], &[&str]) = match self.kind {
            Kind::Model => (&["url", "key_env"], &[]),
            Kind::Command => (&["preset", "command", "env"], &["preset", "command"]),
            Kind::Run => (&["url", "key_env"], &["url"]),
            Kind::Opencode => (&["command", "env", "agent"], &[]),
        };
        let kind = self.kind;
        if let Some((field, _)) = set.iter().find(|(field, set)| *set && !known.contains(field)) {
            return Err(format!("{field}: a spoke of kind {kind} has none"));
        }
        if !needed.is_empty() && !set.iter().any(|(field, set)| *set && needed.contains(field)) {
            return Err(format!("{}: a spoke of kind {kind} needs it", needed.join(" or ")));
        }
        let is_http = |url: &String| url.starts_with("http://") || url.starts_with("https://");
        if self.url.as_ref().is_some_and(|url| !is_http(url)) {
            return Err("url: it must begin with http:// or https://".to_owned());
        }
        if kind == Kind::Opencode && self.model.as_ref().is_some_and(|model| !model.contains('/')) {
            return Err("model: opencode wants provider/model".to_owned());
        }
        Ok(())
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Model => "model",
            Self::Command => "command",
            Self::Run => "run",
            Self::Opencode => "opencode",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, String> {
        let variable = |name: &str| (name == "PORT").then(|| "3001".to_owned());
        Config::parse(text, Path::new("/project"), &variable)
    }

    #[test]
    fn a_file_names_spokes_servers_roots_and_limits() {
        let config = parse(
            "limits: {seconds: 60, tool_calls: 3}
roots: [., /data]
servers: {docs: {command: docs-server}}
spokes:
  - {name: gpt, kind: opencode, model: openai/gpt-5, limits: {seconds: 9}}
  - {name: mine, kind: run, url: 'http://127.0.0.1:${PORT}', capabilities: [docs]}
  - {name: fable, kind: command, preset: claude}",
        )
        .unwrap();
        assert_eq!(config.spoke("mine").unwrap().url.as_deref(), Some("http://127.0.0.1:3001"));
        let limits = config.spoke("gpt").unwrap().limits;
        assert_eq!((limits.seconds, limits.tool_calls, limits.depth), (9, 3, 2));
        assert_eq!(config.roots, [Path::new("/project/."), Path::new("/data")]);
        assert_eq!(config.servers[0].name, "docs");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (text, why) in [
            ("spokes: [{name: a, kind: run}]", "spokes[0].url: a spoke of kind run needs it"),
            ("spokes: [{name: a, kind: robot}]", "spokes[0].kind: unknown variant `robot`"),
            ("spokes: [{name: a, url: 'ftp://x'}]", "spokes[0].url: it must begin with http"),
            ("spokes: [{name: a, url: '${GONE}'}]", "spokes[0].the variable GONE is not set"),
            ("spokes: [{name: a, agent: plan}]", "spokes[0].agent: a spoke of kind model has none"),
            ("spokes: [{name: hub}]", "spokes[0].name: \"hub\" is none"),
            ("spokes: [{name: a}, {name: a}]", "spokes[1].name: a is taken"),
            (
                "spokes: [{name: a, limits: {hours: 1}}]",
                "spokes[0].limits.hours: unknown field `hours`",
            ),
            ("spokes: []\nservers: {x: {url: 3}}", "servers.x.url: "),
            ("spokes: [{name: a, kind: opencode, model: gpt}]", "spokes[0].model: opencode wants"),
            ("spokes: [", ""),
        ] {
            let error = parse(text).err().unwrap_or_default();
            assert!(
                error.starts_with(why) && !error.is_empty() && !error.contains('\n'),
                "{text}: {error}"
            );
        }
    }
}

//! Where servers are configured: six sources, which one wins, and what of a project the user has approved.
//!
//! Connectors < plugins < the user's settings < the project's approved `.mcp.json` < the project's local settings; a managed
//! file excludes them all. Invariants: one entry that is wrong costs the others nothing; nothing of a project's file is
//! started before the user has approved that entry as it stands.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use mcp_wire::body;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::config::Server;
use crate::link::raw;
use crate::transport::config_home;

/// The largest file that is read.
const LIMIT: u64 = 1 << 20;
/// Where in the local settings it stands what an approved entry was.
const APPROVED: &str = "mcpClientApproved";

/// Where the files are.
#[derive(Clone, Debug)]
pub struct Places {
    /// The user's settings: `~/.claude`.
    pub home: PathBuf,
    /// The directory that is worked in.
    pub project: PathBuf,
    /// The administrator's file.
    pub managed: PathBuf,
}

/// Who configured a server, the lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// `connectors.json` in the user's settings.
    Connectors,
    /// `plugins/*/.mcp.json` there.
    Plugin,
    /// `settings.json` there.
    User,
    /// `.mcp.json` of the project.
    Project,
    /// `.claude/settings.local.json` of the project.
    Local,
    /// `managed-mcp.json`.
    Managed,
    /// The file of `--config`.
    File,
    /// The course's mock servers.
    Embedded,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{self:?}").to_lowercase())
    }
}

/// Whether a server may be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It may.
    Ready,
    /// The user has switched it off.
    Disabled,
    /// The user has not been asked.
    New,
    /// It is another one than the user has approved.
    Changed,
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ready => "",
            Self::Disabled => "disabled",
            Self::New => "not approved",
            Self::Changed => "changed since it was approved",
        })
    }
}

/// A server that was found.
#[derive(Clone)]
pub struct Found {
    /// Its name.
    pub name: String,
    /// Who configured it.
    pub source: Source,
    /// The server; or what is wrong with its entry, and where.
    pub server: Result<Server, String>,
    /// Whether it may be started.
    pub standing: Standing,
    /// Who else configured a server of this name, to no avail.
    pub overrides: Vec<Source>,
    /// The entry as the file has it, without values of variables.
    pub entry: Value,
}

/// All servers there are, by name.
#[derive(Clone, Default)]
pub struct Catalog {
    /// The servers.
    pub found: Vec<Found>,
    /// What is wrong with whole files.
    pub wrong: Vec<String>,
}

/// What the local settings say about the project's file.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Approval {
    enabled_mcpjson_servers: Vec<String>,
    disabled_mcpjson_servers: Vec<String>,
    enable_all_project_mcp_servers: bool,
    mcp_client_approved: BTreeMap<String, String>,
}

type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

impl Places {
    /// The usual ones.
    pub fn usual(variable: Variables<'_>) -> Self {
        let managed = if cfg!(target_os = "macos") {
            "/Library/Application Support/ClaudeCode/managed-mcp.json"
        } else {
            "/etc/claude-code/managed-mcp.json"
        };
        Self {
            home: config_home(variable),
            project: std::env::current_dir().unwrap_or_default(),
            managed: managed.into(),
        }
    }

    fn local(&self) -> PathBuf {
        self.project.join(".claude/settings.local.json")
    }

    /// Remembers that the user wants this entry of the project's file, as it stands.
    ///
    /// # Errors
    /// When the local settings cannot be written.
    pub fn approve(&self, found: &Found) -> Result<(), String> {
        let path = self.local();
        let wrong = |why: &dyn fmt::Display| format!("{}: {why}", path.display());
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => "{}".to_owned(),
            text => text.map_err(|error| wrong(&error))?,
        };
        let mut settings = RawValue::from_string(text).map_err(|error| wrong(&error))?;
        let enabled = body::get(&settings, &["enabledMcpjsonServers"]).map_or("[]", RawValue::get);
        let mut enabled: Vec<Value> = serde_json::from_str(enabled).unwrap_or_default();
        if !enabled.contains(&json!(found.name)) {
            enabled.push(json!(found.name));
        }
        // In place: the rest of the file is the user's.
        for (path, value) in [
            (&["enabledMcpjsonServers"][..], raw(enabled)),
            (&[APPROVED, &found.name], raw(fingerprint(&found.entry))),
        ] {
            let set = body::set(&settings, path, &value);
            settings = set.ok_or_else(|| wrong(&"it is not the object that it must be"))?;
        }
        kit::write_whole(&path, settings.get().as_bytes()).map_err(|error| wrong(&error))
    }
}

impl Catalog {
    /// Reads all sources.
    pub fn read(places: &Places, variable: Variables<'_>) -> Self {
        let mut catalog = Self::default();
        if places.managed.exists() {
            catalog.add(Source::Managed, &places.managed, variable);
            return catalog;
        }
        let mut plugins: Vec<_> = fs::read_dir(places.home.join("plugins"))
            .into_iter()
            .flatten()
            .filter_map(|plugin| Some(plugin.ok()?.path().join(".mcp.json")))
            .collect();
        plugins.sort();
        // The highest first: what is there already wins.
        catalog.add(Source::Local, &places.local(), variable);
        let local = catalog.found.len();
        catalog.add(Source::Project, &places.project.join(".mcp.json"), variable);
        catalog.approve(places, local);
        catalog.add(Source::User, &places.home.join("settings.json"), variable);
        for plugin in plugins {
            catalog.add(Source::Plugin, &plugin, variable);
        }
        catalog.add(Source::Connectors, &places.home.join("connectors.json"), variable);
        catalog.drop_twins();
        catalog.found.sort_by(|a, b| a.name.cmp(&b.name));
        catalog
    }

    /// The file that the user has named, else all sources, and where these have nothing the course's mock servers.
    pub fn open(file: Option<&Path>, places: &Places, variable: Variables<'_>) -> Self {
        let catalog = match file {
            Some(file) => return Self::of_file(file, variable),
            None => Self::read(places, variable),
        };
        let is_empty = catalog.found.is_empty() && catalog.wrong.is_empty();
        if is_empty { Self::embedded() } else { catalog }
    }

    /// The servers that can be used, and why each of the others cannot.
    pub fn usable(&self) -> (Vec<Server>, Vec<(String, String)>) {
        let (mut servers, mut others) = (Vec::new(), Vec::new());
        for found in &self.found {
            match (&found.server, found.standing) {
                (Ok(server), Standing::Ready) => servers.push(server.clone()),
                (Ok(_), standing) => others.push((found.name.clone(), standing.to_string())),
                (Err(why), _) => others.push((found.name.clone(), why.clone())),
            }
        }
        (servers, others)
    }

    /// Reads one file, which the user has named.
    pub fn of_file(path: &Path, variable: Variables<'_>) -> Self {
        let mut catalog = Self::default();
        if path.exists() {
            catalog.add(Source::File, path, variable);
        } else {
            catalog.wrong.push(format!("{}: there is no such file", path.display()));
        }
        catalog
    }

    /// The course's mock servers, which this program itself is, when its `main` calls `serve_when_asked`.
    pub fn embedded() -> Self {
        let found = mock_servers::mcp::NAMES.map(|name| {
            let (command, args) = mock_servers::mcp::command(name);
            let server = Server {
                name: name.to_owned(),
                command: command.to_string_lossy().into_owned(),
                args,
                ..Server::default()
            };
            Found {
                name: name.to_owned(),
                source: Source::Embedded,
                server: Ok(server),
                standing: Standing::Ready,
                overrides: Vec::new(),
                entry: Value::Null,
            }
        });
        Self {
            found: found.into(),
            wrong: Vec::new(),
        }
    }

    /// The server of this name that wins.
    pub fn get(&self, name: &str) -> Option<&Found> {
        self.found.iter().find(|found| found.name == name)
    }

    fn add(&mut self, source: Source, path: &Path, variable: Variables<'_>) {
        let entries = match read(path) {
            Ok(Some(mut file)) => match file.remove("mcpServers") {
                // Settings hold much else.
                None if matches!(source, Source::User | Source::Local) => return,
                Some(Value::Object(entries))
                    if matches!(source, Source::User | Source::Local) || file.is_empty() =>
                {
                    entries
                }
                Some(Value::Object(_)) => {
                    let field = file.keys().next().cloned().unwrap_or_default();
                    return self.wrong.push(format!("{}: {field}: unknown field", path.display()));
                }
                _ => {
                    let why = "mcpServers: an object of servers is missing";
                    return self.wrong.push(format!("{}: {why}", path.display()));
                }
            },
            Ok(None) => return,
            Err(why) => return self.wrong.push(format!("{}: {why}", path.display())),
        };
        for (name, entry) in entries {
            // Not approved, the project's entry is in nobody's way.
            let winner = self.found.iter_mut().find(|found| {
                found.name == name && matches!(found.standing, Standing::Ready | Standing::Disabled)
            });
            if let Some(winner) = winner {
                winner.overrides.push(source);
                continue;
            }
            let server = Server::parse(&name, &entry, variable)
                .map_err(|why| format!("{}: mcpServers.{name}{why}", path.display()));
            self.found.push(Found {
                name,
                source,
                server,
                standing: Standing::Ready,
                overrides: Vec::new(),
                entry,
            });
        }
    }

    /// What the user has said about the entries of the project.
    fn approve(&mut self, places: &Places, from: usize) {
        let settings = read(&places.local()).ok().flatten().unwrap_or_default();
        let approval = Approval::deserialize(Value::Object(settings));
        let approval = approval.unwrap_or_else(|error| {
            self.wrong.push(format!("{}: {error}", places.local().display()));
            Approval::default()
        });
        for found in &mut self.found[from..] {
            let has = |names: &[String]| names.contains(&found.name);
            let approved = approval.mcp_client_approved.get(&found.name);
            found.standing = if has(&approval.disabled_mcpjson_servers) {
                Standing::Disabled
            } else if approval.enable_all_project_mcp_servers {
                Standing::Ready
            } else if !has(&approval.enabled_mcpjson_servers) {
                Standing::New
            } else if approved.is_some_and(|approved| *approved != fingerprint(&found.entry)) {
                Standing::Changed
            } else {
                Standing::Ready
            };
        }
    }

    /// Leaves out connectors whose server somebody has configured under another name.
    fn drop_twins(&mut self) {
        let signature = |found: &Found| found.server.as_ref().ok().map(Server::signature);
        let others = self
            .found
            .iter()
            .filter(|it| it.source != Source::Connectors && it.standing == Standing::Ready);
        let taken: Vec<_> = others.filter_map(signature).collect();
        self.found.retain(|found| {
            found.source != Source::Connectors
                || !signature(found).is_some_and(|signature| taken.contains(&signature))
        });
    }
}

/// The object in a file; None when there is no file.
fn read(path: &Path) -> Result<Option<Map<String, Value>>, String> {
    let about = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        about => about.map_err(|error| error.to_string())?,
    };
    if !about.is_file() || about.len() > LIMIT {
        return Err("it is no file of at most 1 MiB".to_owned());
    }
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    match serde_json::from_str(&text) {
        Ok(Value::Object(object)) => Ok(Some(object)),
        Ok(_) => Err("it is no JSON object".to_owned()),
        Err(error) => Err(format!("it is no JSON: {error}")),
    }
}

/// What an entry is recognised by: approved is what was shown, with variables unexpanded.
fn fingerprint(entry: &Value) -> String {
    let hash = Sha256::digest(entry.to_string());
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

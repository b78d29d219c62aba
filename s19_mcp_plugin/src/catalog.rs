//! The servers that can be connected: those that a session brings, and those that `.mcp.json` names.
//!
//! The file has the format that Claude Code reads, so a server set up there works here. It is read anew for each
//! connection. Invariants: an unusable entry is named in one sentence and the others stay; the command line that the user
//! is asked about is the one that is started.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::environment::{expand, is_variable_name, variable};
use crate::process::StdioServerConfig;
use crate::text::one_line;

/// The file in the workspace that names servers.
pub const MCP_FILE: &str = ".mcp.json";

/// The longest name of a server, in characters.
const MAX_SERVER_NAME: usize = 100;

/// The most characters of what is wrong with an entry.
const MAX_WRONG: usize = 300;

/// The shortest timeout of an entry, in milliseconds, as in Claude Code: a smaller number was meant in seconds.
const MIN_TIMEOUT: u64 = 1_000;

/// The largest file that is read.
const MAX_FILE: u64 = 1024 * 1024;

/// Makes a server on stdio of an entry that has a `url`: the program that is started in its place, and the command line
/// that the user is asked about. An error is the rest of a sentence that begins with the name of the server.
pub type Adaptor = Arc<dyn Fn(&Value) -> Result<(StdioServerConfig, String)> + Send + Sync>;

/// The servers that a session may connect to.
#[derive(Debug)]
pub(crate) struct Catalog {
    /// By name.
    pub servers: BTreeMap<String, Known>,
    /// Why the file as a whole cannot be read.
    pub complaint: Option<String>,
}

/// What is known about a server before it is started.
#[derive(Clone, Debug)]
pub(crate) enum Known {
    /// How it is started, and the command line that the user is asked about. Nobody is asked about one that comes with
    /// the session.
    Server(StdioServerConfig, Option<String>),
    /// The file names it, and it cannot be used, for this reason.
    Unusable(String),
}

/// What the file says about one server. Other fields mean nothing here.
#[derive(Deserialize)]
struct Entry {
    #[serde(rename = "type")]
    kind: Option<String>,
    url: Option<Value>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// In milliseconds.
    timeout: Option<u64>,
}

impl Catalog {
    /// These servers, and those of the workspace's file, which wins: the user wrote it.
    pub fn read(root: &Path, own: &[StdioServerConfig], adaptor: Option<&Adaptor>) -> Self {
        let known = |server: &StdioServerConfig| Known::Server(server.clone(), None);
        let own = own.iter().map(|server| (server.name.clone(), known(server)));
        let mut servers: BTreeMap<_, _> = own.collect();
        let complaint = match entries(root) {
            Ok(entries) => {
                servers.extend(entries.into_iter().map(|(name, entry)| {
                    let unusable = |why| Known::Unusable(format!("{why:#}"));
                    let known = named(&name, entry, adaptor).unwrap_or_else(unusable);
                    (name, known)
                }));
                None
            }
            Err(error) => Some(format!("{error:#}")),
        };
        Self { servers, complaint }
    }

    /// The names of the servers that can be used.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let servers = self.servers.iter();
        let usable = servers.filter(|(_, known)| matches!(known, Known::Server(..)));
        usable.map(|(name, _)| name.as_str())
    }

    /// What is wrong with the file: one sentence for all of it, or one for each entry.
    pub fn complaints(&self) -> Vec<String> {
        let entries = self.servers.iter().filter_map(|(name, known)| match known {
            Known::Unusable(why) if name.trim().is_empty() => {
                Some(format!("{MCP_FILE}: a server {why}"))
            }
            Known::Unusable(why) => Some(format!("{MCP_FILE}: {} {why}", one_line(name, 100))),
            Known::Server(..) => None,
        });
        self.complaint.iter().cloned().chain(entries).collect()
    }
}

/// What stands under `mcpServers`; nothing when there is no file.
fn entries(root: &Path) -> Result<Map<String, Value>> {
    let path = root.join(MCP_FILE);
    let unreadable = || format!("{MCP_FILE} cannot be read; its servers are left out");
    let about = match fs::metadata(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Map::new()),
        about => about.with_context(unreadable)?,
    };
    ensure!(
        about.is_file() && about.len() <= MAX_FILE,
        "{MCP_FILE} is no file of at most 1 MB; its servers are left out"
    );
    let text = fs::read_to_string(&path).with_context(unreadable)?;
    let mut file: Value = serde_json::from_str(&text)
        .with_context(|| format!("{MCP_FILE} is no JSON; its servers are left out"))?;
    match file.get_mut("mcpServers").map(Value::take) {
        Some(Value::Object(entries)) => Ok(entries),
        _ => bail!("{MCP_FILE} has no object `mcpServers`; no server is taken from it"),
    }
}

/// A server as the file describes it. An error is the rest of a sentence that begins with its name.
fn named(name: &str, entry: Value, adaptor: Option<&Adaptor>) -> Result<Known> {
    ensure!(!name.trim().is_empty(), "has no name");
    ensure!(
        name == one_line(name, MAX_SERVER_NAME),
        "has a name that is not one line of at most {MAX_SERVER_NAME} characters without spaces around it"
    );
    ensure!(entry.is_object(), "is no object with a `command` and its `args`");
    let raw = entry.clone();
    let entry: Entry = serde_path_to_error::deserialize(entry).map_err(|error| {
        let path = error.path().to_string();
        let wrong = format!("is wrong at `{path}`: {}", error.into_inner());
        anyhow!(one_line(&wrong, MAX_WRONG))
    })?;
    ensure!(
        entry.timeout.is_none_or(|timeout| timeout >= MIN_TIMEOUT),
        "has a `timeout` of less than {MIN_TIMEOUT} milliseconds"
    );
    let (name, timeout) = (name.to_owned(), entry.timeout.map(Duration::from_millis));
    let kind = match (&entry.kind, &entry.url) {
        (Some(kind), _) => kind,
        (None, Some(_)) => "http",
        (None, None) => "stdio",
    };
    if kind != "stdio" {
        let (config, shown) = match adaptor {
            Some(adaptor) => adaptor(&raw)?,
            None => bail!(
                "is of type {}, and only stdio is supported here; \
                 \"command\": \"mcp_client\", \"args\": [\"connect\", \"URL\"] connects it through stdio",
                one_line(kind, 20)
            ),
        };
        let config = StdioServerConfig {
            name,
            timeout,
            ..config
        };
        return Ok(Known::Server(config, Some(shown)));
    }
    let command = entry.command.as_deref();
    let command = command.filter(|command| !command.trim().is_empty());
    let (command, command_word) = expanded(command.context("has no `command`")?)?;
    let mut config = StdioServerConfig {
        name,
        command: command.into(),
        timeout,
        ..StdioServerConfig::default()
    };
    let mut shown = Vec::new();
    for (name, value) in &entry.env {
        ensure!(
            is_variable_name(name),
            "has an `env` with {}, which is no name of a variable",
            one_line(name, 40)
        );
        let (value, word) = expanded(value)?;
        config.env.insert(name.clone(), value);
        shown.push(format!("{name}={word}"));
    }
    shown.push(command_word);
    for argument in &entry.args {
        let (value, word) = expanded(argument)?;
        config.args.push(value);
        shown.push(word);
    }
    Ok(Known::Server(config, Some(shown.join(" "))))
}

fn expanded(text: &str) -> Result<(String, String)> {
    match expand(text, &variable) {
        Ok(expanded) => Ok((expanded.value, expanded.shown)),
        Err(missing) => bail!("needs the variable {missing}, which is not set or not given away"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(file: &str) -> Catalog {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join(MCP_FILE), file).unwrap();
        let docs = StdioServerConfig {
            name: "docs".into(),
            ..StdioServerConfig::default()
        };
        Catalog::read(directory.path(), &[docs], None)
    }

    #[test]
    fn a_file_names_servers_beside_the_sessions_own_and_wins() {
        let file = json!({"mcpServers": {
            "docs": {"command": "other"},
            "files": {"command": "npx", "args": ["-y", "@scope/files", "${PATH_THAT_IS_NOT_SET:-my notes}"]},
            "git": {"type": "stdio", "command": "git-mcp", "env": {"LEVEL": "a b"}, "timeout": 600_000, "more": 5},
        }});
        let catalog = read(&file.to_string());
        assert_eq!(catalog.complaints(), [""; 0]);
        let server = |name: &str| match &catalog.servers[name] {
            Known::Server(config, shown) => (config.clone(), shown.clone().unwrap()),
            Known::Unusable(why) => panic!("{why}"),
        };
        assert_eq!(server("docs").1, "other");
        let (config, shown) = server("files");
        assert_eq!(config.args, ["-y", "@scope/files", "my notes"]);
        assert_eq!(shown, "npx -y @scope/files 'my notes'");
        let (config, shown) = server("git");
        assert_eq!(config.env["LEVEL"], "a b");
        assert_eq!(config.timeout, Some(Duration::from_secs(600)));
        assert_eq!(shown, "LEVEL='a b' git-mcp");
    }

    #[test]
    fn a_broken_entry_is_named_and_the_others_stay() {
        let file = json!({"mcpServers": {
            "": {"command": "x"},
            "brief": {"command": "x", "timeout": 30},
            "good": {"command": "x"},
            "key": {"command": "x", "env": {"KEY": "${ANTHROPIC_API_KEY}"}},
            "linked": {"url": "https://example.com/mcp"},
            "names": {"command": "x", "env": {"A B": ""}},
            "not one\nline ": {"command": "x"},
            "nothing": {},
            "number": 7,
            "types": {"command": "x", "args": ["a", 7]},
            "unset": {"command": "${NOT_SET_ANYWHERE}"},
        }});
        let catalog = read(&file.to_string());
        assert_eq!(catalog.names().collect::<Vec<_>>(), ["docs", "good"]);
        let expected = "a server has no name
brief has a `timeout` of less than 1000 milliseconds
key needs the variable ANTHROPIC_API_KEY, which is not set or not given away
linked is of type http, and only stdio is supported here; \"command\": \"mcp_client\", \"args\": [\"connect\", \"URL\"] connects it through stdio
names has an `env` with A B, which is no name of a variable
not one line has a name that is not one line of at most 100 characters without spaces around it
nothing has no `command`
number is no object with a `command` and its `args`
types is wrong at `args[1]`: invalid type: integer `7`, expected a string
unset needs the variable NOT_SET_ANYWHERE, which is not set or not given away";
        let expected = expected.lines().map(|line| format!(".mcp.json: {line}"));
        assert_eq!(catalog.complaints(), expected.collect::<Vec<_>>());
    }

    #[test]
    fn a_broken_file_is_one_sentence_and_none_is_no_complaint() {
        for (file, sentence) in [
            ("{", "is no JSON"),
            ("", "is no JSON"),
            ("[]", "has no object `mcpServers`"),
            (r#"{"mcpServers": []}"#, "has no object `mcpServers`"),
        ] {
            let catalog = read(file);
            let complaints = catalog.complaints();
            assert!(complaints.len() == 1 && complaints[0].contains(sentence));
            assert_eq!(catalog.names().collect::<Vec<_>>(), ["docs"]);
        }
        let directory = tempfile::tempdir().unwrap();
        let catalog = Catalog::read(directory.path(), &[], None);
        assert!(catalog.complaints().is_empty() && catalog.servers.is_empty());
    }
}

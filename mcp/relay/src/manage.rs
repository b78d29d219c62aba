//! The five tools of the relay itself.
//!
//! Names, parameters and texts are those that users of the first relay know. Invariant: a change is in the file before it is
//! called saved, and a file that cannot be written changes nothing in the answer's truth.

use std::sync::Arc;
use std::time::Duration;

use mcp_wire::frame::code;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::backend::{Backend, Health};
use crate::config::Entry;
use crate::lifecycle::{Refusal, raw};
use crate::relay::Relay;
use crate::reload::Step;
use crate::switch::State;
use crate::{config, yaml};

/// The names of the five.
pub const NAMES: [&str; 5] = [
    "relay_get_status",
    "relay_reconnect_server",
    "relay_add_server",
    "relay_remove_server",
    "relay_list_servers",
];

/// For a connection that a tool waits for.
const CONNECT: Duration = Duration::from_secs(10);

/// The five, as `tools/list` shows them.
pub fn tools() -> Vec<Box<RawValue>> {
    let name = |what: &str| json!({ "name": { "type": "string", "description": what } });
    let both = json!({
        "name": { "type": "string", "description": "Unique name of the new server" },
        "url": { "type": "string", "description": "WebSocket URL (ws:// or wss://), or http:// or https://" },
    });
    let all = [
        ("Get detailed status of all MCP servers", json!({}), "readOnlyHint"),
        (
            "Force reconnect to a specific MCP server",
            name("Name of the server to reconnect"),
            "idempotentHint",
        ),
        ("Add a new MCP server to the relay at runtime", both, ""),
        (
            "Remove an MCP server from the relay",
            name("Name of the server to remove"),
            "destructiveHint",
        ),
        ("List all MCP servers with summary information", json!({}), "readOnlyHint"),
    ];
    NAMES
        .iter()
        .zip(all)
        .map(|(name, (description, properties, hint))| {
            let required: Vec<_> =
                properties.as_object().into_iter().flatten().map(|it| it.0.clone()).collect();
            let mut annotations = json!({ "openWorldHint": false, "destructiveHint": false });
            if !hint.is_empty() {
                annotations[hint] = true.into();
            }
            raw(json!({
                "name": name,
                "description": description,
                "inputSchema": { "type": "object", "properties": properties, "required": required },
                "annotations": annotations,
            }))
        })
        .collect()
}

/// A line of `mcp_relay check`.
pub struct Row {
    /// Server, transport, state, tools, time, what is wrong.
    pub cells: Vec<String>,
    /// Whether it is as it should not be.
    pub failed: bool,
}

/// `relay_get_status`.
#[derive(Serialize)]
struct Status {
    total_servers: usize,
    connected_servers: usize,
    servers: Vec<ServerStatus>,
}

#[derive(Serialize)]
struct ServerStatus {
    name: String,
    url: String,
    connected: bool,
    health: &'static str,
    tools: usize,
    tool_names: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// How one backend is: its health, its tools, how many are left out, and what is wrong.
fn condition(state: &State, backend: &Backend) -> (Health, Vec<String>, usize, Option<String>) {
    let (names, invalid) =
        state.routing.tools.get(backend.entry.name()).cloned().unwrap_or_default();
    let wrong = (!invalid.is_empty())
        .then(|| format!("Invalid tools: {}", kit::cut(&invalid.join("; "), 1000)));
    let error = match (&backend.error, wrong) {
        (Some(error), Some(wrong)) => Some(format!("{error}; {wrong}")),
        (error, wrong) => error.clone().or(wrong),
    };
    let error = if backend.entry.enabled {
        error
    } else {
        Some("switched off by `enabled: false`".to_owned())
    };
    (backend.health(&state.routing), names, invalid.len(), error)
}

impl Relay {
    /// Calls one of the five.
    pub(crate) async fn manage(
        self: Arc<Self>,
        tool: String,
        arguments: Value,
    ) -> Result<Value, Refusal> {
        let text = |key: &str| {
            let text = arguments[key].as_str().map(str::trim).filter(|it| !it.is_empty());
            text.map(str::to_owned).ok_or_else(|| {
                Refusal::new(
                    code::INVALID_PARAMS,
                    format!("{tool}: `{key}` is missing; it must be a string"),
                )
            })
        };
        let done = match &*tool {
            "relay_get_status" => Ok(self.status()),
            "relay_list_servers" => Ok(self.summary()),
            "relay_reconnect_server" => self.reconnect(&text("name")?).await,
            "relay_add_server" => self.add(&text("name")?, &text("url")?).await,
            _ => self.remove(&text("name")?).await,
        };
        let (failed, text) =
            done.map_or_else(|why| (true, format!("❌ {why}")), |text| (false, text));
        let mut result = json!({ "content": [{ "type": "text", "text": text }] });
        if failed {
            result["isError"] = true.into();
        }
        Ok(result)
    }

    /// All backends as a table, its head first.
    pub fn rows(&self) -> Vec<Row> {
        let head = ["SERVER", "TRANSPORT", "STATE", "TOOLS", "TIME", ""].map(str::to_owned);
        let head = Row {
            cells: head.to_vec(),
            failed: false,
        };
        let rows = self.peek(|state| {
            state
                .backends
                .iter()
                .map(|backend| {
                    let (health, tools, _, error) = condition(state, backend);
                    let enabled = backend.entry.enabled;
                    let time = backend
                        .took
                        .map_or_else(|| "-".to_owned(), |took| format!("{} ms", took.as_millis()));
                    let cells = vec![
                        backend.entry.name().to_owned(),
                        backend.entry.server.transport.to_string(),
                        if enabled { health.word() } else { "disabled" }.to_owned(),
                        tools.len().to_string(),
                        time,
                        error.unwrap_or_default(),
                    ];
                    Row {
                        cells,
                        failed: enabled && health != Health::Healthy,
                    }
                })
                .collect::<Vec<_>>()
        });
        std::iter::once(head).chain(rows).collect()
    }

    /// All there is to say, as JSON.
    pub fn status(&self) -> String {
        self.peek(|state| {
            let servers: Vec<_> = state
                .backends
                .iter()
                .map(|backend| {
                    let (health, tool_names, _, error) = condition(state, backend);
                    ServerStatus {
                        name: backend.entry.name().to_owned(),
                        url: backend.entry.url(),
                        connected: backend.connected,
                        health: health.word(),
                        tools: tool_names.len(),
                        tool_names,
                        error,
                    }
                })
                .collect();
            let status = Status {
                total_servers: servers.len(),
                connected_servers: servers.iter().filter(|it| it.connected).count(),
                servers,
            };
            serde_json::to_string_pretty(&status).expect("it is JSON")
        })
    }

    fn summary(&self) -> String {
        self.peek(|state| {
            let servers = state.backends.iter().map(|backend| {
                let (health, tools, invalid, error) = condition(state, backend);
                let stands = match health {
                    Health::Healthy => "✅ Connected",
                    Health::Degraded => "⚠️ Connected",
                    Health::Failed | Health::Unknown => "❌ Disconnected",
                };
                let mut text = format!(
                    "\n- **{}**: {stands} ({})\n  - URL: {}\n  - Valid Tools: {}\n",
                    backend.entry.name(),
                    health.word(),
                    backend.entry.url(),
                    tools.len()
                );
                if health == Health::Degraded {
                    text += &format!("  - Invalid Tools: {invalid}\n");
                }
                if let Some(error) = error {
                    text += &format!("  - Error: {error}\n");
                }
                text
            });
            let servers: String = servers.collect();
            format!("**MCP Relay - Connected Servers:**\n{servers}").trim_end().to_owned()
        })
    }

    fn entries(&self) -> Vec<Entry> {
        self.peek(|state| state.backends.iter().map(|it| it.entry.clone()).collect())
    }

    /// The entry of this name, or a sentence that has the names there are.
    fn entry(&self, name: &str) -> Result<Entry, String> {
        let entries = self.entries();
        let names: Vec<_> = entries.iter().map(Entry::name).collect();
        let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let found = entries.iter().find(|entry| entry.name() == name).cloned();
        found.ok_or_else(|| format!("Server '{}' not found. Servers: {known}", kit::one_line(name)))
    }

    /// How many tools, health and error, behind a connection that was waited for.
    async fn outcome(&self, name: &str) -> (usize, Health, Option<String>) {
        self.verdict(name, CONNECT).await;
        self.peek(|state| {
            let backend = state.backend(name).map(|backend| condition(state, backend));
            let (health, tools, _, error) =
                backend.unwrap_or((Health::Unknown, Vec::new(), 0, None));
            let late = || (health == Health::Unknown).then(|| "no answer yet".to_owned());
            (tools.len(), health, error.or_else(late))
        })
    }

    async fn reconnect(self: &Arc<Self>, name: &str) -> Result<String, String> {
        {
            let _one = self.reloading.lock().await;
            let entry = self.entry(name)?;
            if !entry.enabled {
                return Err(format!("Server '{name}' is switched off by `enabled: false`."));
            }
            self.take(vec![Step::Change(entry)], &self.entries());
        }
        let (tools, health, error) = self.outcome(name).await;
        if matches!(health, Health::Failed | Health::Unknown) {
            let error = error.unwrap_or_default();
            return Err(format!(
                "Server '{name}' could not be reconnected.\nHealth: {}\nError: {error}",
                health.word()
            ));
        }
        Ok(format!(
            "✅ Server '{name}' reconnected.\nValid Tools: {tools}\nHealth: {}",
            health.word()
        ))
    }

    async fn add(self: &Arc<Self>, name: &str, url: &str) -> Result<String, String> {
        let saved = {
            let _one = self.reloading.lock().await;
            let mut entries = self.entries();
            if entries.iter().any(|entry| entry.name() == name) {
                return Err(format!("Server '{name}' already exists."));
            }
            let entry = Entry::at(name, url)
                .map_err(|why| format!("Server '{}' not added{why}", kit::one_line(name)))?;
            let saved = self.save(|text| yaml::add(text, name, url), |kept| kept != name);
            entries.push(entry.clone());
            self.take(vec![Step::Add(entry)], &entries);
            saved
        };
        let (tools, health, error) = self.outcome(name).await;
        let first = match health {
            Health::Failed | Health::Unknown => {
                format!("⚠️ Server '{name}' added but not connected")
            }
            _ => format!("✅ Server '{name}' added and connected"),
        };
        let error = error.map(|error| format!("\nError: {error}")).unwrap_or_default();
        Ok(format!(
            "{first}\nURL: {url}\nTools discovered: {tools}\nHealth: {}{error}\n\n{saved}",
            health.word()
        ))
    }

    async fn remove(self: &Arc<Self>, name: &str) -> Result<String, String> {
        let _one = self.reloading.lock().await;
        self.entry(name)?;
        let saved = self.save(|text| yaml::remove(text, name), |kept| kept != name);
        self.take(vec![Step::Remove(name.to_owned())], &self.entries());
        Ok(format!("✅ Server '{name}' removed.\n\n{saved}"))
    }

    /// Edits the file; the last line of an answer says whether it was.
    fn save(
        &self,
        edit: impl FnOnce(&str) -> Result<String, String>,
        right: impl Fn(&str) -> bool,
    ) -> String {
        let Some(file) = &self.file else {
            return "⚠️ Configuration not saved: there is no file; start the relay with --config FILE.".to_owned();
        };
        let saved = || {
            let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
            let read = |text: &str| config::parse(text, &|name| std::env::var(name).ok());
            let old = read(&text)?;
            let edited = edit(&text)?;
            // What was edited by hand meanwhile stays, and what would not be read back is not written.
            let (mut new, mut kept) = (read(&edited)?, old);
            new.retain(|entry| right(entry.name()));
            kept.retain(|entry| right(entry.name()));
            if new != kept {
                return Err("the edit would not say what is meant; edit it by hand".to_owned());
            }
            kit::write_whole(file, edited.as_bytes()).map_err(|error| error.to_string())
        };
        match saved() {
            Ok(()) => "💾 Configuration saved.".to_owned(),
            Err(why) => format!("⚠️ Configuration not saved: {}: {why}", file.display()),
        }
    }
}

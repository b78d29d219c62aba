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
use tokio::time::Instant;

use crate::backend::{Backend, Health};
use crate::config::Entry;
use crate::lifecycle::Refusal;
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
    serde_json::from_str(include_str!("tools.json")).expect("it is a list")
}

/// `relay_get_status`.
#[derive(Serialize)]
struct Status {
    total_servers: usize,
    connected_servers: usize,
    servers: Vec<ServerStatus>,
}

/// How one backend is.
#[derive(Serialize)]
struct ServerStatus {
    name: String,
    url: String,
    connected: bool,
    health: Health,
    tools: usize,
    tool_names: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// How many tools are left out.
    #[serde(skip)]
    invalid: usize,
}

impl ServerStatus {
    fn of(state: &State, backend: &Backend) -> Self {
        let entry = &backend.entry;
        let (tool_names, invalid) =
            state.routing.tools.get(entry.name()).cloned().unwrap_or_default();
        let wrong = format!("Invalid tools: {}", kit::cut(&invalid.join("; "), 1000));
        let errors = [backend.error.clone(), Some(wrong).filter(|_| !invalid.is_empty())];
        let errors = errors.into_iter().flatten().collect::<Vec<_>>().join("; ");
        let error = if entry.enabled { &errors } else { "switched off by `enabled: false`" };
        Self {
            name: entry.name().to_owned(),
            url: entry.url(),
            connected: backend.connected,
            health: backend.health(invalid.len()),
            tools: tool_names.len(),
            tool_names,
            error: Some(error.to_owned()).filter(|error| !error.is_empty()),
            invalid: invalid.len(),
        }
    }

    /// A part of `relay_list_servers`.
    fn paragraph(&self) -> String {
        let Self {
            name,
            url,
            health,
            tools,
            invalid,
            ..
        } = self;
        let stands = match health {
            Health::Healthy => "✅ Connected",
            Health::Degraded => "⚠️ Connected",
            Health::Failed | Health::Unknown => "❌ Disconnected",
        };
        let mut text = format!(
            "\n\n- **{name}**: {stands} ({health})\n  - URL: {url}\n  - Valid Tools: {tools}"
        );
        if *health == Health::Degraded {
            text += &format!("\n  - Invalid Tools: {invalid}");
        }
        text + &self.line_of_error("\n  - Error: ")
    }

    fn line_of_error(&self, before: &str) -> String {
        self.error.as_ref().map(|error| format!("{before}{error}")).unwrap_or_default()
    }

    /// Whether it can be called.
    fn works(&self) -> bool {
        matches!(self.health, Health::Healthy | Health::Degraded)
    }
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

    fn servers(&self) -> Vec<ServerStatus> {
        self.peek(|state| state.backends.iter().map(|it| ServerStatus::of(state, it)).collect())
    }

    /// All backends as a table (server, transport, state, tools, time, what is wrong), and whether one is not as it should be.
    pub fn check(&self) -> (Vec<Vec<String>>, bool) {
        let mut rows =
            vec![["SERVER", "TRANSPORT", "STATE", "TOOLS", "TIME", ""].map(str::to_owned).to_vec()];
        let mut failed = false;
        self.peek(|state| {
            for backend in &state.backends {
                let entry = &backend.entry;
                let is = ServerStatus::of(state, backend);
                failed |= entry.enabled && is.health != Health::Healthy;
                let took = backend.took.map(|took| format!("{} ms", took.as_millis()));
                rows.push(vec![
                    is.name,
                    entry.server.transport.to_string(),
                    if entry.enabled { is.health.to_string() } else { "disabled".to_owned() },
                    is.tools.to_string(),
                    took.unwrap_or_else(|| "-".to_owned()),
                    is.error.unwrap_or_default(),
                ]);
            }
        });
        (rows, failed)
    }

    /// All there is to say, as JSON.
    pub fn status(&self) -> String {
        let servers = self.servers();
        let status = Status {
            total_servers: servers.len(),
            connected_servers: servers.iter().filter(|it| it.connected).count(),
            servers,
        };
        serde_json::to_string_pretty(&status).expect("it is JSON")
    }

    fn summary(&self) -> String {
        let servers: String = self.servers().iter().map(ServerStatus::paragraph).collect();
        format!("**MCP Relay - Connected Servers:**{servers}")
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

    /// How it is, behind a connection that was waited for.
    async fn outcome(&self, name: &str) -> Result<ServerStatus, String> {
        let known = |state: &State| !state.backend(name).is_some_and(Backend::settles);
        self.until(Instant::now() + CONNECT, known).await;
        let is = self.servers().into_iter().find(|it| it.name == name);
        let mut is = is.ok_or_else(|| format!("Server '{name}' was removed meanwhile."))?;
        if is.health == Health::Unknown {
            is.error.get_or_insert_with(|| "no answer yet".to_owned());
        }
        Ok(is)
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
        let is = self.outcome(name).await?;
        let (health, tools) = (is.health, is.tools);
        if is.works() {
            Ok(format!("✅ Server '{name}' reconnected.\nValid Tools: {tools}\nHealth: {health}"))
        } else {
            let error = is.line_of_error("\nError: ");
            Err(format!("Server '{name}' could not be reconnected.\nHealth: {health}{error}"))
        }
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
        let is = self.outcome(name).await?;
        let (sign, but) = if is.works() { ("✅", "and") } else { ("⚠️", "but not") };
        let (health, tools, error) = (is.health, is.tools, is.line_of_error("\nError: "));
        Ok(format!(
            "{sign} Server '{name}' added {but} connected\nURL: {url}\nTools discovered: {tools}\nHealth: {health}{error}\n\n{saved}"
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

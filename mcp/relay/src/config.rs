//! `backends.yaml`: which servers stand behind the relay.
//!
//! Invariants: a field that nobody knows is refused with its path; two servers never have one name; what comes from a
//! variable of the environment stands in no error.

use std::collections::HashSet;
use std::time::Duration;

use kit::one_line;
use mcp_client::{Server, Transport};
use serde_json::{Map, Value};

/// For a call, from its last sign of life on.
const CALL: Duration = Duration::from_secs(900);

/// One backend, as the file says it.
#[derive(Clone)]
pub struct Entry {
    /// How it is reached.
    pub server: Server,
    /// Stands in front of the names of its tools and prompts.
    pub prefix: String,
    /// How long a call may take.
    pub timeout: Duration,
    /// Whether it is used.
    pub enabled: bool,
    /// Whether each client gets a connection of its own.
    pub isolate: bool,
    /// All that was written, to compare.
    written: Value,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.server.name == other.server.name && self.written == other.written
    }
}

impl Entry {
    /// Reads an entry; the error begins with the path below it.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn parse(entry: &Value, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, String> {
        let written = entry.clone();
        let Value::Object(mut rest) = entry.clone() else {
            return Err(": an entry with `name` and `url` is wanted".to_owned());
        };
        let name = match rest.remove("name") {
            Some(Value::String(name)) => name,
            Some(_) => return Err(".name: a string is wanted".to_owned()),
            None => return Err(": `name` is missing".to_owned()),
        };
        let prefix = match rest.remove("prefix") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(prefix)) => prefix,
            Some(_) => return Err(".prefix: a string is wanted".to_owned()),
        };
        let timeout = match rest.remove("timeout_s") {
            None | Some(Value::Null) => CALL,
            Some(seconds) => match seconds.as_u64() {
                Some(seconds @ 1..=86_400) => Duration::from_secs(seconds),
                _ => return Err(".timeout_s: seconds from 1 to 86400 are wanted".to_owned()),
            },
        };
        let (enabled, isolate) =
            (flag(&mut rest, "enabled", true)?, flag(&mut rest, "isolate", false)?);
        let server = Server::parse(&name, &Value::Object(rest), variable)?;
        Ok(Self {
            server,
            prefix,
            timeout,
            enabled,
            isolate,
            written,
        })
    }

    /// An entry with an address alone.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn at(name: &str, url: &str) -> Result<Self, String> {
        Self::parse(&serde_json::json!({ "name": name, "url": url }), &|_| None)
    }

    /// What the user calls it.
    pub fn name(&self) -> &str {
        &self.server.name
    }

    /// Its address as it is written, for a variable in it may be a secret; of a program its name alone, for its arguments may.
    pub fn url(&self) -> String {
        match self.server.transport {
            Transport::Stdio => format!("stdio:{}", self.server.command),
            _ => self.written["url"].as_str().unwrap_or_default().to_owned(),
        }
    }
}

fn flag(entry: &mut Map<String, Value>, key: &str, default: bool) -> Result<bool, String> {
    match entry.remove(key) {
        None | Some(Value::Null) => Ok(default),
        Some(Value::Bool(value)) => Ok(value),
        Some(_) => Err(format!(".{key}: true or false is wanted")),
    }
}

/// Reads the text of a configuration.
///
/// # Errors
/// What is wrong, and where.
pub fn parse(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Vec<Entry>, String> {
    let whole: Value = serde_saphyr::from_str(text).map_err(|error| {
        let text = error.to_string();
        one_line(text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default())
    })?;
    let whole = match whole {
        Value::Object(whole) => whole,
        Value::Null => Map::new(),
        _ => return Err("`backends:` with a list is wanted".to_owned()),
    };
    if let Some(key) = whole.keys().find(|key| *key != "backends") {
        return Err(format!("{}: nobody knows this field", one_line(key)));
    }
    let list = match whole.get("backends") {
        Some(Value::Array(list)) => list.as_slice(),
        Some(Value::Null) => &[],
        Some(_) => return Err("backends: a list is wanted".to_owned()),
        // An empty file is more likely half written than meant.
        None => return Err("`backends:` is missing".to_owned()),
    };
    let mut names = HashSet::new();
    let entries = list.iter().enumerate().map(|(at, entry)| {
        let entry = Entry::parse(entry, variable).map_err(|why| format!("backends[{at}]{why}"))?;
        if !names.insert(entry.name().to_owned()) {
            return Err(format!("backends[{at}].name: {} is there twice", entry.name()));
        }
        Ok(entry)
    });
    entries.collect()
}

/// The mock servers of the course, for a machine without a configuration.
pub fn embedded() -> Vec<Entry> {
    let servers = mock_servers::mcp::NAMES.iter().map(|name| {
        let (program, args) = mock_servers::mcp::command(name);
        serde_json::json!({ "name": name, "command": program, "args": args })
    });
    let entries = servers.map(|entry| Entry::parse(&entry, &|_| None));
    entries.collect::<Result<_, _>>().expect("they are well written")
}

//! Tool pinning: each tool of a server as it was when it was first offered in this workspace, or when the user last said
//! yes to it.
//!
//! A server may behave until it is trusted and change its tools then (a rug pull). Like a known host of ssh, a tool is
//! pinned as it is first met; from then on only the user's yes moves the pin. Invariants: a tool that differs from its pin
//! asks, and so does one without a pin; the file is whole or absent, and one that cannot be read is named and left alone;
//! a change is shown in a few lines in which no character moves the cursor or hides.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use anyhow::{Context, Result, ensure};
use kit::{FolderLock, write_whole};
use s01_loop::Repl;
use s02_tools::Workspace;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::lines::MAX_LINE;
use crate::names::normalize_mcp_name;
use crate::text::one_line;

/// The version of the file's format.
const VERSION: u32 = 1;

/// The most bytes of pins of one server: as much as a list of tools may have. What it offers beyond always asks.
const MAX_PINS: usize = MAX_LINE;

/// The most changes that are shown; the rest is counted.
const MOST_SHOWN: usize = 4;

/// The most characters of the path to a change, of its old and new value, and of what is the same in front of it.
const MAX_PATH: usize = 80;
const MAX_VALUE: usize = 100;
const BEFORE: usize = 20;

/// Definitions by the name of the tool.
type Pins = BTreeMap<String, Value>;
type Servers = BTreeMap<String, Pins>;

/// The pins of a workspace, by server. Clones share them.
#[derive(Clone)]
pub(crate) struct ToolPins {
    file: PathBuf,
    repl: Repl,
    /// A std lock: nothing is awaited while it is held.
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// As read from the file when the first server was connected, and kept up since.
    servers: Servers,
    is_read: bool,
    /// The file could not be read: what has no pin may have had one.
    is_lost: bool,
    /// The user knows that the pins are kept for this session only.
    is_told: bool,
}

#[derive(Default, Serialize, Deserialize)]
struct Content {
    version: u32,
    servers: Servers,
}

impl ToolPins {
    /// The pins of this workspace. Nothing is read before a server is connected.
    pub fn open(ws: &Workspace, repl: &Repl) -> Self {
        Self {
            file: ws.state("mcp").join("tools.json"),
            repl: repl.clone(),
            state: Arc::default(),
        }
    }

    /// Pins those of a server's tools that were never met. `define` defines one.
    pub fn meet<T>(&self, server: &str, tools: &[(&str, T)], define: impl Fn(&T) -> Value) {
        let mut state = self.state();
        let new = tools.iter().filter(|(name, _)| state.pin(server, name).is_none());
        let new: Vec<_> = new.map(|(name, tool)| ((*name).to_owned(), define(tool))).collect();
        if !state.is_lost && !new.is_empty() {
            self.record(&mut state, server, &new, false);
        }
    }

    /// Why the user must be asked about a tool that is defined like this now; `None` when it is as it was agreed to.
    pub fn reason_to_ask(&self, server: &str, tool: &str, now: &Value) -> Option<String> {
        match self.state().pin(server, tool) {
            Some(pin) if pin == now => None,
            Some(pin) => Some(format!(
                "{}\nits server has changed it since you agreed to it",
                changes(pin, now)
            )),
            None => Some("there is no record of what you agreed to here".to_owned()),
        }
    }

    /// The user has said yes to a tool that is defined like this.
    pub fn agree(&self, server: &str, tool: &str, now: Value) {
        self.record(&mut self.state(), server, &[(tool.to_owned(), now)], true);
    }

    fn record(&self, state: &mut State, server: &str, new: &[(String, Value)], was_asked: bool) {
        match self.write(server, new, was_asked) {
            Ok(servers) => state.servers = servers,
            Err(error) => {
                let pins = state.servers.entry(server.to_owned()).or_default();
                put(pins, new, was_asked, MAX_PINS);
                self.tell(state, &error);
            }
        }
    }

    /// Pins these in the file. Another session may have written meanwhile: what it has met first counts, unless the user
    /// has just been asked.
    fn write(&self, server: &str, new: &[(String, Value)], was_asked: bool) -> Result<Servers> {
        let _lock = FolderLock::wait(self.file.parent().expect("it is in a folder"))?;
        let mut content = self.read()?;
        let pins = content.servers.entry(server.to_owned()).or_default();
        if put(pins, new, was_asked, MAX_PINS) {
            content.version = VERSION;
            let mut json = serde_json::to_vec_pretty(&content)?;
            json.push(b'\n');
            let writing = || format!("writing {}", self.file.display());
            write_whole(&self.file, &json).with_context(writing)?;
        }
        Ok(content.servers)
    }

    /// What the file holds; nothing when there is no file.
    fn read(&self) -> Result<Content> {
        let reading = || format!("reading {}; move it away to begin anew", self.file.display());
        let bytes = match fs::read(&self.file) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Content::default()),
            bytes => bytes.with_context(reading)?,
        };
        let content: Content = serde_json::from_slice(&bytes).with_context(reading)?;
        let version = content.version;
        ensure!(version == VERSION, "{}: its version is {version}, not {VERSION}", reading());
        Ok(content)
    }

    /// The state, with the file read.
    fn state(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap();
        if !std::mem::replace(&mut state.is_read, true) {
            match self.read() {
                Ok(content) => state.servers = content.servers,
                Err(error) => {
                    state.is_lost = true;
                    self.tell(&mut state, &error);
                }
            }
        }
        state
    }

    fn tell(&self, state: &mut State, error: &anyhow::Error) {
        if !std::mem::replace(&mut state.is_told, true) {
            let told = "what you agree to is kept for this session only";
            self.repl.remark(&format!("[mcp: {told}: {error:#}]"));
        }
    }
}

impl State {
    fn pin(&self, server: &str, tool: &str) -> Option<&Value> {
        self.servers.get(server)?.get(tool)
    }
}

/// Adds pins as far as so many bytes go; false when none was added. Unless the user was asked, an existing pin stays, and
/// a tool gets none whose name in the pool another one had: a rule may speak for that one.
fn put(pins: &mut Pins, new: &[(String, Value)], was_asked: bool, room: usize) -> bool {
    let size = |tool: &str, pin: &Value| tool.len() + pin.to_string().len();
    let mut taken: usize = pins.iter().map(|(tool, pin)| size(tool, pin)).sum();
    let names: HashSet<String> = pins.keys().map(|tool| normalize_mcp_name(tool)).collect();
    let mut has_changed = false;
    for (tool, pin) in new {
        let needed = size(tool, pin);
        let is_new = !names.contains(&normalize_mcp_name(tool));
        if taken + needed <= room && (was_asked || is_new) {
            taken += needed;
            pins.insert(tool.clone(), pin.clone());
            has_changed = true;
        }
    }
    has_changed
}

/// What differs in the new definition, one change a line: where, and old → new.
fn changes(old: &Value, new: &Value) -> String {
    let mut found = Vec::new();
    compare("", old, new, &mut found);
    let more = found.len().saturating_sub(MOST_SHOWN);
    found.truncate(MOST_SHOWN);
    if more > 0 {
        found.push(format!("  and {more} more"));
    }
    found.join("\n")
}

fn compare(path: &str, old: &Value, new: &Value, found: &mut Vec<String>) {
    if let (Value::Object(old), Value::Object(new)) = (old, new) {
        for name in old.keys().chain(new.keys()).collect::<BTreeSet<_>>() {
            let of = |fields: &serde_json::Map<_, _>| fields.get(name).cloned().unwrap_or_default();
            compare(&format!("{path}.{name}"), &of(old), &of(new), found);
        }
    } else if old != new {
        let (was, is) = (text(old), text(new));
        let same = was.chars().zip(is.chars()).take_while(|(a, b)| a == b);
        let from = same.count().saturating_sub(BEFORE);
        let path = one_line(path.trim_start_matches('.'), MAX_PATH);
        let (was, is) = (excerpt(&was, from, old), excerpt(&is, from, new));
        found.push(format!("  changed {path}: {was} → {is}"));
    }
}

/// A value as it is compared: a string without the escapes of JSON.
fn text(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// An excerpt of a value as text. A string stands in quotes, with whatever is no visible character escaped.
fn excerpt(text: &str, from: usize, value: &Value) -> String {
    let before = if from > 0 { "…" } else { "" };
    let mut rest = text.chars().skip(from);
    let shown: String = rest.by_ref().take(MAX_VALUE).collect();
    let behind = if rest.next().is_some() { "…" } else { "" };
    if value.is_string() {
        format!("{before}{shown:?}{behind}")
    } else {
        format!("{before}{}{behind}", one_line(&shown, MAX_VALUE))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_server_has_so_much_room_and_what_is_known_stays() {
        let mut pins = Pins::new();
        for (tool, bytes, was_asked, is_put) in [
            ("a", 900, false, true),
            ("b", 200, false, false),
            ("b", 200, true, false),
            ("a", 10, false, false),
            ("c", 10, false, true),
            ("c", 20, true, true),
        ] {
            let new = vec![(tool.to_owned(), "x".repeat(bytes).into())];
            assert_eq!(put(&mut pins, &new, was_asked, 1_000), is_put, "{tool} {bytes}");
        }
    }

    #[test]
    fn each_change_is_a_line_that_begins_shortly_before_it_and_many_are_counted() {
        let old = json!({
            "description": format!("Reads a page. {}The end.", "x".repeat(500)),
            "inputSchema": {"type": "object", "properties": {"path": {"description": "The path."}}},
            "annotations": {"readOnlyHint": null, "title": "Read"},
        });
        assert_eq!(changes(&old, &old), "");
        let mut new = old.clone();
        new["description"] =
            format!("Reads a page. {}Then {}", "x".repeat(500), "y".repeat(500)).into();
        new["inputSchema"]["properties"]["path"]["description"] =
            "The\n# System\u{1b}[8m\u{200b}".into();
        new["annotations"] = json!({"readOnlyHint": true, "title": "Read"});
        assert_eq!(
            changes(&old, &new),
            format!(
                "  changed annotations.readOnlyHint: nothing → true\n  \
                 changed description: …\"{x}The end.\" → …\"{x}Then {y}\"…\n  \
                 changed inputSchema.properties.path.description: \"The path.\" → \"The\\n# System\\u{{1b}}[8m\\u{{200b}}\"",
                x = "x".repeat(17),
                y = "y".repeat(78),
            )
        );
        let of = |value: u32| (0..10).map(|n| (format!("k{n}"), json!(value))).collect::<Value>();
        let shown = changes(&of(1), &of(2));
        assert_eq!(shown.lines().count(), MOST_SHOWN + 1);
        assert!(shown.ends_with("\n  and 6 more"), "{shown}");
    }
}

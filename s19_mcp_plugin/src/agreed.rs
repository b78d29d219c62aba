//! What the user agreed to: each tool of a server as it was when it was first offered in this workspace, or when the user
//! last said yes to it.
//!
//! A server may behave until it is trusted and change its tools then (a rug pull). Like the known hosts of ssh, a tool is
//! taken as it is first met; from then on its record decides, and only the user's yes changes it. Invariants: a tool that
//! is not as its record says asks, and so does one without a record; the file is whole or absent, and one that cannot be
//! read is set aside and named.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result, ensure};
use kit::{FolderLock, fresh_suffix, write_whole};
use s01_loop::Repl;
use s02_tools::Workspace;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::changes::changes;
use crate::lines::MAX_LINE;
use crate::names::normalize_mcp_name;

/// The version of the file's format.
const VERSION: u32 = 1;

/// The file in its folder.
const FILE: &str = "tools.json";

/// The most bytes of records of one server: as much as a list of tools may have. What it offers beyond always asks.
const MAX_RECORDS: usize = MAX_LINE;

/// What was agreed to, by server and tool.
type Records = BTreeMap<String, BTreeMap<String, Value>>;

/// The records of a workspace. Clones share them.
#[derive(Clone)]
pub(crate) struct Agreed {
    folder: PathBuf,
    repl: Repl,
    /// A std lock: nothing is awaited while it is held.
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// As read from the file when the first server was connected, and kept up since.
    records: Option<Records>,
    /// The file could not be read: what is not recorded may have been.
    is_lost: bool,
    /// It has been told that the file cannot be written.
    is_told: bool,
}

#[derive(Serialize, Deserialize)]
struct Content {
    version: u32,
    servers: Records,
}

impl Agreed {
    /// The records of this workspace. Nothing is read before a server is connected.
    pub fn open(ws: &Workspace, repl: &Repl) -> Self {
        Self {
            folder: ws.state("mcp"),
            repl: repl.clone(),
            state: Arc::default(),
        }
    }

    /// Records those of a server's tools that were never met, each as its definition says.
    pub fn meet<'a>(&self, server: &str, tools: impl Iterator<Item = (&'a str, Value)>) {
        let mut state = self.state.lock().unwrap();
        let state = self.read(&mut state);
        if !state.is_lost {
            let tools = tools.map(|(name, now)| (name.to_owned(), now));
            self.record(state, server, tools.collect(), false);
        }
    }

    /// Whether there is a record of this tool.
    pub fn knows(&self, server: &str, tool: &str) -> bool {
        let mut state = self.state.lock().unwrap();
        self.read(&mut state).record(server, tool).is_some()
    }

    /// Why the user must be asked about a tool that is defined like this now; `None` when it is as it was agreed to.
    pub fn reason_to_ask(&self, server: &str, tool: &str, now: &Value) -> Option<String> {
        let mut state = self.state.lock().unwrap();
        match self.read(&mut state).record(server, tool) {
            Some(agreed) if agreed == now => None,
            Some(agreed) => Some(format!(
                "{}\nits server has changed it since you agreed to it",
                changes(agreed, now)
            )),
            None => Some("there is no record of what you agreed to here".to_owned()),
        }
    }

    /// The user has said yes to a tool that is defined like this.
    pub fn agree(&self, server: &str, tool: &str, now: Value) {
        let mut state = self.state.lock().unwrap();
        let state = self.read(&mut state);
        self.record(state, server, vec![(tool.to_owned(), now)], true);
    }

    /// Records these, in memory and in the file. Another session may have written meanwhile: what it has met first counts,
    /// unless the user has just been asked.
    fn record(
        &self,
        state: &mut State,
        server: &str,
        tools: Vec<(String, Value)>,
        was_asked: bool,
    ) {
        if tools.is_empty() {
            return;
        }
        let lock = FolderLock::wait(&self.folder);
        let in_file = self
            .content()
            .or_else(|error| self.set_aside(&error).map(|()| None));
        let (mut records, readable) = match in_file {
            Ok(Some(content)) => (content.servers, Ok(())),
            Ok(None) => (state.records.take().unwrap_or_default(), Ok(())),
            Err(error) => (state.records.take().unwrap_or_default(), Err(error)),
        };
        let of_server = records.entry(server.to_owned()).or_default();
        let has_changed = put(of_server, tools, was_asked, MAX_RECORDS);
        let kept = readable.and(lock).and_then(|_lock| match has_changed {
            true => self.write(&records),
            false => Ok(()),
        });
        state.records = Some(records);
        if let Err(error) = kept
            && !std::mem::replace(&mut state.is_told, true)
        {
            self.repl.remark(&format!(
                "[mcp: what you agree to is kept for this session only: {error:#}]"
            ));
        }
    }

    /// Reads the file, once.
    fn read<'a>(&self, state: &'a mut State) -> &'a mut State {
        if state.records.is_none() {
            let content = self.content().or_else(|error| {
                state.is_lost = true;
                let _lock = FolderLock::wait(&self.folder)?;
                self.set_aside(&error)?;
                anyhow::Ok(None)
            });
            let content = content.unwrap_or_else(|error| {
                self.repl.remark(&format!("[mcp: {error:#}]"));
                None
            });
            state.records = Some(content.map_or_else(Records::new, |content| content.servers));
        }
        state
    }

    /// What the file holds; nothing when there is none.
    fn content(&self) -> Result<Option<Content>> {
        let bytes = match fs::read(self.folder.join(FILE)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let content: Content = serde_json::from_slice(&bytes)?;
        let version = content.version;
        ensure!(
            version == VERSION,
            "its version is {version}, not {VERSION}"
        );
        Ok(Some(content))
    }

    fn write(&self, servers: &Records) -> Result<()> {
        let content = Content {
            version: VERSION,
            servers: servers.clone(),
        };
        let mut json = serde_json::to_vec_pretty(&content)?;
        json.push(b'\n');
        write_whole(&self.folder.join(FILE), &json).with_context(|| format!("writing {FILE}"))
    }

    /// The file is kept under another name, and the user is told.
    fn set_aside(&self, error: &anyhow::Error) -> Result<()> {
        let name = format!("{FILE}.damaged-{}", fresh_suffix());
        let path = self.folder.join(FILE);
        fs::rename(path, self.folder.join(&name))
            .with_context(|| format!("{FILE} cannot be read ({error}), nor set aside"))?;
        self.repl.remark(&format!(
            "[mcp: what you agreed to cannot be read ({error}); it was kept as {name}, and each tool asks once]"
        ));
        Ok(())
    }
}

impl State {
    fn record(&self, server: &str, tool: &str) -> Option<&Value> {
        self.records.as_ref()?.get(server)?.get(tool)
    }
}

/// Puts records among those of a server, as far as so many bytes go; false when none was put. Unless the user was asked, one
/// that is there stays, and a new one under whose name in the pool another was known is none: a rule may speak for that one.
fn put(
    records: &mut BTreeMap<String, Value>,
    tools: Vec<(String, Value)>,
    was_asked: bool,
    room: usize,
) -> bool {
    let size = |tool: &str, record: &Value| tool.len() + record.to_string().len();
    let mut taken: usize = records
        .iter()
        .map(|(tool, record)| size(tool, record))
        .sum();
    let names: HashSet<String> = records
        .keys()
        .map(|tool| normalize_mcp_name(tool))
        .collect();
    let mut has_changed = false;
    for (tool, now) in tools {
        let needed = size(&tool, &now);
        let is_new = !names.contains(&normalize_mcp_name(&tool));
        if taken + needed <= room && (was_asked || is_new) {
            taken += needed;
            records.insert(tool, now);
            has_changed = true;
        }
    }
    has_changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_so_much_room_and_what_is_known_stays() {
        let mut records = BTreeMap::new();
        let mut put = |tool: &str, bytes: usize, was_asked| {
            let tools = vec![(tool.to_owned(), "x".repeat(bytes).into())];
            put(&mut records, tools, was_asked, 1_000)
        };
        assert!(put("a", 900, false));
        assert!(
            !put("b", 200, false) && !put("b", 200, true),
            "there is no room"
        );
        assert!(!put("a", 10, false), "it is known");
        assert!(put("c", 10, false));
        assert!(put("c", 20, true), "the user was asked");
    }
}

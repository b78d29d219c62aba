//! The files of saved conversations: one JSON file a session.
//!
//! Each message has its JSON already, which stands in its line. Invariants: a file is whole or absent; a
//! damaged one is moved aside and named, never overwritten and never taken for an empty conversation; one of a newer
//! program is left alone.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use kit::{is_safe_name, make_state_folder, write_whole};
use s01_loop::{Message, Repl, Usage};
use s02_tools::Workspace;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::hold::Hold;

/// The version of the format that this program writes.
const VERSION: u32 = 1;
const DAMAGED: &str = "damaged";

/// The head of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) version: u32,
    pub(crate) id: String,
    pub(crate) started: Timestamp,
    pub(crate) saved: Timestamp,
    /// What the user asked for first.
    pub(crate) request: String,
    /// What it has cost.
    #[serde(default)]
    pub(crate) usage: Usage,
    /// Mail that stands in it and may still lie in the mailbox of the lead, by id.
    #[serde(default)]
    pub(crate) mail: Vec<String>,
    /// The runs of the program whose mail is for it.
    #[serde(default)]
    pub(crate) runs: Vec<String>,
}

impl Head {
    /// Of a conversation that begins now.
    pub(crate) fn new(id: String, request: String) -> Self {
        let now = Timestamp::now();
        Self {
            version: VERSION,
            id,
            started: now,
            saved: now,
            request,
            usage: Usage::default(),
            mail: Vec::new(),
            runs: Vec::new(),
        }
    }
}

/// A conversation as it is kept.
#[derive(Serialize, Deserialize)]
pub(crate) struct Saved<Messages> {
    #[serde(flatten)]
    pub(crate) head: Head,
    pub(crate) messages: Messages,
}

/// A conversation in a list: its messages are only counted.
pub(crate) type Listed = Saved<Vec<IgnoredAny>>;

/// What every version of the format has.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

/// The folder of the sessions.
#[derive(Clone)]
pub(crate) struct Folder {
    path: PathBuf,
    repl: Repl,
}

impl Folder {
    pub(crate) fn new(ws: &Workspace, repl: &Repl) -> Self {
        Self {
            path: ws.state("sessions"),
            repl: repl.clone(),
        }
    }

    /// Takes the hold on a session, unless another process has it.
    pub(crate) fn hold(&self, id: &str) -> Result<Option<Hold>> {
        make_state_folder(&self.path)
            .with_context(|| format!("creating {}", self.path.display()))?;
        Hold::take(self.path.join(format!("{id}.lock")))
    }

    /// Writes a conversation. Only who holds the session may.
    pub(crate) fn write(&self, saved: &Saved<&[Message]>) -> Result<()> {
        let mut json = serde_json::to_vec_pretty(saved).context("a session is JSON")?;
        json.push(b'\n');
        write_whole(&self.file(&saved.head.id), &json)
    }

    /// The conversation of this id.
    ///
    /// # Errors
    /// When there is none, or its file cannot be read.
    pub(crate) fn read(&self, id: &str) -> Result<Saved<Vec<Message>>> {
        let bytes = fs::read(self.file(id)).with_context(|| format!("reading the session {id}"))?;
        let saved = listed(&bytes, id).and_then(|_| {
            serde_json::from_slice(&bytes).map_err(|error| Damage::Broken(error.to_string()))
        });
        saved.or_else(|damage| bail!(self.refused(id, damage)))
    }

    /// All conversations, the newest first. A file that is none is named and set aside.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub(crate) fn list(&self) -> Result<Vec<Listed>> {
        let reading = || format!("reading {}", self.path.display());
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error).with_context(reading),
        };
        let mut found = Vec::new();
        for entry in entries {
            let name = entry.with_context(reading)?.file_name();
            let id = name.to_str().and_then(|name| name.strip_suffix(".json"));
            let Some(id) = id.filter(|id| is_safe_name(id, 64)) else {
                continue;
            };
            // Somebody may have taken it away since the folder was read.
            let Ok(bytes) = fs::read(self.file(id)) else {
                continue;
            };
            match listed(&bytes, id) {
                Ok(listed) => found.push(listed),
                Err(damage) => self.repl.remark(&format!("[{}]", self.refused(id, damage))),
            }
        }
        found.sort_by(|a, b| (b.head.saved, &b.head.id).cmp(&(a.head.saved, &a.head.id)));
        Ok(found)
    }

    fn file(&self, id: &str) -> PathBuf {
        self.path.join(format!("{id}.json"))
    }

    /// The error for a file that cannot be used. A damaged one is moved away.
    fn refused(&self, id: &str, damage: Damage) -> String {
        let why = match damage {
            Damage::Newer(version) => {
                return format!(
                    "the session {id} was saved by a newer program (format {version}); it was left alone"
                );
            }
            Damage::Broken(why) => why,
        };
        let (file, aside) = (self.file(id), self.path.join(DAMAGED));
        let shown = format!("sessions/{id}.json");
        let place = free_name(&aside, id);
        match make_state_folder(&aside).and_then(|()| fs::rename(file, &place)) {
            Ok(()) => {
                let name = place.file_name().unwrap_or_default();
                format!(
                    "{shown} is damaged ({why}); it was moved to sessions/{DAMAGED}/{}",
                    name.display()
                )
            }
            Err(_) => format!("{shown} is damaged ({why}) and cannot be moved away"),
        }
    }
}

/// Why a file cannot be used.
enum Damage {
    /// A newer program wrote it, in this version of the format.
    Newer(u32),
    /// It cannot be parsed, or is not the session that its name says.
    Broken(String),
}

/// Parses the file of this session, without its messages.
fn listed(bytes: &[u8], id: &str) -> Result<Listed, Damage> {
    let broken = |error: serde_json::Error| Damage::Broken(error.to_string());
    let Versioned { version } = serde_json::from_slice(bytes).map_err(broken)?;
    if version > VERSION {
        return Err(Damage::Newer(version));
    }
    let listed: Listed = serde_json::from_slice(bytes).map_err(broken)?;
    let said = &listed.head.id;
    if said != id {
        return Err(Damage::Broken(format!("it says its id is {said:?}")));
    }
    Ok(listed)
}

/// A name in the folder that no file has.
fn free_name(folder: &Path, id: &str) -> PathBuf {
    let names = (1..).map(|number| match number {
        1 => format!("{id}.json"),
        number => format!("{id}-{number}.json"),
    });
    let mut paths = names.map(|name| folder.join(name));
    paths.find(|path| !path.exists()).expect("numbers do not end")
}

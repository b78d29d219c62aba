//! What is remembered of tools from run to run: how each looked when it was first seen, and which a person trusts.
//!
//! A server whose tools were harmless yesterday may list others today under the same names. Invariants: the file is read and
//! written as a whole, under a lock, for its owner alone; when it cannot be, no tool passes.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result};
use kit::FolderLock;
use serde::{Deserialize, Serialize};

use crate::backends::Listed;

/// A folder with the memory of the proxy.
#[derive(Clone)]
pub struct Store {
    folder: PathBuf,
}

/// A tool that was seen, by `SERVER:TOOL`.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
struct Seen {
    sha256: String,
    /// A person has looked at it as it stands.
    #[serde(default)]
    trusted: bool,
}

type Memory = BTreeMap<String, Seen>;

impl Store {
    /// The memory in this folder, which need not exist yet.
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    /// A file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// When the memory was written last.
    pub fn stamp(&self) -> Option<SystemTime> {
        fs::metadata(self.path("tools.json")).ok()?.modified().ok()
    }

    /// Why each of these tools is held back, if it is: it has changed, or there is a suspicion that no person has dispelled.
    /// One that is new is remembered.
    ///
    /// # Errors
    /// When the memory cannot be read or written.
    pub fn judge(&self, tools: &[(&Listed, Option<String>)]) -> Result<Vec<Option<String>>> {
        self.change(|memory| {
            let judged = tools.iter().map(|(listed, suspicion)| {
                let new = || Seen {
                    sha256: listed.fingerprint.clone(),
                    trusted: false,
                };
                let seen = memory.entry(listed.tool.key()).or_insert_with(new);
                if seen.sha256 == listed.fingerprint {
                    suspicion.clone().filter(|_| !seen.trusted)
                } else {
                    Some("it has changed since it was first seen".to_owned())
                }
            });
            judged.collect()
        })
    }

    /// Remembers that a person trusts a tool as it stands.
    ///
    /// # Errors
    /// When the memory cannot be read or written.
    pub fn trust(&self, listed: &Listed) -> Result<()> {
        let seen = Seen {
            sha256: listed.fingerprint.clone(),
            trusted: true,
        };
        self.change(|memory| _ = memory.insert(listed.tool.key(), seen))
    }

    fn read(&self) -> Result<Memory> {
        match fs::read(self.path("tools.json")) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Memory::new()),
            // An empty file is one that was created, and not yet written when the power went.
            Ok(bytes) if bytes.is_empty() => Ok(Memory::new()),
            bytes => Ok(serde_json::from_slice(&bytes?)?),
        }
    }

    fn change<T>(&self, work: impl FnOnce(&mut Memory) -> T) -> Result<T> {
        let path = self.path("tools.json");
        let changed = || {
            DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
            let _lock = FolderLock::wait(&self.folder)?;
            let old = self.read()?;
            let mut memory = old.clone();
            let outcome = work(&mut memory);
            if memory != old {
                // The replacement keeps the permissions of what it replaces.
                OpenOptions::new().create(true).append(true).mode(0o600).open(&path)?;
                kit::write_whole(&path, &serde_json::to_vec_pretty(&memory)?)?;
            }
            Ok(outcome)
        };
        let changed: Result<T> = changed();
        changed.with_context(|| {
            format!(
                "the memory of tools in {} cannot be used; repair it or move it away",
                path.display()
            )
        })
    }
}

//! Who may ask: a token says whose tools it opens.
//!
//! Invariants: a token lies in a file that its user alone can read; one that was lent to a process is good no longer than
//! the process is wanted.

use std::collections::HashMap;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};

use sha2::{Digest, Sha256};

use crate::config::Agent;

/// Whoever runs the owner. No agent is called so.
pub const OWNER: &str = "owner";

/// The tokens that are good now. Clones share them.
#[derive(Clone)]
pub struct Tokens {
    folder: PathBuf,
    /// Who has the token with this hash: how long it takes to find none says nothing about the others.
    good: Arc<RwLock<HashMap<Vec<u8>, String>>>,
}

impl Tokens {
    /// Those in a folder: the owner's, and one for each agent; what is missing is made.
    pub(crate) fn open(folder: &Path, agents: &[Agent]) -> Result<Self, String> {
        let wrong = |error: io::Error| format!("{}: {error}", folder.display());
        // The database lies beside it: what agents remember is nobody else's, either.
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(wrong)?;
        let tokens = Self {
            folder: folder.to_owned(),
            good: Arc::default(),
        };
        for name in agents.iter().map(|agent| &*agent.name).chain([OWNER]) {
            let path = tokens.file(name);
            let mut token = fs::read_to_string(&path).unwrap_or_default().trim().to_owned();
            if token.len() < 32 {
                token = write_fresh(&path).map_err(wrong)?;
            }
            tokens.good.write().unwrap().insert(hash(&token), name.to_owned());
        }
        Ok(tokens)
    }

    /// Where the token of an agent, or of the `owner`, stands.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A token for one process of an agent, written to this file; good until the lease is dropped.
    pub(crate) fn lend(&self, agent: &str, path: &Path) -> Result<Lease, String> {
        let token = write_fresh(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let lease = Lease(self.clone(), hash(&token));
        self.good.write().unwrap().insert(hash(&token), agent.to_owned());
        Ok(lease)
    }

    /// Whose token this is.
    pub(crate) fn who(&self, token: &str) -> Option<String> {
        self.good.read().unwrap().get(&hash(token)).cloned()
    }
}

/// A token that was lent.
pub(crate) struct Lease(Tokens, Vec<u8>);

impl Drop for Lease {
    fn drop(&mut self) {
        self.0.good.write().unwrap().remove(&self.1);
    }
}

fn hash(token: &str) -> Vec<u8> {
    Sha256::digest(token).to_vec()
}

fn write_fresh(path: &Path) -> io::Result<String> {
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let _ = fs::remove_file(path);
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(token.as_bytes())?;
    Ok(token)
}

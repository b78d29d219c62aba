//! The log of calls, from which `account` advises what to keep always on.
//!
//! Invariant: a line a call, without its arguments; a log that cannot be written costs no call.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Deserialize;
use serde_json::json;

use crate::index::Tool;
use crate::store::Store;

/// Bytes after which the log begins anew; the old one is kept.
const MOST: u64 = 4 << 20;

/// The log.
pub struct Calls {
    path: PathBuf,
}

#[derive(Deserialize)]
struct Line {
    tool: String,
    how: String,
}

impl Calls {
    /// The log beside a memory.
    pub fn new(store: &Store) -> Self {
        Self {
            path: store.path("calls.jsonl"),
        }
    }

    /// Notes a call: whether it was found or always on, how it ended, and how long it took.
    pub fn note(&self, tool: &Tool, how: &str, ok: bool, took: Duration) {
        let at = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs());
        let name = format!("{}:{}", tool.server, tool.name);
        let line =
            json!({"at": at, "tool": name, "how": how, "ok": ok, "ms": took.as_millis() as u64});
        tracing::info!(tool = name, how, ok, ms = took.as_millis() as u64, "called");
        if fs::metadata(&self.path).is_ok_and(|about| about.len() > MOST) {
            let _ = fs::rename(&self.path, self.path.with_extension("old.jsonl"));
        }
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&self.path);
        if let Err(error) = file.and_then(|mut file| writeln!(file, "{line}")) {
            tracing::warn!("{}: {error}", self.path.display());
        }
    }

    /// How often each tool was called, by `SERVER:TOOL`, and how often of these it had to be found first.
    pub fn counts(&self) -> BTreeMap<String, [usize; 2]> {
        let mut counts = BTreeMap::<String, [usize; 2]>::new();
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        for line in text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok()) {
            let [all, found] = counts.entry(line.tool).or_default();
            *all += 1;
            *found += usize::from(line.how == "found");
        }
        counts
    }
}

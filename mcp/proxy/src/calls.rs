//! The log of calls, and what can be learned from it: what the proxy saves, and which tools to keep always on.
//!
//! Invariant: a line a call, without its arguments; a log that cannot be written costs no call.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::index::Tool;
use crate::proxy::answer;
use crate::store::Store;
use crate::view::{LIMIT, View};

/// Bytes after which the log begins anew; the old one is kept.
const MOST: u64 = 4 << 20;
/// What a token is taken for. Tokenizers differ, and a server's texts are not all English.
const BYTES_A_TOKEN: usize = 4;
/// Tools that are advised.
const ADVISED: usize = 10;

/// The log.
#[derive(Clone)]
pub struct Calls {
    path: PathBuf,
}

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    tool: String,
    how: String,
}

impl Calls {
    /// The log beside a memory.
    pub fn new(store: &Store) -> Self {
        let path = store.path("calls.jsonl");
        Self { path }
    }

    /// Notes a call: whether it was found or always on, how it ended, and how long it took.
    pub fn note(&self, tool: &Tool, how: &str, ok: bool, took: Duration) {
        let (tool, ms) = (tool.key(), u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
        tracing::info!(tool, how, ok, ms, "called");
        self.write(json!({"tool": tool, "how": how, "ok": ok, "ms": ms}));
    }

    /// Notes that a client has come.
    pub fn note_session(&self) {
        self.write(json!({"how": "session"}));
    }

    fn write(&self, mut line: Value) {
        line["at"] =
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs()).into();
        let written = || {
            if let Some(folder) = self.path.parent() {
                DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            }
            if fs::metadata(&self.path).is_ok_and(|about| about.len() > MOST) {
                fs::rename(&self.path, self.path.with_extension("old.jsonl"))?;
            }
            let mut file =
                OpenOptions::new().create(true).append(true).mode(0o600).open(&self.path)?;
            file.write_all(format!("{line}\n").as_bytes())
        };
        if let Err(error) = written() {
            tracing::warn!("{}: {error}", self.path.display());
        }
    }

    /// The sessions, and how often each tool was found and called, by `SERVER:TOOL`.
    fn counts(&self) -> (usize, BTreeMap<String, usize>) {
        let (mut sessions, mut counts) = (0, BTreeMap::new());
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        for line in text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok()) {
            match line.how.as_str() {
                "session" => sessions += 1,
                "found" => *counts.entry(line.tool).or_default() += 1,
                _ => {}
            }
        }
        (sessions, counts)
    }
}

/// The tokens of a text.
pub fn tokens(text: &str) -> usize {
    text.len().div_ceil(BYTES_A_TOKEN)
}

/// What tools cost in tokens, with the proxy and without, and which would cost less always on.
pub fn account(view: &View, calls: &Calls) -> String {
    let tools = view.index.tools();
    let schema = |tool: &Tool| {
        let (name, description, schema) = (&tool.name, &tool.description, &tool.input_schema);
        let listed = json!({"name": name, "description": description, "inputSchema": schema});
        tokens(&listed.to_string())
    };
    let all: usize = tools.iter().map(schema).sum();
    let listed: usize = view.tools.iter().map(|tool| tokens(&tool.to_string())).sum();
    let start = listed + tokens(&view.instructions());
    // Each tool stands in as many answers as any other.
    let shown: usize = tools.iter().map(|tool| tokens(&answer(view, &[tool], false))).sum();
    let discovery = shown * LIMIT.0.min(tools.len()) / tools.len().max(1);
    let mut text = format!("Tokens, at {BYTES_A_TOKEN} bytes each\n");
    let listed = kit::counted(tools.len(), "tool");
    for (what, tokens) in [
        (&*format!("{listed} as their servers list them"), all),
        ("a session's start behind the proxy", start),
        ("a discovery: an answer with five tools", discovery),
    ] {
        text += &format!("{what:<44} {:>9}\n", kit::grouped(tokens as u64));
    }
    let even = all.saturating_sub(start) / discovery.max(1);
    let even = kit::counted(even, "discovery").replace("discoverys", "discoveries");
    text += &format!("The proxy costs less up to {even} in a session.\n");

    let (sessions, counts) = calls.counts();
    let advised = |tool: &&Tool| {
        let found = *counts.get(&tool.key())?;
        let (kept, cost) = (schema(tool) * sessions.max(1), found * discovery);
        (kept < cost).then(|| (tool.key(), kept, cost))
    };
    let found = tools.iter().filter(|tool| !view.always.iter().any(|it| it.key() == tool.key()));
    let mut advice: Vec<_> = found.filter_map(|tool| advised(&tool)).collect();
    advice.sort_by_key(|(_, kept, cost)| std::cmp::Reverse(cost - kept));
    let sessions = kit::counted(sessions, "session");
    if advice.is_empty() {
        return text + &format!("After {sessions} no tool is called often enough to be always on.");
    }
    text += &format!("After {sessions} these would cost less in `always_on`:");
    for (tool, kept, cost) in advice.into_iter().take(ADVISED) {
        let [kept, cost] = [kept, cost].map(|tokens| kit::grouped(tokens as u64));
        text += &format!("\n  {tool}: {kept} always on, {cost} found");
    }
    text
}

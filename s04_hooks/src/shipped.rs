//! The hooks that every later chapter carries: permission, log, large output, summary.
//!
//! Each is a callback or a function that returns one, so that `Agent::new` reads like a list. Invariant: a log entry or a
//! summary that cannot be written never stops a call.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::future::{Ready, ready};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use kit::{BoxFuture, make_state_folder};
use s01_loop::{Block, Message, Repl, ToolCall};
use s02_tools::Workspace;
use s03_permission::Policy;
use serde_json::json;

use crate::hooks::{HookOutput, PostTool, PreTool, Stop};

/// The name of the log in the state folder.
const LOG_FILE: &str = "log.jsonl";

/// Outputs longer than this, in characters, are remarked on.
const LARGE_OUTPUT: usize = 100_000;

/// PreToolUse: the policy of the permission chapter, no longer a line of the loop.
pub fn permission(
    policy: &Policy,
) -> impl Fn(PreTool) -> BoxFuture<'static, HookOutput> + Send + Sync + 'static {
    let policy = policy.clone();
    move |event| {
        let policy =
            event.caller.as_ref().map_or_else(|| policy.clone(), |caller| caller.policy.clone());
        Box::pin(async move {
            if event.blocked.is_some() {
                // Another hook has said no; the user need not be asked.
                return HookOutput::Go;
            }
            match policy.check(&event.tools, &event.call).await {
                Ok(()) => HookOutput::Go,
                Err(why) => HookOutput::Block(why),
            }
        })
    }
}

/// PreToolUse: writes each call to `.harness/log.jsonl`, with the reason when it was blocked.
pub fn log(ws: &Workspace) -> impl Fn(PreTool) -> Ready<HookOutput> + Send + Sync + 'static {
    let path = ws.state(LOG_FILE);
    move |PreTool {
              call,
              blocked,
              caller,
              ..
          }| {
        let time = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map(|since| since.as_secs())
            .unwrap_or_default();
        let agent = caller.as_ref().map_or("lead", |caller| &*caller.name);
        let entry = json!({ "time": time, "agent": agent, "tool": call.name, "input": call.input, "blocked": blocked });
        // A log that cannot be written is no reason to stop working.
        let _ = append(&path, &entry.to_string());
        ready(HookOutput::Go)
    }
}

/// PostToolUse: remarks on an output that fills the context, so that the model asks for less next time.
pub fn large_output(PostTool { output, .. }: PostTool) -> Ready<HookOutput> {
    let size = output.text.chars().count();
    ready(if size > LARGE_OUTPUT {
        HookOutput::Context(format!(
            "This output has {size} characters; read parts of it, or search in it, next time."
        ))
    } else {
        HookOutput::Go
    })
}

/// Stop: says what the turn did.
pub fn summary(repl: &Repl) -> impl Fn(Stop) -> Ready<HookOutput> + Send + Sync + 'static {
    let repl = repl.clone();
    move |Stop { history, .. }| {
        if let Some(summary) = summarize(history.turn()) {
            repl.say(&summary);
        }
        ready(HookOutput::Go)
    }
}

/// The calls of a turn, by tool: `[summary] 3 calls: bash 2, read_file 1; 1 failed`.
fn summarize(turn: &[Message]) -> Option<String> {
    let calls: Vec<&ToolCall> = turn.iter().flat_map(Message::tool_calls).collect();
    let mut counts = BTreeMap::new();
    for call in &calls {
        *counts.entry(call.name.as_str()).or_insert(0) += 1;
    }
    // The request may stand in one message with results of an earlier turn.
    let is_failure = |block: &&Block| {
        matches!(block, Block::ToolResult { tool_use_id, is_error: true, .. }
            if calls.iter().any(|call| call.id == *tool_use_id))
    };
    let failed = turn.iter().flat_map(Message::blocks).filter(is_failure).count();
    let by_tool: Vec<String> =
        counts.iter().map(|(tool, count)| format!("{tool} {count}")).collect();
    let failures = match failed {
        0 => String::new(),
        failed => format!("; {failed} failed"),
    };
    let total = calls.len();
    let noun = if total == 1 { "call" } else { "calls" };
    (total > 0).then(|| format!("[summary] {total} {noun}: {}{failures}", by_tool.join(", ")))
}

fn append(path: &Path, line: &str) -> std::io::Result<()> {
    if let Some(directory) = path.parent() {
        make_state_folder(directory)?;
    }
    let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
    // One write for the whole line: two agents may log at once.
    file.write_all(format!("{line}\n").as_bytes())
}

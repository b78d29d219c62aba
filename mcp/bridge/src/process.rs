//! An agent in a process of its own, spoken to in lines of JSON: s20 and Claude Code speak the same.
//!
//! Invariants: an answer belongs to the prompt that was put, even when the process works on something of its own in between;
//! a line that is no JSON ends the process; nothing of its group outlives it.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::Duration;

use mcp_client::child::{Child, Ending};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, Lines};
use tokio::process::Command;
use tokio::time::Instant;

use crate::agent::{Answered, Reply};
use crate::owner::Failure;
use crate::tokens::Lease;

/// How it is ended.
const ENDING: Ending = &[(Signal::SIGTERM, Duration::from_secs(5))];
/// What makes both harnesses speak lines.
pub const LINES: &str =
    "-p --input-format stream-json --output-format stream-json --verbose --replay-user-messages";
/// Tools of the harnesses that change nothing outside them. Those of the bridge count where they run.
const HARMLESS: [&str; 9] = [
    "connect_mcp",
    "ToolSearch",
    "TodoWrite",
    "todo_write",
    "read_file",
    "glob",
    "Read",
    "Glob",
    "Grep",
];

/// A running process.
pub struct Process {
    input: Box<dyn AsyncWrite + Send + Unpin>,
    lines: Lines<BufReader<Box<dyn AsyncRead + Send + Unpin>>>,
    child: Option<Child>,
    /// What opens its tools to it, until it is stopped.
    pub(crate) lease: Option<Lease>,
    /// When it last said something.
    pub heard: Instant,
    prompts: u64,
}

impl Process {
    /// Starts one.
    ///
    /// # Errors
    /// Why it does not start.
    pub fn start(command: &mut Command) -> Result<Self, String> {
        let started = Child::start(command, ENDING);
        let (child, input, output) = started.map_err(|error| {
            format!("{}: {error}", Path::new(command.as_std().get_program()).display())
        })?;
        let mut process = Self::over(output, input);
        process.child = Some(child);
        Ok(process)
    }

    /// One that speaks over these streams.
    pub fn over(
        output: impl AsyncRead + Send + Unpin + 'static,
        input: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        let output: Box<dyn AsyncRead + Send + Unpin> = Box::new(output);
        Self {
            input: Box::new(input),
            lines: BufReader::new(output).lines(),
            child: None,
            lease: None,
            heard: Instant::now(),
            prompts: 0,
        }
    }

    /// Its number, for whoever looks at it from outside.
    pub fn id(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Puts a prompt and waits for its answer; the error is why there will be none, and the process is of no more use.
    /// `acts` is told which tools it calls that may change something, as far as it says.
    pub(crate) async fn prompt(
        &mut self,
        text: &str,
        acts: impl Fn(&str),
    ) -> Result<Answered, String> {
        self.prompts += 1;
        // A UUID, which Claude Code wants it to be.
        let id = format!("00000000-0000-4000-8000-{:012}", self.prompts);
        let message = json!({ "role": "user", "content": [{ "type": "text", "text": text }] });
        let line = json!({ "type": "user", "message": message, "parent_tool_use_id": null, "session_id": "", "uuid": id });
        let written = async {
            self.input.write_all(format!("{line}\n").as_bytes()).await?;
            self.input.flush().await
        };
        // One that does not read has its reason in how it ended.
        let _ = written.await;
        let mut begun = false;
        loop {
            let line = self.line().await?;
            match line["type"].as_str() {
                Some("user") if line["isReplay"] == true => begun |= line["uuid"] == *id,
                Some("assistant") => calls(&line).filter(|it| !is_harmless(it)).for_each(&acts),
                // Of something that it did by itself, before this.
                Some("result") if !begun => {}
                Some("result") => {
                    let text = line["result"].as_str().or(line["subtype"].as_str());
                    let text = text.unwrap_or_default().to_owned();
                    if line["is_error"] == true {
                        return Ok(Err(Failure::new(502, "prompt_failed", text)));
                    }
                    return Ok(Ok(Reply {
                        text,
                        by: "process",
                        note: None,
                        cost: line["total_cost_usd"].as_f64(),
                    }));
                }
                _ => {}
            }
        }
    }

    /// The next thing that it says. Cancel-safe.
    ///
    /// # Errors
    /// When it has ended, or says something that nobody understands.
    pub async fn line(&mut self) -> Result<Value, String> {
        loop {
            let line = self.lines.next_line().await;
            self.heard = Instant::now();
            let Ok(Some(line)) = line else {
                return Err(self.last_words().await);
            };
            if !line.trim().is_empty() {
                let value = serde_json::from_str(&line).ok().filter(Value::is_object);
                return value.ok_or_else(|| {
                    format!("it says what is no line of JSON: {:?}", kit::cut(&line, 100))
                });
            }
        }
    }

    /// How it ended, and what it said last on standard error.
    async fn last_words(&mut self) -> String {
        let Some(child) = &mut self.child else {
            return "it has ended".to_owned();
        };
        let (status, said) = child.last_words().await;
        let how = match status {
            Some(status) if status.signal() == Some(9) => {
                "it was killed (signal 9; for want of memory, perhaps)".to_owned()
            }
            Some(status) => format!("it has ended with {status}"),
            None => "it has closed its output".to_owned(),
        };
        if said.is_empty() { how } else { format!("{how}: {said}") }
    }

    /// Ends it and all that it has started: SIGTERM, and after five seconds SIGKILL. What it calls from now on comes too late.
    pub async fn stop(self) {
        drop(self.lease);
        if let Some(child) = self.child {
            child.stop().await;
        }
    }
}

/// The tools that a message calls.
fn calls(line: &Value) -> impl Iterator<Item = &str> {
    let blocks = line["message"]["content"].as_array().into_iter().flatten();
    blocks.filter(|it| it["type"] == "tool_use").filter_map(|it| it["name"].as_str())
}

fn is_harmless(tool: &str) -> bool {
    tool.starts_with("mcp__bridge__") || HARMLESS.contains(&tool)
}

/// The memory of a process and of those that it has started, in kilobytes.
pub fn memory(leader: u32) -> u64 {
    let text =
        |id: &str, file: &str| std::fs::read_to_string(Path::new("/proc").join(id).join(file));
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let sizes = entries.filter_map(|entry| {
        let id = entry.file_name().into_string().ok().filter(|id| id.parse::<u32>().is_ok())?;
        // Behind the name in brackets: state, parent, group.
        let stat = text(&id, "stat").ok()?;
        let group = stat.rsplit_once(')')?.1.split_whitespace().nth(2)?;
        let status = text(&id, "status").ok().filter(|_| group == leader.to_string())?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    });
    sizes.sum()
}

//! A session as lines of JSON, for a program that keeps it open: the shapes are those of Claude Code.
//!
//! One prompt may take minutes and many tools, and whoever waits wants to see it live. Invariants: standard output holds
//! lines of JSON and nothing else; each line that comes in gets one `result` line, a broken one too; a call of a tool is told
//! before it runs.

use std::sync::Mutex;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use s01_loop::{History, Message, Output, Repl, Reply, Role, ToolCall, Usage};
use s02_tools::Toolbox;
use s04_hooks::Hooks;
use s19_mcp_plugin::Mcp;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::commands::Commands;
use crate::denials::Denials;
use crate::start::{Answer, last_text};

/// Writes what happens in a session, if the command line asks for it.
pub struct Stream {
    is_on: bool,
    /// Many prompts come as lines.
    is_open: bool,
    commands: Commands,
    denials: Denials,
    /// What there was before this turn. A std lock: nothing is awaited while it is held.
    before: Mutex<Before>,
}

struct Before {
    began: Instant,
    replies: usize,
    spent: Usage,
}

/// A prompt, as it comes.
#[derive(Deserialize)]
struct Prompt {
    r#type: String,
    message: Option<Said>,
}

#[derive(Deserialize)]
struct Said {
    role: Role,
    content: Content,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Blocks(Vec<Value>),
}

/// The request in a line; a line without one is answered here. With `replayed` it is told that its turn begins.
pub(crate) fn request(repl: &Repl, line: &str, replayed: bool) -> Option<String> {
    match parse(line) {
        Ok((request, mut prompt)) => {
            if replayed {
                prompt["isReplay"] = json!(true);
                repl.print(&prompt.to_string());
            }
            Some(request)
        }
        Err(why) => {
            let answer = Answer {
                is_error: true,
                result: format!("a line that came is no prompt, and was left out: {why:#}"),
                ..Answer::default()
            };
            repl.print(&answer.into_json(Instant::now()));
            None
        }
    }
}

/// The text of a prompt, and all of it.
fn parse(line: &str) -> Result<(String, Value)> {
    let whole: Value = serde_json::from_str(line).context("it is not JSON")?;
    let prompt = Prompt::deserialize(&whole).context("it lacks the type or the message")?;
    ensure!(prompt.r#type == "user", "its type is {:?}, only \"user\" is read", prompt.r#type);
    let message = prompt.message.context("it has no message")?;
    ensure!(matches!(message.role, Role::User), "its message is not the user's");
    let text = match message.content {
        Content::Text(text) => text,
        Content::Blocks(blocks) => {
            let texts = blocks.iter().map(|block| match block["type"].as_str() {
                Some("text") => block["text"].as_str().context("a block of text has no text"),
                other => bail!("it holds a block of type {other:?}, only \"text\" is read"),
            });
            texts.collect::<Result<Vec<_>>>()?.join("\n")
        }
    };
    ensure!(!text.trim().is_empty(), "it is empty");
    Ok((text, whole))
}

impl Stream {
    pub(crate) fn new(is_on: bool, is_open: bool, commands: &Commands, denials: &Denials) -> Self {
        let before = Before {
            began: Instant::now(),
            replies: 0,
            spent: commands.client().spent(),
        };
        Self {
            is_on,
            is_open,
            commands: commands.clone(),
            denials: denials.clone(),
            before: Mutex::new(before),
        }
    }

    /// Connects the servers that `.mcp.json` names, each as if the model had asked for it, and tells what there is.
    pub async fn begin(&self, mcp: &Mcp, tools: &Toolbox, hooks: &Hooks) {
        if !self.is_on {
            return;
        }
        let mut steps = Vec::new();
        for name in mcp.configured().into_iter().filter(|_| self.is_open) {
            let call =
                ToolCall::new(format!("at_start_{name}"), "connect_mcp", json!({"name": name}));
            steps.push(hooks.pre_tool(tools, call).await);
        }
        let mut connecting = tools.run(steps);
        while connecting.next().await.is_some() {}
        let tools = tools.clone().with_all(mcp.tools());
        let servers = mcp.statuses().0.into_iter().map(|(name, status)| {
            let state = status.state;
            json!({"name": name, "status": state.split([',', ':']).next(), "detail": state})
        });
        self.line(&json!({
            "type": "system",
            "subtype": "init",
            "cwd": std::env::current_dir().unwrap_or_default(),
            "session_id": self.session(),
            "tools": tools.names(),
            "mcp_servers": servers.collect::<Vec<_>>(),
            "model": self.commands.client().model(),
            "permissionMode": "default",
            "slash_commands": Commands::names(),
        }));
    }

    /// A turn begins now.
    pub fn turn_begins(&self) {
        self.before.lock().unwrap().began = Instant::now();
    }

    /// A reply of the model.
    pub fn reply(&self, reply: &Reply) {
        if !self.is_on {
            return;
        }
        let mut message = json!(reply.message());
        message["type"] = json!("message");
        message["model"] = json!(self.commands.client().model());
        message["stop_reason"] = json!(reply.stop_reason);
        message["usage"] = json!(reply.usage);
        self.message("assistant", message);
    }

    /// What came of a call.
    pub fn result(&self, call: &ToolCall, output: &Output) {
        if self.is_on {
            let block = call.answer(output.clone());
            self.message("user", json!(Message::new(Role::User, vec![block])));
        }
    }

    /// The end of a turn: its answer, or why there is none, and what it cost.
    pub fn turn_ended(&self, history: &History) {
        if !self.is_on {
            return;
        }
        let client = self.commands.client();
        let repl = self.commands.repl();
        let before = &mut *self.before.lock().unwrap();
        let failure = if self.is_open { repl.take_failure() } else { repl.failure() };
        let num_turns = history.replies().saturating_sub(before.replies);
        let told = self.commands.take_told().filter(|_| num_turns == 0);
        let answer = Answer {
            is_error: failure.is_some(),
            result: failure.or(told).unwrap_or_else(|| last_text(history)),
            session_id: self.session(),
            num_turns,
            usage: client.spent().since(&before.spent),
            permission_denials: self.denials.take(),
            ..Answer::default()
        };
        repl.print(&answer.into_json(before.began));
        (before.replies, before.spent) = (history.replies(), client.spent());
    }

    fn message(&self, kind: &str, message: Value) {
        let session = self.session();
        self.line(&json!({
            "type": kind, "message": message, "parent_tool_use_id": null, "session_id": session,
        }));
    }

    fn session(&self) -> String {
        self.commands.sessions().id().unwrap_or_default()
    }

    fn line(&self, line: &Value) {
        self.commands.repl().print(&line.to_string());
    }
}

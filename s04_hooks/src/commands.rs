//! Hooks from outside: commands that `.harness/settings.json` names for an event.
//!
//! A team writes its rules in any language, without touching the harness. The command gets the event as JSON on standard
//! input; exit code 0 means go on, 2 means no, with standard error as the reason. The format is the part of Claude Code's
//! that has these four events.
//! Invariants: a hook that crashes, times out or cannot be parsed is reported to the user and blocks nothing; an unknown
//! event name refuses every prompt.

use std::fs::File;
use std::future::ready;
use std::io::{Read, Seek, Write};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use s01_loop::{End, Process, Repl};
use s02_tools::Workspace;
use s03_permission::read_settings;
use s03_permission::rules::means_tool;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::hooks::{HookOutput, Hooks, PostTool, PreTool, Prompt, Stop};

/// How long a command may take when the settings do not say.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// The most bytes of a command's answer that are read.
const MAX_ANSWER: usize = 100_000;

/// The events, as the settings name them.
const EVENTS: [&str; 4] = ["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"];

/// One entry of an event's list: which tools, and what to run.
#[derive(Deserialize)]
struct Entry {
    /// Tool names as in the permission rules, separated by `|`; nothing means every tool.
    #[serde(default)]
    matcher: String,
    hooks: Vec<Action>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Action {
    Command {
        command: String,
        /// In seconds.
        timeout: Option<f64>,
    },
}

/// A command that waits for its event.
struct CommandHook {
    ws: Workspace,
    repl: Repl,
    matcher: String,
    command: String,
    timeout: Duration,
}

impl Hooks {
    /// The hooks that the settings of this workspace name. What is wrong in an entry is told; an event that there is not
    /// refuses every prompt: a guard with a misspelt name guards nothing.
    pub fn from_settings(ws: &Workspace, repl: &Repl) -> Self {
        // Settings that are no JSON at all have been reported by the policy, which reads them first.
        let settings = read_settings(ws).unwrap_or_default();
        let mut hooks = Self::new().shown_on(repl);
        let events = match &settings["hooks"] {
            Value::Null => return hooks,
            Value::Object(events) => events,
            _ => {
                let why = "settings.json: `hooks` must be an object of events";
                return hooks.refusing(repl, why);
            }
        };
        for (event, entries) in events {
            if !EVENTS.contains(&event.as_str()) {
                let known = EVENTS.join(", ");
                let why = format!(
                    "settings.json: there is no hook event {event:?}; the events are {known}"
                );
                hooks = hooks.refusing(repl, &why);
                continue;
            }
            for entry in entries.as_array().unwrap_or(&vec![entries.clone()]) {
                let commands = Entry::read(entry).and_then(|entry| entry.commands(ws, repl));
                match commands.and_then(|commands| hooks.clone().with_commands(event, commands)) {
                    Ok(added) => hooks = added,
                    Err(error) => {
                        repl.say(&format!("settings.json, hooks of {event}: {error:#}; left out"))
                    }
                }
            }
        }
        hooks
    }

    fn refusing(self, repl: &Repl, why: &str) -> Self {
        let (repl, why) = (repl.clone(), why.to_owned());
        self.on_prompt(move |_| {
            repl.fail(&why);
            ready(HookOutput::Block(why.clone()))
        })
    }

    fn with_commands(self, event: &str, commands: Vec<CommandHook>) -> Result<Self> {
        commands.into_iter().map(Arc::new).try_fold(self, |hooks, hook| {
            Ok(match event {
                "UserPromptSubmit" => {
                    hooks.on_prompt(move |event| on_prompt(Arc::clone(&hook), event))
                }
                "PreToolUse" => {
                    hooks.on_pre_tool(move |event| on_pre_tool(Arc::clone(&hook), event))
                }
                "PostToolUse" => {
                    hooks.on_post_tool(move |event| on_post_tool(Arc::clone(&hook), event))
                }
                "Stop" => hooks.on_stop(move |event| on_stop(Arc::clone(&hook), event)),
                other => bail!("unknown event {other}"),
            })
        })
    }
}

async fn on_prompt(hook: Arc<CommandHook>, Prompt { text }: Prompt) -> HookOutput {
    // Notices and mail come in a tag. Refusing one does not fail the turn.
    let is_typed = !text.starts_with('<');
    let event = json!({ "hook_event_name": "UserPromptSubmit", "prompt": text });
    let says = hook.say(event, true).await;
    if let (HookOutput::Block(why), true) = (&says, is_typed) {
        hook.repl.fail(why);
    }
    says
}

async fn on_pre_tool(hook: Arc<CommandHook>, PreTool { call, .. }: PreTool) -> HookOutput {
    if !hook.matches(&call.name) {
        return HookOutput::Go;
    }
    hook.say(json!({ "hook_event_name": "PreToolUse", "tool_name": call.name, "tool_input": call.input }), false).await
}

async fn on_post_tool(
    hook: Arc<CommandHook>,
    PostTool { call, output, .. }: PostTool,
) -> HookOutput {
    if !hook.matches(&call.name) {
        return HookOutput::Go;
    }
    let response = json!({ "text": output.text, "is_error": output.is_error });
    let event = json!({
        "hook_event_name": "PostToolUse", "tool_name": call.name, "tool_input": call.input,
        "tool_response": response,
    });
    hook.say(event, true).await
}

async fn on_stop(hook: Arc<CommandHook>, Stop { again, .. }: Stop) -> HookOutput {
    let says =
        hook.say(json!({ "hook_event_name": "Stop", "stop_hook_active": again }), false).await;
    if let HookOutput::Block(reason) = &says {
        hook.repl.say(&format!("the hook `{}` wants the turn to go on: {reason}", hook.command));
    }
    says
}

impl Entry {
    /// Reads one entry. Claude Code's matchers are regular expressions; of those, `.*` at the end of a name is known here.
    fn read(entry: &Value) -> Result<Self> {
        let mut entry: Self =
            serde_json::from_value(entry.clone()).context("an entry cannot be read")?;
        entry.matcher = entry.matcher.replace(".*", "*");
        let plain = |c: char| c.is_alphanumeric() || "_-*| ".contains(c);
        let stars_at_the_end =
            entry.matcher.split('|').all(|name| !name.trim().trim_end_matches('*').contains('*'));
        if !entry.matcher.chars().all(plain) || !stars_at_the_end {
            bail!("the matcher {:?} is more than names, `|` and a `*` at the end", entry.matcher);
        }
        Ok(entry)
    }

    fn commands(self, ws: &Workspace, repl: &Repl) -> Result<Vec<CommandHook>> {
        let hook = |Action::Command { command, timeout }| {
            let timeout = match timeout {
                Some(seconds) => Duration::try_from_secs_f64(seconds)
                    .with_context(|| format!("the timeout {seconds} is not a number of seconds"))?,
                None => DEFAULT_TIMEOUT,
            };
            Ok(CommandHook {
                ws: ws.clone(),
                repl: repl.clone(),
                matcher: self.matcher.clone(),
                command,
                timeout,
            })
        };
        self.hooks.into_iter().map(hook).collect()
    }
}

impl CommandHook {
    fn matches(&self, tool: &str) -> bool {
        let names = || self.matcher.split('|').map(str::trim);
        names().all(str::is_empty) || names().any(|name| means_tool(name, tool))
    }

    /// Runs the command on an event. `speaks` is whether plain text it prints is meant for the model.
    async fn say(&self, mut event: Value, speaks: bool) -> HookOutput {
        event["cwd"] = self.ws.root().display().to_string().into();
        match tokio::time::timeout(self.timeout, self.run(&event)).await {
            Ok(Ok(Ran {
                end: End::Exit(0),
                answer,
                ..
            })) => said(&answer, speaks),
            Ok(Ok(Ran {
                end: End::Exit(2),
                complaint,
                ..
            })) => HookOutput::Block(match complaint.trim() {
                "" => format!("the hook `{}` refused it without a reason", self.command),
                reason => reason.to_owned(),
            }),
            Ok(Ok(Ran { end, complaint, .. })) => {
                let complaint = complaint.trim();
                let separator = if complaint.is_empty() { "" } else { ": " };
                self.broke(&format!("ended with {end}{separator}{complaint}"))
            }
            Ok(Err(error)) => self.broke(&format!("could not run: {error:#}")),
            Err(_) => self.broke(&format!(
                "took longer than {} s and was stopped",
                self.timeout.as_secs_f64()
            )),
        }
    }

    fn broke(&self, how: &str) -> HookOutput {
        self.repl.say(&format!("the hook `{}` {how}; going on without it", self.command));
        HookOutput::Go
    }

    async fn run(&self, event: &Value) -> Result<Ran> {
        let mut input = tempfile::tempfile().context("writing the event")?;
        input.write_all(event.to_string().as_bytes())?;
        input.rewind()?;
        let mut complaint = tempfile::tempfile().context("making room for standard error")?;
        let stderr = Stdio::from(complaint.try_clone()?);
        let mut process =
            Process::start_with(self.ws.root(), &self.command, input.into(), Some(stderr))?;
        let mut answer = Vec::new();
        while let Some(piece) = process.read().await? {
            let room = MAX_ANSWER.saturating_sub(answer.len());
            answer.extend_from_slice(&piece[..piece.len().min(room)]);
        }
        let end = process.end().await?;
        let answer = String::from_utf8_lossy(&answer).into_owned();
        Ok(Ran {
            end,
            answer,
            complaint: read_start(&mut complaint)?,
        })
    }
}

/// How a command ended and what it printed.
struct Ran {
    end: End,
    answer: String,
    complaint: String,
}

/// What a command says that ended well: JSON when its answer is an object, else text.
fn said(answer: &str, speaks: bool) -> HookOutput {
    let Ok(answer @ Value::Object(_)) = serde_json::from_str::<Value>(answer) else {
        let text = answer.trim();
        return if speaks && !text.is_empty() {
            HookOutput::Context(text.to_owned())
        } else {
            HookOutput::Go
        };
    };
    let specific = &answer["hookSpecificOutput"];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    if answer["decision"] == "block" {
        HookOutput::Block(text(&answer["reason"]).unwrap_or_else(|| "a hook refused it".to_owned()))
    } else if specific["permissionDecision"] == "deny" || specific["permissionDecision"] == "ask" {
        // "ask" is treated as a refusal: a rule under `permissions.ask` is the way to a question.
        let reason = text(&specific["permissionDecisionReason"]);
        HookOutput::Block(reason.unwrap_or_else(|| "a hook refused it".to_owned()))
    } else if specific["updatedInput"].is_object() {
        HookOutput::Rewrite(specific["updatedInput"].clone())
    } else {
        text(&specific["additionalContext"]).map_or(HookOutput::Go, HookOutput::Context)
    }
}

fn read_start(file: &mut File) -> Result<String> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.take(MAX_ANSWER as u64).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_answers_in_text_or_in_json() {
        let context = |text: &str| HookOutput::Context(text.to_owned());
        for (answer, speaks, expected) in [
            ("", true, HookOutput::Go),
            ("mind the tests\n", true, context("mind the tests")),
            ("mind the tests\n", false, HookOutput::Go),
            (
                r#"{"decision": "block", "reason": "not now"}"#,
                false,
                HookOutput::Block("not now".into()),
            ),
            (
                r#"{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "no"}}"#,
                false,
                HookOutput::Block("no".into()),
            ),
            (
                r#"{"hookSpecificOutput": {"updatedInput": {"command": "ls"}}}"#,
                false,
                HookOutput::Rewrite(json!({"command": "ls"})),
            ),
            (r#"{"hookSpecificOutput": {"additionalContext": "hm"}}"#, false, context("hm")),
            (r#"{"other": 1}"#, true, HookOutput::Go),
        ] {
            assert_eq!(said(answer, speaks), expected, "{answer}");
        }
    }
}

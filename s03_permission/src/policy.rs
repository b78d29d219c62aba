//! The policy: may this call run?
//!
//! The order is fixed: fatal commands, deny rules, allow rules, ask rules, then what the tool touches. Reading is allowed,
//! writing is allowed inside the workspace, a command is allowed when all of its parts are known to only read, and
//! anything else asks. A file outside the workspace is denied, and a file that controls what runs later asks even under an
//! allow rule. Invariant: a call that the policy does not understand never runs without a question.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use s01_loop::{Answer, ToolCall};
use s02_tools::{Access, Tool, Toolbox, Workspace};
use serde::Deserialize;
use serde_json::Value;

use crate::approver::Approver;
use crate::fatal::fatal;
use crate::known::{is_guarded, is_secret_or_endless, unread};
use crate::rules::{Call, Rules};
use crate::settings::{SETTINGS_FILE, read_settings};
use crate::shell::{Line, Word};

/// The decision about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may run.
    Allow,
    /// The user must be asked, for this reason.
    Ask(String),
    /// It may not run, for this reason.
    Deny(String),
}

/// Decides which calls run. Clones share rules and the user's answers.
#[derive(Clone)]
pub struct Policy {
    ws: Workspace,
    /// A std lock: nothing is awaited while it is held.
    rules: Arc<Mutex<Rules>>,
    approver: Arc<dyn Approver>,
    /// One question at a time: an "always" may answer the next question before it is put.
    question: Arc<tokio::sync::Mutex<()>>,
    /// True if the settings file cannot be read. Then every call asks, because a deny rule may be missing.
    is_blind: bool,
}

impl Policy {
    /// The policy of this workspace, with the rules in its settings. The approver is told what is wrong with them.
    pub fn open(ws: &Workspace, approver: impl Approver + 'static) -> Self {
        let (settings, mut complaints) = match read_settings(ws) {
            Ok(settings) => (settings, Vec::new()),
            Err(error) => (Value::Null, vec![format!("{error:#}")]),
        };
        let is_blind = !complaints.is_empty();
        let (rules, unread) = Rules::parse(&settings);
        complaints.extend(unread);
        complaints.extend(allow_directories(ws, &settings));
        for complaint in &complaints {
            approver.tell(complaint);
        }
        Self {
            ws: ws.clone(),
            rules: Arc::new(Mutex::new(rules)),
            approver: Arc::new(approver),
            question: Arc::default(),
            is_blind,
        }
    }

    /// The same policy with another approver, such as the terminal under a teammate's name.
    pub fn asking(&self, approver: impl Approver + 'static) -> Self {
        let mut policy = self.clone();
        policy.approver = Arc::new(approver);
        policy
    }

    /// The same policy for an agent in another directory, such as a worktree.
    pub fn within(&self, ws: &Workspace) -> Self {
        let ws = ws.clone();
        Self { ws, ..self.clone() }
    }

    /// The workspace in which the calls run.
    pub fn workspace(&self) -> &Workspace {
        &self.ws
    }

    /// Decides on one call, asking the user where the rules leave it open.
    ///
    /// # Errors
    /// The call must not run; the text is for the model.
    pub async fn check(&self, tools: &Toolbox, call: &ToolCall) -> Result<(), String> {
        let Some(tool) = tools.get(&call.name) else {
            // An unknown tool cannot run; the toolbox answers with the tools there are.
            return Ok(());
        };
        if let (Decision::Allow, _) = self.decide(tool, call) {
            return Ok(());
        }
        let _asking = self.question.lock().await;
        match self.decide(tool, call) {
            (Decision::Allow, _) => Ok(()),
            (Decision::Deny(why), _) => Err(denied(&why)),
            (Decision::Ask(why), always) => {
                self.put_question(&shown(tool, call), &why, always).await
            }
        }
    }

    /// Asks the user. An "always" adds the rule.
    async fn put_question(
        &self,
        shown: &str,
        why: &str,
        always: Option<String>,
    ) -> Result<(), String> {
        let means = match &always {
            Some(rule) => format!("always means {rule}, in this session"),
            None => "always counts only once here".to_owned(),
        };
        let question = format!("{shown}\n{why}; {means}\nrun it?");
        match (self.approver.ask(&question).await, always) {
            (Answer::No(reason), _) => return Err(denied(&reason.to_string())),
            (Answer::Always, Some(rule)) => self.rules.lock().unwrap().allow_for_session(&rule),
            (Answer::Yes | Answer::Always, _) => {}
        }
        Ok(())
    }

    /// The decision before the user is asked, and the rule that "always" would add.
    fn decide(&self, tool: &Tool, call: &ToolCall) -> (Decision, Option<String>) {
        let touches = tool.touches();
        let is_file = matches!(touches, Access::FileToRead | Access::FileToWrite);
        let named = call.input.get("path").and_then(Value::as_str).filter(|_| is_file);
        let path = match named.map(|path| self.ws.resolve(path)).transpose() {
            Ok(path) => path,
            Err(error) => return (Decision::Deny(format!("{error:#}")), None),
        };
        // Without a command nothing runs; the tool reports the missing argument.
        let command = tool.shell_command(call).filter(|_| touches == Access::Command);
        let seen = Call {
            tool: tool.name(),
            line: command.as_deref().map(Line::parse),
            path: path.as_deref(),
            root: self.ws.root(),
        };
        if let Some(why) = seen.line.as_ref().and_then(|line| fatal(line, seen.root)) {
            return (Decision::Deny(why), None);
        }
        let unknown = tool.known().unwrap_or("what this tool changes is unknown");
        let default = match touches {
            Access::Anything => Decision::Ask(unknown.to_owned()),
            _ => Decision::Allow,
        };
        let (decision, always) = self.rules.lock().unwrap().decide(&seen, default);
        let blind = || format!("{SETTINGS_FILE} cannot be read, so a deny rule may be missing");
        let insisting =
            [self.guarded(touches, &seen), tool.reason_to_ask(call), self.is_blind.then(blind)];
        let insisting: Vec<String> = insisting.into_iter().flatten().collect();
        let asked = match decision {
            decision if insisting.is_empty() => return (decision, always),
            Decision::Deny(why) => return (Decision::Deny(why), None),
            Decision::Ask(why) => Some(why),
            Decision::Allow => None,
        };
        let all: Vec<String> = asked.into_iter().chain(insisting).collect();
        (Decision::Ask(all.join("; ")), None)
    }

    /// The reason to ask about a file in spite of allow rules, if the call names such a file.
    fn guarded(&self, touches: Access, call: &Call) -> Option<String> {
        let guarded = |file: &str| format!("{file} controls permissions or what runs later");
        if let Some(path) = call.path {
            let (inside, shown) = (path.strip_prefix(call.root), self.ws.shown(path));
            return match touches {
                Access::FileToWrite if is_guarded(inside.unwrap_or(path)) => Some(guarded(&shown)),
                _ => is_secret_or_endless(path)
                    .then(|| format!("{shown} is a device or exposes other processes")),
            };
        }
        let line = call.line.as_ref()?;
        let word = line.commands.iter().find_map(|command| {
            // To git, HEAD is a commit.
            let is_commit = |word: &Word| word.text == "HEAD" && command.name() == Some("git");
            let mut named = command.named();
            named.find(|word| is_guarded(Path::new(&word.text)) && !is_commit(word))
        })?;
        let reads = unread(line, call.root, |_| false).is_empty();
        (!reads).then(|| guarded(&word.shown()))
    }
}

/// What the model reads when a call is denied.
fn denied(why: &str) -> String {
    format!("permission denied: {why}. Do not try to get there another way; tell the user.")
}

/// The call as the user sees it: its whole input without empty lines, and the command that it runs if that is not part of
/// the input.
fn shown(tool: &Tool, call: &ToolCall) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let fields = call.input.as_object();
    let is_command = fields.is_some_and(|it| it.len() == 1 && it.contains_key("command"));
    let mut lines: Vec<String> = match fields {
        Some(fields) if !is_command => {
            fields.iter().rev().map(|(name, value)| format!("{name}: {}", text(value))).collect()
        }
        _ => vec![text(call.input.get("command").unwrap_or(&call.input))],
    };
    let given = call.input.get("command").map(text);
    let runs = tool.shell_command(call).filter(|runs| given.as_ref() != Some(runs));
    lines.extend(runs.map(|runs| format!("runs: {runs}")));
    // Empty lines could push a part of the call off the screen.
    let lines = lines.join("\n");
    let lines: Vec<_> = lines.lines().filter(|line| !line.trim().is_empty()).collect();
    let lines = lines.join("\n  ");
    format!("{} needs permission:\n  {lines}", call.name)
}

/// Allows the additional directories of the settings. Returns what is wrong with the others.
fn allow_directories(ws: &Workspace, settings: &Value) -> Vec<String> {
    let named = settings.pointer("/permissions/additionalDirectories");
    let Ok(directories) = named.map_or(Ok(Vec::new()), Vec::<PathBuf>::deserialize) else {
        return vec![format!(
            "permissions.additionalDirectories in {SETTINGS_FILE} is not a list of paths"
        )];
    };
    let refused = directories.iter().filter_map(|directory| ws.allow_directory(directory).err());
    refused.map(|error| format!("{error:#}")).collect()
}

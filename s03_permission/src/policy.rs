//! The policy: may this call run?
//!
//! The order is fixed: what is fatal, deny rules, allow rules, ask rules, then what the tool touches. Reading is allowed,
//! writing is allowed inside the workspace, a command is allowed when all of its parts are known to only read, and
//! anything else is asked. A file that the tool cannot reach is denied at once, and one that decides what runs later is asked
//! about in spite of allow rules. Invariant: a call that the policy does not understand is never allowed in silence.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use s01_loop::{Answer, ToolCall};
use s02_tools::{Access, Tool, Toolbox, Workspace};
use serde_json::Value;

use crate::ask::Approver;
use crate::known::{is_guarded, is_secret_or_endless, judge, not_known};
use crate::rules::{Call, Rules};
use crate::settings::{SETTINGS_FILE, read_settings};
use crate::shell::{Line, Word};

/// What is to be done with a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may run.
    Allow,
    /// The user is to be asked, for this reason.
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
    ask: Arc<dyn Approver>,
    /// One question at a time: an "always" may answer the next question before it is put.
    question: Arc<tokio::sync::Mutex<()>>,
    /// The settings file cannot be read: nobody knows what it forbids.
    is_blind: bool,
}

impl Policy {
    /// The policy of this workspace: its settings file, and this one to ask. What is wrong in the settings is told.
    pub fn open(ws: &Workspace, ask: impl Approver + 'static) -> Self {
        let settings = read_settings(ws)
            .map_err(|error| ask.tell(&format!("{error:#}")))
            .ok();
        let is_blind = settings.is_none();
        let settings = settings.unwrap_or_default();
        let (rules, complaints) = Rules::parse(&settings, ignores_case(ws.root()));
        complaints.iter().for_each(|complaint| ask.tell(complaint));
        allow_directories(ws, &settings)
            .iter()
            .for_each(|complaint| ask.tell(complaint));
        Self {
            ws: ws.clone(),
            rules: Arc::new(Mutex::new(rules)),
            ask: Arc::new(ask),
            question: Arc::default(),
            is_blind,
        }
    }

    /// The same policy with somebody else to ask, such as the terminal under a teammate's name.
    pub fn asking(&self, ask: impl Approver + 'static) -> Self {
        Self {
            ask: Arc::new(ask),
            ..self.clone()
        }
    }

    /// The same policy for somebody who works in another directory, such as a worktree.
    pub fn within(&self, ws: &Workspace) -> Self {
        Self {
            ws: ws.clone(),
            ..self.clone()
        }
    }

    /// Where the calls that it judges run.
    pub fn workspace(&self) -> &Workspace {
        &self.ws
    }

    /// Decides on one call, asking the user where the rules leave it open.
    ///
    /// # Errors
    /// The call must not run, for this reason, which is told to the model.
    pub async fn check(&self, tools: &Toolbox, call: &ToolCall) -> Result<(), String> {
        let Some(tool) = tools.get(&call.name) else {
            // Nothing can run; the toolbox tells the model which tools there are.
            return Ok(());
        };
        if let (Decision::Allow, _) = self.decide(tool, call) {
            return Ok(());
        }
        let _asking = self.question.lock().await;
        match self.decide(tool, call) {
            (Decision::Allow, _) => Ok(()),
            (Decision::Deny(why), _) => Err(denied(&why)),
            (Decision::Ask(why), always) => self.put_question(tool, call, &why, always).await,
        }
    }

    async fn put_question(
        &self,
        tool: &Tool,
        call: &ToolCall,
        why: &str,
        always: Option<String>,
    ) -> Result<(), String> {
        let means = match &always {
            Some(rule) => format!("; always means {rule}, in this session"),
            None => "; always counts only once here".to_owned(),
        };
        let question = format!(
            "{} needs permission:\n{}\n{why}{}\nrun it?",
            call.name,
            shown(tool, call),
            means
        );
        match self.ask.ask(&question).await {
            Answer::Yes => Ok(()),
            Answer::Always => {
                if let Some(rule) = always {
                    self.rules.lock().unwrap().allow_for_session(&rule);
                }
                Ok(())
            }
            Answer::No(reason) => Err(denied(&reason.to_string())),
        }
    }

    /// What the rules and the defaults say, before anybody is asked, and the rule that "always" would make.
    fn decide(&self, tool: &Tool, call: &ToolCall) -> (Decision, Option<String>) {
        let (decision, always) = match tool.touches() {
            Access::Command => match tool.shell_command(call) {
                Some(command) => self.decide_on_command(tool, &command),
                // Nothing is run: an argument is missing, which the tool names, or there is nothing to start.
                None => self.by_rules(tool, None, None, Decision::Allow),
            },
            Access::FileToRead | Access::FileToWrite => {
                let path = call.input.get("path").and_then(Value::as_str);
                match path.map(|path| self.ws.resolve(path)) {
                    Some(Ok(path)) => self.decide_on_file(tool, &path),
                    Some(Err(error)) => (Decision::Deny(format!("{error:#}")), None),
                    None => (Decision::Allow, None),
                }
            }
            Access::Nothing | Access::Harness => self.by_rules(tool, None, None, Decision::Allow),
            Access::Anything => {
                let why = tool.known();
                let why = why.unwrap_or("nobody knows what this tool changes");
                self.by_rules(tool, None, None, Decision::Ask(why.to_owned()))
            }
        };
        match (decision, tool.reason_to_ask(call)) {
            (Decision::Allow | Decision::Ask(_), Some(why)) => (Decision::Ask(why), None),
            (Decision::Allow, None) if self.is_blind => {
                let why =
                    format!("{SETTINGS_FILE} cannot be read, so nobody knows what it forbids");
                (Decision::Ask(why), None)
            }
            (decision, _) => (decision, always),
        }
    }

    fn decide_on_command(&self, tool: &Tool, command: &str) -> (Decision, Option<String>) {
        let root = self.ws.root();
        match judge(command, root) {
            Decision::Deny(why) => (Decision::Deny(why), None),
            otherwise => {
                let decided = self.by_rules(tool, Some(command), None, otherwise.clone());
                // No allow rule speaks for what decides what runs later.
                let file = names_guarded(command).filter(|_| otherwise != Decision::Allow);
                match (decided, file) {
                    ((Decision::Allow, _), Some(file)) => {
                        (Decision::Ask(format!("{file} {GUARDED}")), None)
                    }
                    ((Decision::Ask(why), _), Some(file)) => {
                        (Decision::Ask(format!("{why}; {file} {GUARDED}")), None)
                    }
                    (decided, _) => decided,
                }
            }
        }
    }

    fn decide_on_file(&self, tool: &Tool, path: &Path) -> (Decision, Option<String>) {
        let shown = self.ws.shown(path);
        let writes = tool.touches() == Access::FileToWrite;
        let inside = path.strip_prefix(self.ws.root()).unwrap_or(path);
        let why = if writes && is_guarded(inside) {
            format!("{shown} {GUARDED}")
        } else if is_secret_or_endless(path) {
            format!("{shown} is a device or holds what other programs know")
        } else {
            return self.by_rules(tool, None, Some(path), Decision::Allow);
        };
        match self.by_rules(tool, None, Some(path), Decision::Allow) {
            (Decision::Deny(why), _) => (Decision::Deny(why), None),
            (Decision::Allow | Decision::Ask(_), _) => (Decision::Ask(why), None),
        }
    }

    /// Deny rules, allow rules, ask rules; else what the defaults say.
    fn by_rules(
        &self,
        tool: &Tool,
        command: Option<&str>,
        path: Option<&Path>,
        otherwise: Decision,
    ) -> (Decision, Option<String>) {
        let rules = self.rules.lock().unwrap();
        let call = Call {
            tool: tool.name(),
            command,
            path,
            root: self.ws.root(),
        };
        match (rules.decide(&call), otherwise) {
            (Some(decision), _) => (decision, None),
            (None, Decision::Ask(why)) => {
                let open = command.map(|command| rules.open_parts(&call, &Line::parse(command)));
                let why = open.map_or(why, |open| not_known(&open));
                (Decision::Ask(why), rules.session_rule(&call))
            }
            (None, otherwise) => (otherwise, None),
        }
    }
}

/// Why a file is not written without a question.
const GUARDED: &str = "decides what is allowed or what runs later";

/// The guarded file that a command line names, if any.
fn names_guarded(command: &str) -> Option<String> {
    let line = Line::parse(command);
    let mut commands = line.commands.iter();
    commands.find_map(|command| {
        let targets = command.redirects.iter().map(|redirect| &redirect.target);
        let mut words = command.args().iter().chain(targets);
        // To git, HEAD is a commit.
        let is_commit = |word: &Word| word.text == "HEAD" && command.name() == Some("git");
        let word = words.find(|word| is_guarded(Path::new(&word.text)) && !is_commit(word))?;
        Some(word.shown())
    })
}

/// What the model reads when a call is denied.
fn denied(why: &str) -> String {
    format!("permission denied: {why}. Do not try to get there another way; tell the user.")
}

/// The call as a user must see it before a yes: all of its input, with line breaks as they are, and the command
/// that it runs when the input does not hold it.
fn shown(tool: &Tool, call: &ToolCall) -> String {
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let command = call.input.get("command").map(text);
    let mut lines = match (&command, call.input.as_object()) {
        (Some(command), Some(fields)) if fields.len() == 1 => vec![command.clone()],
        (_, Some(fields)) => {
            let lines = fields
                .iter()
                .rev()
                .map(|(name, value)| format!("{name}: {}", text(value)));
            lines.collect()
        }
        (_, None) => vec![call.input.to_string()],
    };
    let runs = tool.shell_command(call);
    let runs = runs.filter(|runs| command.as_ref() != Some(runs));
    lines.extend(runs.map(|runs| format!("runs: {runs}")));
    format!(
        "  {}",
        without_gaps(&lines.join("\n")).replace('\n', "\n  ")
    )
}

/// The text with each run of empty lines as one that counts them, so that none pushes a part of it off the screen.
fn without_gaps(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut empty = 0;
    for line in text.lines() {
        empty = if line.trim().is_empty() { empty + 1 } else { 0 };
        if empty > 1 {
            lines.pop();
        }
        lines.push(match empty {
            0 => line.to_owned(),
            1 => String::new(),
            more => format!("({more} empty lines)"),
        });
    }
    lines.join("\n")
}

/// Whether the disk takes `Key` and `key` for one name, as macOS does: the workspace is found under another spelling.
fn ignores_case(root: &Path) -> bool {
    let spelled = root.to_string_lossy();
    let other: String = spelled
        .chars()
        .map(|c| {
            if c.is_lowercase() {
                c.to_ascii_uppercase()
            } else {
                c.to_ascii_lowercase()
            }
        })
        .collect();
    let identity = |path: &Path| {
        fs::metadata(path)
            .ok()
            .map(|found| (found.dev(), found.ino()))
    };
    let own = identity(root);
    other != spelled && own.is_some() && own == identity(Path::new(&other))
}

/// Opens the directories that the settings name, and says what is wrong with the others.
fn allow_directories(ws: &Workspace, settings: &Value) -> Vec<String> {
    let Some(directories) = settings.pointer("/permissions/additionalDirectories") else {
        return Vec::new();
    };
    match serde_json::from_value::<Vec<PathBuf>>(directories.clone()) {
        Ok(directories) => {
            let opened = directories
                .iter()
                .map(|directory| ws.allow_directory(directory));
            opened
                .filter_map(Result::err)
                .map(|error| format!("{error:#}"))
                .collect()
        }
        Err(_) => vec![format!(
            "permissions.additionalDirectories in {SETTINGS_FILE} is no list of paths"
        )],
    }
}

//! The policy: may this call run?
//!
//! The order is fixed: what is fatal, deny rules, allow rules, ask rules, then what the tool touches. Reading is allowed,
//! writing is allowed inside the workspace, a command is allowed when all of its parts are known to only read, and
//! anything else is asked. A file that the tool cannot reach is denied at once, and one that decides what runs later is asked
//! about in spite of allow rules. Invariant: a call that the policy does not understand is never allowed in silence.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use s01_loop::{Answer, ToolCall};
use s02_tools::{Tool, Toolbox, Touches, Workspace};
use serde_json::Value;

use crate::ask::Ask;
use crate::known::{Judgement, judge, steers_programs};
use crate::rules::{Call, Decision, Rules};
use crate::settings::{SETTINGS_FILE, read_settings};

/// What the policy says to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may run.
    Allow,
    /// It may not, for this reason, which is told to the model.
    Deny(String),
}

/// Decides which calls run. Clones share rules and the user's answers.
#[derive(Clone)]
pub struct Policy {
    ws: Workspace,
    /// A std lock: nothing is awaited while it is held.
    rules: Arc<Mutex<Rules>>,
    ask: Arc<dyn Ask>,
    /// One question at a time: an "always" may answer the next question before it is put.
    question: Arc<tokio::sync::Mutex<()>>,
    /// The settings file cannot be read: nobody knows what it forbids.
    is_blind: bool,
}

/// What the rules and the defaults say, before anybody is asked.
enum Ruling {
    Allow,
    Deny(String),
    Ask { why: String, always: Option<String> },
}

impl Policy {
    /// The policy of this workspace: its settings file, and this one to ask. What is wrong in the settings is told.
    pub fn open(ws: &Workspace, ask: impl Ask + 'static) -> Self {
        let settings = read_settings(ws)
            .map_err(|error| ask.tell(&format!("{error:#}")))
            .ok();
        let is_blind = settings.is_none();
        let settings = settings.unwrap_or_default();
        let (rules, complaints) = Rules::parse(&settings);
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
    pub fn asking(&self, ask: impl Ask + 'static) -> Self {
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
    pub async fn check(&self, tools: &Toolbox, call: &ToolCall) -> Verdict {
        let Some(tool) = tools.get(&call.name) else {
            // Nothing can run; the toolbox tells the model which tools there are.
            return Verdict::Allow;
        };
        if let Some(verdict) = self.settled(tool, call) {
            return verdict;
        }
        let _asking = self.question.lock().await;
        match self.rule(tool, call) {
            Ruling::Allow => Verdict::Allow,
            Ruling::Deny(why) => Verdict::Deny(why),
            Ruling::Ask { why, always } => self.put_question(tool, call, &why, always).await,
        }
    }

    /// The verdict when nobody needs to be asked.
    fn settled(&self, tool: &Tool, call: &ToolCall) -> Option<Verdict> {
        match self.rule(tool, call) {
            Ruling::Allow => Some(Verdict::Allow),
            Ruling::Deny(why) => Some(Verdict::Deny(why)),
            Ruling::Ask { .. } => None,
        }
    }

    async fn put_question(
        &self,
        tool: &Tool,
        call: &ToolCall,
        why: &str,
        always: Option<String>,
    ) -> Verdict {
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
            Answer::Yes => Verdict::Allow,
            Answer::Always => {
                if let Some(rule) = always {
                    self.rules.lock().unwrap().allow_for_session(&rule);
                }
                Verdict::Allow
            }
            Answer::No(reason) => Verdict::Deny(denied(&reason.to_string())),
        }
    }

    fn rule(&self, tool: &Tool, call: &ToolCall) -> Ruling {
        match (self.rule_on(tool, call), tool.reason_to_ask(call)) {
            (Ruling::Allow | Ruling::Ask { .. }, Some(why)) => Ruling::Ask { why, always: None },
            (Ruling::Allow, None) if self.is_blind => Ruling::Ask {
                why: format!("{SETTINGS_FILE} cannot be read, so nobody knows what it forbids"),
                always: None,
            },
            (ruling, _) => ruling,
        }
    }

    fn rule_on(&self, tool: &Tool, call: &ToolCall) -> Ruling {
        let argument = |name: &str| call.input.get(name).and_then(Value::as_str);
        match tool.touches() {
            Touches::Command => match tool.shell_command(call) {
                Some(command) => self.rule_on_command(tool, &command),
                // Nothing is run: an argument is missing, which the tool names, or there is nothing to start.
                None => self.by_rules(tool, None, None, Ruling::Allow),
            },
            Touches::FileToRead | Touches::FileToWrite => {
                match argument("path").map(|path| self.ws.resolve(path)) {
                    Some(Ok(path)) => self.rule_on_file(tool, &path),
                    Some(Err(error)) => Ruling::Deny(denied(&format!("{error:#}"))),
                    None => Ruling::Allow,
                }
            }
            Touches::Nothing | Touches::Harness => self.by_rules(tool, None, None, Ruling::Allow),
            Touches::Anything => {
                let why = tool
                    .known()
                    .unwrap_or("nobody knows what this tool changes");
                let why = why.to_owned();
                let always = Some(tool.name().to_owned());
                self.by_rules(tool, None, None, Ruling::Ask { why, always })
            }
        }
    }

    fn rule_on_command(&self, tool: &Tool, command: &str) -> Ruling {
        let otherwise = match judge(command) {
            Judgement::Fatal(why) => return Ruling::Deny(denied(&why)),
            Judgement::ReadOnly => Ruling::Allow,
            Judgement::Ask(why) => Ruling::Ask { why, always: None },
        };
        self.by_rules(tool, Some(command), None, otherwise)
    }

    fn rule_on_file(&self, tool: &Tool, path: &Path) -> Ruling {
        let writes = tool.touches() == Touches::FileToWrite;
        let guarded = self.guarded(path).filter(|_| writes);
        match (
            self.by_rules(tool, None, Some(path), Ruling::Allow),
            guarded,
        ) {
            (Ruling::Deny(why), _) => Ruling::Deny(why),
            // No allow rule speaks for these files: whoever writes them takes permissions.
            (Ruling::Allow | Ruling::Ask { .. }, Some(why)) => Ruling::Ask {
                why: why.to_owned(),
                always: None,
            },
            (ruling, None) => ruling,
        }
    }

    /// Why a file inside the workspace is not to be written without a question. Some disks do not tell `.git` from
    /// `.GIT`, so neither does this.
    fn guarded(&self, path: &Path) -> Option<&'static str> {
        let lower = |path: &Path| PathBuf::from(path.to_string_lossy().to_lowercase());
        let inside = path.strip_prefix(self.ws.root()).unwrap_or(path);
        if lower(path) == lower(&self.ws.state(SETTINGS_FILE)) {
            Some("this file holds the permissions and hooks themselves")
        } else if steers_programs(inside) || steers_programs(&lower(inside)) {
            Some("git or cargo runs what is written there, also when they are only asked to read")
        } else {
            None
        }
    }

    /// Deny rules, allow rules, ask rules; else what the defaults say.
    fn by_rules(
        &self,
        tool: &Tool,
        command: Option<&str>,
        path: Option<&Path>,
        otherwise: Ruling,
    ) -> Ruling {
        let rules = self.rules.lock().unwrap();
        let call = Call {
            tool: tool.name(),
            command,
            path,
            root: self.ws.root(),
        };
        let always = || rules.session_rule(&call);
        match (rules.decide(&call), otherwise) {
            (Some(Decision::Deny(rule)), _) => {
                Ruling::Deny(denied(&format!("the rule {rule} forbids it")))
            }
            (Some(Decision::Allow(_)), _) => Ruling::Allow,
            (Some(Decision::Ask(rule)), _) => Ruling::Ask {
                why: format!("the rule {rule} wants it to be asked"),
                always: None,
            },
            (None, Ruling::Ask { why, always: None }) => Ruling::Ask {
                why: match rules.open_part(&call) {
                    Some(part) if !why.contains(&part) => {
                        format!("`{part}` is not known to only read")
                    }
                    _ => why,
                },
                always: always(),
            },
            (None, otherwise) => otherwise,
        }
    }
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
    format!("  {}", lines.join("\n").replace('\n', "\n  "))
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

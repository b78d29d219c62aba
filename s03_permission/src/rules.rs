//! The user's rules: `Tool(pattern)` in settings.json, as in Claude Code.
//!
//! `deny` and `ask` hit when any part of a call matches; `allow` holds only when the rules cover every part.
//! Invariants: a rule that cannot be read is told and left out, and the others stay; an allow rule that leaves something
//! open (`:*`, `*`) never covers a part that is not understood, writes a file by a redirect, or has a name that only the
//! running shell knows. One that is a whole command line speaks for that line, whatever it does.

use std::path::Path;

use serde_json::Value;

use crate::known::{command_only_reads, surroundings_only_read, trusts_directory};
use crate::shell::{Command, Line};
use pattern::{CommandPattern, FilePattern, Pattern};

mod pattern;

/// The rules of one session.
#[derive(Debug, Default)]
pub struct Rules {
    deny: Vec<Rule>,
    allow: Vec<Rule>,
    ask: Vec<Rule>,
}

/// What the rules say to a call, with the rule that says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It must not run.
    Deny(String),
    /// It may run without a question.
    Allow(String),
    /// The user is to be asked.
    Ask(String),
}

/// A call as the rules see it.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// The command line, for a tool that runs one.
    pub command: Option<&'a str>,
    /// The file, for the file tools: absolute, links resolved.
    pub path: Option<&'a Path>,
    /// The workspace, which relative patterns start from: absolute, links resolved.
    pub root: &'a Path,
}

/// One rule.
#[derive(Debug)]
struct Rule {
    /// As the user wrote it.
    shown: String,
    /// The tools it speaks of, in small letters; a `*` at the end stands for anything.
    tools: Vec<String>,
    pattern: Pattern,
}

/// What `permissions` may hold.
const FIELDS: [&str; 4] = ["deny", "allow", "ask", "additionalDirectories"];

impl Rules {
    /// Reads `permissions.deny`, `.allow` and `.ask`. Also returns one sentence for each rule that cannot be read.
    pub fn parse(settings: &Value) -> (Self, Vec<String>) {
        let mut rules = Self::default();
        let mut complaints = Vec::new();
        let lists = [
            ("deny", &mut rules.deny),
            ("allow", &mut rules.allow),
            ("ask", &mut rules.ask),
        ];
        for (name, list) in lists {
            let Some(written) = settings.pointer(&format!("/permissions/{name}")) else {
                continue;
            };
            let Some(written) = written.as_array() else {
                complaints.push(format!(
                    "permissions.{name} in the settings is no list of rules; it is left out"
                ));
                continue;
            };
            for rule in written {
                let parsed = rule
                    .as_str()
                    .ok_or_else(|| "a rule is a text such as \"bash(ls:*)\"".to_string());
                match parsed.and_then(|rule| Rule::parse(rule, name == "allow")) {
                    Ok(rule) => list.push(rule),
                    Err(why) => {
                        complaints.push(format!("the {name} rule {rule} is left out: {why}"))
                    }
                }
            }
        }
        let fields = settings["permissions"].as_object().into_iter().flatten();
        let unknown = fields.filter(|(name, _)| !FIELDS.contains(&name.as_str()));
        complaints.extend(unknown.map(|(name, _)| {
            format!(
                "permissions.{name} in the settings means nothing; known are {}",
                FIELDS.join(", ")
            )
        }));
        (rules, complaints)
    }

    /// The first part of a command that neither an allow rule nor its nature lets through.
    pub fn open_part(&self, call: &Call) -> Option<String> {
        let line = Line::parse(call.command?);
        let covers = |command: &Command| {
            let mut rules = self.allow.iter().filter(|rule| rule.speaks_of(call.tool));
            rules.any(|rule| rule.covers(command))
        };
        let open = line
            .commands
            .iter()
            .find(|command| !covers(command) && command_only_reads(command).is_err());
        open.filter(|_| line.doubts.is_empty()).map(Command::text)
    }

    /// What the rules say to a call: deny before allow before ask; `None` when no rule speaks of it.
    pub fn decide(&self, call: &Call) -> Option<Decision> {
        let line = call.command.map(Line::parse);
        let line = line.as_ref();
        let hit = |rules: &[Rule]| {
            rules
                .iter()
                .find(|rule| rule.hits(call, line))
                .map(|rule| rule.shown.clone())
        };
        hit(&self.deny)
            .map(Decision::Deny)
            .or_else(|| self.allowing(call, line).map(Decision::Allow))
            .or_else(|| hit(&self.ask).map(Decision::Ask))
    }

    /// The rule that an answer "always" makes of a call; `None` when none would help.
    pub fn session_rule(&self, call: &Call) -> Option<String> {
        let pattern = match (call.command, call.path) {
            (Some(command), _) => CommandPattern::for_session(command),
            (None, Some(path)) => FilePattern::for_session(path.parent()?, call.root),
            (None, None) => return Some(call.tool.to_string()),
        };
        Some(format!("{}({pattern})", call.tool))
    }

    /// Adds a rule of [`Rules::session_rule`] to the allow rules.
    pub fn allow_for_session(&mut self, rule: &str) {
        // What `session_rule` writes can be read; another text allows nothing, and the question comes again.
        self.allow.extend(Rule::parse(rule, true));
    }

    /// The first of the allow rules that together cover a call.
    fn allowing(&self, call: &Call, line: Option<&Line>) -> Option<String> {
        let rules = || self.allow.iter().filter(|rule| rule.speaks_of(call.tool));
        let whole = rules().find(|rule| match &rule.pattern {
            Pattern::All => true,
            Pattern::Command(pattern) => {
                call.command.is_some_and(|command| pattern.is_line(command))
            }
            Pattern::Files(pattern) => call
                .path
                .is_some_and(|path| pattern.matches(path, call.root)),
        });
        if let Some(rule) = whole {
            return Some(rule.shown.clone());
        }
        let line = line.filter(|line| line.doubts.is_empty())?;
        let covering = |command: &Command| rules().find(|rule| rule.covers(command));
        let reads = |command: &Command| {
            command_only_reads(command).is_ok() && !trusts_directory(command, line)
        };
        let covered = line
            .commands
            .iter()
            .all(|command| covering(command).is_some() || reads(command));
        let first = line.commands.iter().find_map(covering);
        first.filter(|_| covered).map(|rule| rule.shown.clone())
    }
}

impl Rule {
    fn parse(rule: &str, allows: bool) -> Result<Self, String> {
        let rule = rule.trim();
        let (tool, pattern) = match rule.split_once('(') {
            None => (rule, None),
            Some((tool, rest)) => (
                tool,
                Some(
                    rest.strip_suffix(')')
                        .ok_or("its closing bracket is missing")?,
                ),
            ),
        };
        let tool = tool.trim().to_lowercase();
        if tool.is_empty()
            || !tool
                .chars()
                .all(|c| c.is_alphanumeric() || "_-*".contains(c))
        {
            return Err("it does not begin with the name of a tool".to_string());
        }
        let tools = tool_names(&tool);
        let pattern = match pattern {
            None | Some("" | "*") => Pattern::All,
            Some(pattern) if COMMAND_TOOLS.contains(&tools[0].as_str()) => {
                Pattern::Command(CommandPattern::parse(pattern, allows)?)
            }
            Some(pattern) if FILE_TOOLS.contains(&tools[0].as_str()) => {
                Pattern::Files(FilePattern::parse(pattern)?)
            }
            Some(_) => {
                return Err(format!(
                    "only {} take a pattern in brackets",
                    [COMMAND_TOOLS, FILE_TOOLS].concat().join(", ")
                ));
            }
        };
        Ok(Self {
            shown: rule.to_string(),
            tools,
            pattern,
        })
    }

    fn speaks_of(&self, tool: &str) -> bool {
        speak_of(&self.tools, tool)
    }

    /// Whether a deny or ask rule hits any part of the call.
    fn hits(&self, call: &Call, line: Option<&Line>) -> bool {
        self.speaks_of(call.tool)
            && match &self.pattern {
                Pattern::All => true,
                Pattern::Files(pattern) => call
                    .path
                    .is_some_and(|path| pattern.matches(path, call.root)),
                Pattern::Command(pattern) => {
                    let part =
                        |line: &Line| line.commands.iter().any(|command| pattern.hits(command));
                    call.command.is_some_and(|command| pattern.is_line(command))
                        || line.is_some_and(part)
                }
            }
    }

    /// Whether an allow rule covers one simple command.
    fn covers(&self, command: &Command) -> bool {
        match &self.pattern {
            Pattern::All => true,
            Pattern::Command(pattern) => {
                pattern.covers(command, surroundings_only_read(command).is_ok())
            }
            Pattern::Files(_) => false,
        }
    }
}

/// The tools whose patterns are commands: bash, and the one that starts the servers of s19.
const COMMAND_TOOLS: &[&str] = &["bash", "connect_mcp"];
/// The tools whose patterns are files. glob names no file, so a pattern would never match a call of it.
const FILE_TOOLS: &[&str] = &["read_file", "write_file", "edit_file"];

/// Whether a name in the settings means this tool: in any case, also by Claude Code's names, with a `*` at its end.
pub fn means_tool(name: &str, tool: &str) -> bool {
    speak_of(&tool_names(&name.to_lowercase()), tool)
}

/// The tools that a name in lower case stands for.
fn tool_names(name: &str) -> Vec<String> {
    match name {
        // Claude Code's names, which speak of all tools that read or edit.
        "read" => vec!["read_file".into(), "glob".into()],
        "edit" => vec!["edit_file".into(), "write_file".into()],
        "write" => vec!["write_file".into()],
        // The name of a server stands for all of its tools.
        name if name.starts_with("mcp__") && name.matches("__").count() == 1 => {
            vec![name.into(), format!("{name}__*")]
        }
        name => vec![name.into()],
    }
}

fn speak_of(names: &[String], tool: &str) -> bool {
    let tool = tool.to_lowercase();
    names.iter().any(|name| match name.strip_suffix('*') {
        Some(start) => tool.starts_with(start),
        None => *name == tool,
    })
}

//! The user's rules: `Tool(pattern)` in settings.json, as in Claude Code.
//!
//! `deny` and `ask` hit when any part of a call matches; `allow` holds only when the rules cover every part.
//! Invariants: a rule that cannot be read is told and left out, and the others stay; an allow rule that leaves something
//! open (`:*`, `*`) never covers a part that is more than plain words or writes a file by a redirect. One that is a whole
//! command line speaks for that line, whatever it does.

use std::path::Path;

use serde_json::Value;

use crate::fatal::{is_carrier, may_run};
use crate::known::{quoted, redirects_only_read, unread};
use crate::policy::Decision;
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
    /// On a disk that does not tell `Key` from `key`, `any_case` lets deny and ask rules for files hit both.
    pub fn parse(settings: &Value, any_case: bool) -> (Self, Vec<String>) {
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
                let text = rule.as_str();
                let text = text.ok_or_else(|| "a rule is a text such as \"bash(ls:*)\"".to_owned());
                match text.and_then(|text| Rule::parse(text, any_case && name != "allow")) {
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
            let known = FIELDS.join(", ");
            format!("permissions.{name} in the settings means nothing; known are {known}")
        }));
        (rules, complaints)
    }

    /// What the rules say to a call: deny before allow before ask; `None` when no rule speaks of it.
    pub fn decide(&self, call: &Call) -> Option<Decision> {
        let line = call.command.map(Line::parse);
        let line = line.as_ref();
        let hit = |rules: &[Rule]| {
            let rule = rules.iter().find(|rule| rule.hits(call, line));
            rule.map(|rule| rule.shown.clone())
        };
        if let Some(rule) = hit(&self.deny) {
            return Some(Decision::Deny(format!("the rule {rule} forbids it")));
        }
        if let Some(why) = line.and_then(|line| self.unclear(call, line)) {
            return Some(Decision::Ask(why));
        }
        if self.allows(call, line) {
            return Some(Decision::Allow);
        }
        let rule = hit(&self.ask)?;
        Some(Decision::Ask(format!(
            "the rule {rule} wants it to be asked"
        )))
    }

    /// The parts of a command that no allow rule covers and that are not known to read.
    pub fn open_parts(&self, call: &Call, line: &Line) -> Vec<String> {
        unread(line, call.root, |command| self.covers(call, command))
    }

    /// The rule that an answer "always" makes of a call.
    pub fn session_rule(&self, call: &Call) -> Option<String> {
        let pattern = match (call.command, call.path) {
            (Some(command), _) => CommandPattern::for_session(command, call.root),
            (None, Some(path)) => FilePattern::for_session(path.parent()?, call.root),
            (None, None) => return Some(call.tool.to_string()),
        };
        Some(format!("{}({pattern})", call.tool))
    }

    /// Adds a rule of [`Rules::session_rule`] to the allow rules.
    pub fn allow_for_session(&mut self, rule: &str) {
        // What `session_rule` writes can be read; another text allows nothing, and the question comes again.
        self.allow.extend(Rule::parse(rule, false));
    }

    /// Names the parts in which a deny rule for commands cannot be looked for: what is more than plain words, and what
    /// runs another command.
    fn unclear(&self, call: &Call, line: &Line) -> Option<String> {
        let forbids =
            |rule: &&Rule| rule.speaks_of(call.tool) && matches!(rule.pattern, Pattern::Command(_));
        let rule = self.deny.iter().find(forbids)?;
        let carries = |command: &&Command| may_run(command).iter().any(is_carrier);
        let carriers = line.commands.iter().filter(carries);
        let mut parts = line.doubts.clone();
        parts.extend(carriers.map(Command::full_text));
        (!parts.is_empty()).then(|| {
            let (rule, parts) = (&rule.shown, quoted(&parts));
            format!("the rule {rule} may forbid what only the running shell knows: {parts}")
        })
    }

    /// Whether the allow rules let a call run.
    fn allows(&self, call: &Call, line: Option<&Line>) -> bool {
        let mut rules = self.allow.iter().filter(|rule| rule.speaks_of(call.tool));
        let whole = rules.any(|rule| match &rule.pattern {
            Pattern::All => true,
            Pattern::Command(pattern) => call.command.is_some_and(|line| pattern.is_line(line)),
            Pattern::Files(pattern) => call
                .path
                .is_some_and(|path| pattern.matches(path, call.root)),
        });
        let part = |line: &Line| {
            let mut commands = line.commands.iter();
            commands.any(|command| self.covers(call, command))
                && self.open_parts(call, line).is_empty()
        };
        whole || line.is_some_and(part)
    }

    /// Whether an allow rule covers one simple command.
    fn covers(&self, call: &Call, command: &Command) -> bool {
        let mut rules = self.allow.iter().filter(|rule| rule.speaks_of(call.tool));
        rules.any(|rule| match &rule.pattern {
            Pattern::All => true,
            Pattern::Command(pattern) => pattern.covers(command, redirects_only_read(command)),
            Pattern::Files(_) => false,
        })
    }
}

impl Rule {
    fn parse(rule: &str, any_case: bool) -> Result<Self, String> {
        let rule = rule.trim();
        let (tool, pattern) = match rule.split_once('(') {
            None => (rule, None),
            Some((tool, rest)) => {
                let pattern = rest.strip_suffix(')');
                (tool, Some(pattern.ok_or("its closing bracket is missing")?))
            }
        };
        let tool = tool.trim().to_lowercase();
        let is_name = |c: char| c.is_alphanumeric() || "_-*".contains(c);
        if tool.is_empty() || !tool.chars().all(is_name) {
            return Err("it does not begin with the name of a tool".to_string());
        }
        let tools = tool_names(&tool);
        let pattern = match pattern {
            None | Some("" | "*") => Pattern::All,
            Some(pattern) if COMMAND_TOOLS.contains(&tools[0].as_str()) => {
                Pattern::Command(CommandPattern::parse(pattern)?)
            }
            Some(pattern) if FILE_TOOLS.contains(&tools[0].as_str()) => {
                Pattern::Files(FilePattern::parse(pattern, any_case)?)
            }
            Some(_) => {
                return Err(format!(
                    "only {} take a pattern in brackets",
                    [COMMAND_TOOLS, FILE_TOOLS].concat().join(", ")
                ));
            }
        };
        let shown = rule.to_string();
        Ok(Self {
            shown,
            tools,
            pattern,
        })
    }

    fn speaks_of(&self, tool: &str) -> bool {
        speak_of(&self.tools, tool)
    }

    /// Whether a deny or ask rule hits any part of the call.
    fn hits(&self, call: &Call, line: Option<&Line>) -> bool {
        let part = |pattern: &CommandPattern, line: &Line| {
            let mut run = line.commands.iter().flat_map(may_run);
            run.any(|command| pattern.hits(&command))
        };
        self.speaks_of(call.tool)
            && match &self.pattern {
                Pattern::All => true,
                Pattern::Files(pattern) => call
                    .path
                    .is_some_and(|path| pattern.matches(path, call.root)),
                Pattern::Command(pattern) => {
                    call.command.is_some_and(|line| pattern.is_line(line))
                        || line.is_some_and(|line| part(pattern, line))
                }
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

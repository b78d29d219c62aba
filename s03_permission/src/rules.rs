//! The user's rules: `Tool(pattern)` in settings.json, as in Claude Code.
//!
//! `deny` and `ask` hit when any part of a call matches; `allow` holds only when the rules cover every part.
//! Invariants: a rule that cannot be read is told and left out, and the others stay; an allow rule that leaves something
//! open (`:*`, `*`) never covers a part that is more than plain words or writes a file by a redirect. One that is a whole
//! command line speaks for that line, whatever it does.

use std::path::Path;

use serde_json::Value;

use crate::fatal::{is_wrapper, may_run};
use crate::known::{by_default, unread};
use crate::policy::Decision;
use crate::shell::{Command, Line};
use pattern::Pattern;

mod pattern;

/// The rules of one session.
#[derive(Debug, Default)]
pub struct Rules {
    deny: Vec<Rule>,
    allow: Vec<Rule>,
    ask: Vec<Rule>,
}

/// A call as the rules see it.
#[derive(Debug)]
pub struct Call<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// The command line, for a tool that runs one.
    pub line: Option<Line>,
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
/// The tools whose patterns are commands: bash, and the one that starts the servers of s19.
const COMMAND_TOOLS: [&str; 2] = ["bash", "connect_mcp"];
/// The tools whose patterns are files. glob names no file, so a pattern would never match a call of it.
const FILE_TOOLS: [&str; 3] = ["read_file", "write_file", "edit_file"];

impl Rules {
    /// Reads `permissions.deny`, `.allow` and `.ask`. Also returns one sentence for each rule that cannot be read.
    pub fn parse(settings: &Value) -> (Self, Vec<String>) {
        let mut rules = Self::default();
        let mut complaints = Vec::new();
        for (name, value) in settings["permissions"].as_object().into_iter().flatten() {
            let list = match name.as_str() {
                "deny" => &mut rules.deny,
                "allow" => &mut rules.allow,
                "ask" => &mut rules.ask,
                _ => {
                    let is_known = FIELDS.contains(&name.as_str());
                    complaints.extend((!is_known).then(|| {
                        let known = FIELDS.join(", ");
                        format!(
                            "permissions.{name} in the settings means nothing; known are {known}"
                        )
                    }));
                    continue;
                }
            };
            let written = value.as_array();
            if written.is_none() {
                complaints.push(format!(
                    "permissions.{name} in the settings is no list of rules; it is left out"
                ));
            }
            for rule in written.into_iter().flatten() {
                match Rule::parse(rule.as_str().unwrap_or_default(), name != "allow") {
                    Ok(rule) => list.push(rule),
                    Err(why) => {
                        complaints.push(format!("the {name} rule {rule} is left out: {why}"))
                    }
                }
            }
        }
        (rules, complaints)
    }

    /// Decides on a call: deny rules before allow rules before ask rules, else what the default says. Where nothing but the
    /// default asks, an answer "always" makes the rule that comes with it.
    pub fn decide(&self, call: &Call, default: Decision) -> (Decision, Option<String>) {
        let hit = |rules: &[Rule]| {
            let rule = rules.iter().find(|rule| rule.hits(call));
            rule.map(|rule| rule.shown.clone())
        };
        let covers = |command: &Command| {
            self.allow_rules(call.tool)
                .any(|pattern| pattern.covers(command))
        };
        let unread = call
            .line
            .as_ref()
            .map(|line| unread(line, call.root, covers));
        let all_read = unread.as_ref().is_some_and(Vec::is_empty);
        let mut commands = call.line.iter().flat_map(|line| &line.commands);
        let mut allowing = self.allow_rules(call.tool);
        let decision = if let Some(rule) = hit(&self.deny) {
            Decision::Deny(format!("the rule {rule} forbids it"))
        } else if let Some(rule) = self.unclear(call) {
            Decision::Ask(format!(
                "the rule {rule} may forbid what only the running shell knows"
            ))
        } else if allowing.any(|pattern| pattern.is_call(call))
            || (all_read && commands.any(covers))
        {
            Decision::Allow
        } else if let Some(rule) = hit(&self.ask) {
            Decision::Ask(format!("the rule {rule} wants it to be asked"))
        } else {
            let always = || match &call.line {
                Some(line) => format!("{}({})", call.tool, pattern::of_line(line, call.root)),
                None => call.tool.to_owned(),
            };
            let decision = unread.map_or(default, |parts| by_default(&parts));
            let asks = matches!(decision, Decision::Ask(_));
            return (decision, asks.then(always));
        };
        (decision, None)
    }

    /// Adds a rule to the allow rules. One that cannot be read allows nothing, and the question comes again.
    pub fn allow_for_session(&mut self, rule: &str) {
        self.allow.extend(Rule::parse(rule, false));
    }

    /// The deny rule for commands that cannot be looked for in a line: it is more than plain words, or runs another command.
    fn unclear(&self, call: &Call) -> Option<&str> {
        let line = call.line.as_ref()?;
        let wraps = |command: &Command| may_run(command).iter().any(is_wrapper);
        let mut rules = self.deny.iter().filter(|rule| rule.speaks_of(call.tool));
        let rule = rules.find(|rule| matches!(rule.pattern, Pattern::Command { .. }))?;
        (line.unsupported || line.commands.iter().any(wraps)).then_some(&rule.shown)
    }

    fn allow_rules(&self, tool: &str) -> impl Iterator<Item = &Pattern> {
        let rules = self.allow.iter().filter(move |rule| rule.speaks_of(tool));
        rules.map(|rule| &rule.pattern)
    }
}

impl Rule {
    /// Reads a rule; one that forbids or asks hits in more spellings than one that allows.
    fn parse(rule: &str, forbids: bool) -> Result<Self, String> {
        let shown = rule.trim().to_owned();
        let (tool, pattern) = match shown.split_once('(') {
            None => (shown.as_str(), "*"),
            Some((tool, rest)) => (
                tool,
                rest.strip_suffix(')')
                    .ok_or("its closing bracket is missing")?,
            ),
        };
        let tool = tool.trim().to_lowercase();
        let is_name = |c: char| c.is_alphanumeric() || "_-*".contains(c);
        if tool.is_empty() || !tool.chars().all(is_name) {
            return Err(
                "a rule is a text that begins with the name of a tool, such as \"bash(ls:*)\""
                    .to_owned(),
            );
        }
        let tools = tool_names(&tool);
        let first = tools[0].as_str();
        let pattern = match pattern {
            "" | "*" => Pattern::All,
            _ if COMMAND_TOOLS.contains(&first) => Pattern::command(pattern, forbids)?,
            _ if FILE_TOOLS.contains(&first) => Pattern::files(pattern, forbids)?,
            _ => {
                let tools = [&COMMAND_TOOLS[..], &FILE_TOOLS[..]].concat().join(", ");
                return Err(format!("only {tools} take a pattern in brackets"));
            }
        };
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
    fn hits(&self, call: &Call) -> bool {
        let mut run = call
            .line
            .iter()
            .flat_map(|line| &line.commands)
            .flat_map(may_run);
        self.speaks_of(call.tool)
            && (self.pattern.is_call(call) || run.any(|command| self.pattern.means(&command)))
    }
}

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

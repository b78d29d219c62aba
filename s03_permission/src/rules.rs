//! The user's rules: `Tool(pattern)` in settings.json, as in Claude Code.
//!
//! `deny` and `ask` match when any part of a call matches; `allow` only when the rules cover every part.
//! Invariants: an invalid rule is reported and ignored, and the others stay; an allow rule with a wildcard (`:*`, `*`) never
//! covers a command that is not plain or that writes a file by a redirect. A rule that is a whole command line allows
//! exactly that line.

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
pub struct Rules(Vec<Rule>);

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

/// One rule: its text, its list, and the tools it applies to.
#[derive(Debug)]
struct Rule {
    shown: String,
    list: String,
    tools: Vec<String>,
    pattern: Pattern,
}

/// What `permissions` may hold: lists of rules, and of directories.
const LISTS: [&str; 4] = ["deny", "allow", "ask", "additionalDirectories"];
/// The tools whose patterns are commands, and those whose patterns are files. glob names no file.
const TOOLS: &str = "bash, connect_mcp, read_file, write_file, edit_file";

impl Rules {
    /// Parses `permissions.deny`, `.allow` and `.ask`. Also returns one sentence for each invalid rule.
    pub fn parse(settings: &Value) -> (Self, Vec<String>) {
        let (mut rules, mut complaints) = (Vec::new(), Vec::new());
        for (list, value) in settings["permissions"].as_object().into_iter().flatten() {
            let name = format!("permissions.{list} in the settings");
            match value.as_array() {
                _ if !LISTS.contains(&list.as_str()) => {
                    let known = LISTS.join(", ");
                    complaints.push(format!(
                        "{name} is unknown and ignored; the keys are {known}"
                    ));
                }
                _ if list == LISTS[3] => {}
                None => complaints.push(format!("{name} is not a list of rules and is ignored")),
                Some(written) => written.iter().for_each(|rule| {
                    match Rule::parse(list, rule.as_str().unwrap_or_default()) {
                        Ok(rule) => rules.push(rule),
                        Err(why) => {
                            complaints.push(format!("the {list} rule {rule} is ignored: {why}"))
                        }
                    }
                }),
            }
        }
        (Self(rules), complaints)
    }

    /// Decides on a call: deny rules, allow rules, ask rules, then the default. When only the default asks, the second value is
    /// the rule that "always" adds.
    pub fn decide(&self, call: &Call, default: Decision) -> (Decision, Option<String>) {
        let hit = |list: &str| {
            let mut rules = self.of(list, call.tool);
            Some(&rules.find(|rule| rule.hits(call))?.shown)
        };
        let covers = |command: &Command| {
            self.of("allow", call.tool)
                .any(|rule| rule.pattern.covers(command))
        };
        let unread = call
            .line
            .as_ref()
            .map(|line| unread(line, call.root, covers));
        let all_read = unread.as_ref().is_some_and(Vec::is_empty);
        let mut commands = call.line.iter().flat_map(|line| &line.commands);
        let allows = |rule: &Rule| rule.pattern.is_call(call);
        let decision = if let Some(rule) = hit("deny") {
            Decision::Deny(format!("the rule {rule} forbids it"))
        } else if let Some(rule) = self.unclear(call) {
            Decision::Ask(format!(
                "the rule {rule} may forbid a command that only the running shell knows"
            ))
        } else if self.of("allow", call.tool).any(allows) || (all_read && commands.any(covers)) {
            Decision::Allow
        } else if let Some(rule) = hit("ask") {
            Decision::Ask(format!("the rule {rule} says to ask"))
        } else {
            let decision = unread.map_or(default, |parts| by_default(&parts));
            let asks = matches!(decision, Decision::Ask(_));
            return (decision, asks.then(|| pattern::of_call(call)));
        };
        (decision, None)
    }

    /// Adds an allow rule. An invalid one is ignored, and the question comes again.
    pub fn allow_for_session(&mut self, rule: &str) {
        self.0.extend(Rule::parse("allow", rule));
    }

    /// A deny rule for commands, if the line may hide such a command: it is not plain, or runs another command.
    fn unclear(&self, call: &Call) -> Option<&str> {
        let line = call.line.as_ref()?;
        let wraps = |command: &Command| may_run(command).iter().any(is_wrapper);
        let mut rules = self.of("deny", call.tool);
        let rule = rules.find(|rule| matches!(rule.pattern, Pattern::Command(..)))?;
        (line.unsupported || line.commands.iter().any(wraps)).then_some(&rule.shown)
    }

    /// The rules of a list that apply to this tool.
    fn of(&self, list: &str, tool: &str) -> impl Iterator<Item = &Rule> {
        let rules = self.0.iter().filter(move |rule| rule.list == list);
        rules.filter(move |rule| speak_of(&rule.tools, tool))
    }
}

impl Rule {
    /// Parses a rule. A deny or ask rule matches more spellings than an allow rule.
    fn parse(list: &str, rule: &str) -> Result<Self, String> {
        let (shown, list) = (rule.trim().to_owned(), list.to_owned());
        let (tool, brackets) = shown.split_once('(').unwrap_or((&shown, "*)"));
        let pattern = brackets
            .strip_suffix(')')
            .ok_or("its closing bracket is missing")?;
        let tool = tool.trim().to_lowercase();
        let is_name = |c: char| c.is_alphanumeric() || "_-*".contains(c);
        if tool.is_empty() || !tool.chars().all(is_name) {
            return Err("a rule begins with the name of a tool, such as \"bash(ls:*)\"".to_owned());
        }
        let tools = tool_names(&tool);
        let kind = TOOLS.split(", ").position(|name| name == tools[0]);
        let pattern = match (pattern, kind) {
            ("" | "*", _) => Pattern::All,
            (pattern, Some(0..2)) => Pattern::command(pattern, list != "allow")?,
            (pattern, Some(_)) => Pattern::files(pattern, list != "allow")?,
            (_, None) => return Err(format!("only {TOOLS} take a pattern in brackets")),
        };
        Ok(Self {
            shown,
            list,
            tools,
            pattern,
        })
    }

    /// Whether a deny or ask rule matches any part of the call.
    fn hits(&self, call: &Call) -> bool {
        let commands = call.line.iter().flat_map(|line| &line.commands);
        let mut run = commands.flat_map(may_run);
        self.pattern.is_call(call) || run.any(|command| self.pattern.means(&command))
    }
}

/// Whether a name in the settings matches this tool. Case is ignored, a final `*` is a wildcard, Claude Code's names work.
pub fn means_tool(name: &str, tool: &str) -> bool {
    speak_of(&tool_names(&name.to_lowercase()), tool)
}

/// The tools that a lower-case name stands for: Claude Code's `read` and `edit` cover several, a server's name all of its
/// tools.
fn tool_names(name: &str) -> Vec<String> {
    let is_server = name.starts_with("mcp__") && name.matches("__").count() == 1;
    let of_server = format!("{name}__*");
    let names = match name {
        "read" => &["read_file", "glob"][..],
        "edit" => &["edit_file", "write_file"],
        "write" => &["write_file"],
        _ if is_server => &[name, &of_server],
        _ => &[name],
    };
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn speak_of(names: &[String], tool: &str) -> bool {
    let tool = tool.to_lowercase();
    names.iter().any(|name| match name.strip_suffix('*') {
        Some(start) => tool.starts_with(start),
        None => *name == tool,
    })
}

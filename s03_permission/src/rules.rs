//! The user's rules: `Tool(pattern)` in settings.json, as in Claude Code.
//!
//! `deny` and `ask` match when any part of a call matches; `allow` only when the rules cover every part.
//! Invariants: an invalid rule is reported and ignored, and the others stay; an allow rule with a wildcard (`:*`, `*`) never
//! covers a command that is not plain or that writes a file by a redirect. A rule that is a whole command line allows
//! exactly that line. The rule that "always" adds covers the call itself, or one subcommand at most.
//!
//! Patterns for commands: `cargo test` exactly, `cargo test:*` with anything behind it, `npm run * --watch` with `*` for any
//! text; `\*` is a star. Patterns for files: as in a .gitignore, from the workspace; `//etc/hosts` from the root, `~/notes`
//! from the home.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use regex::Regex;
use serde_json::Value;

use crate::fatal::{is_wrapper, may_run};
use crate::known::{by_default, quoted, unread};
use crate::policy::Decision;
use crate::shell::{Command, Line};

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

/// One rule: its text, its list, and the tool it applies to.
#[derive(Debug)]
struct Rule {
    shown: String,
    list: String,
    tool: String,
    pattern: Pattern,
}

/// The tools whose patterns are commands or files. glob names no file.
const TOOLS: &str = "bash, connect_mcp, read_file, write_file, edit_file";

impl Rules {
    /// Parses `permissions.deny`, `.allow` and `.ask`. Also returns one sentence for each invalid rule.
    pub fn parse(settings: &Value) -> (Self, Vec<String>) {
        let (mut rules, mut complaints) = (Vec::new(), Vec::new());
        for (list, value) in settings["permissions"].as_object().into_iter().flatten() {
            let name = format!("permissions.{list} in the settings");
            match (list.as_str(), value.as_array()) {
                ("additionalDirectories", _) => {}
                ("deny" | "allow" | "ask", None) => {
                    complaints.push(format!("{name} is not a list of rules and is ignored"));
                }
                ("deny" | "allow" | "ask", Some(written)) => {
                    for rule in written {
                        match Rule::parse(list, rule.as_str().unwrap_or_default()) {
                            Ok(rule) => rules.push(rule),
                            Err(why) => {
                                complaints.push(format!("the {list} rule {rule} is ignored: {why}"));
                            }
                        }
                    }
                }
                _ => complaints.push(format!(
                    "{name} is unknown and ignored; the keys are deny, allow, ask, additionalDirectories"
                )),
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
            self.of("allow", call.tool).any(|rule| rule.pattern.covers(command))
        };
        let unread = call.line.as_ref().map(|line| unread(line, call.root, covers));
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
            return (decision, asks.then(|| always_rule(call)));
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
        rules.filter(move |rule| means_tool(&rule.tool, tool))
    }
}

impl Rule {
    /// Parses a rule. A deny or ask rule matches more spellings than an allow rule.
    fn parse(list: &str, rule: &str) -> Result<Self, String> {
        let (shown, list) = (rule.trim().to_owned(), list.to_owned());
        let (tool, brackets) = shown.split_once('(').unwrap_or((&shown, "*)"));
        let pattern = brackets.strip_suffix(')').ok_or("its closing bracket is missing")?;
        let tool = tool.trim().to_lowercase();
        let is_name = |c: char| c.is_alphanumeric() || "_-*".contains(c);
        if tool.is_empty() || !tool.chars().all(is_name) {
            return Err("a rule begins with the name of a tool, such as \"bash(ls:*)\"".to_owned());
        }
        let pattern = match (pattern, tool.as_str()) {
            ("" | "*", _) => Pattern::All,
            (pattern, "bash" | "connect_mcp") => Pattern::command(pattern, list != "allow")?,
            (pattern, "read" | "read_file" | "edit" | "edit_file" | "write" | "write_file") => {
                Pattern::files(pattern, list != "allow")?
            }
            _ => return Err(format!("only {TOOLS} take a pattern in brackets")),
        };
        Ok(Self {
            shown,
            list,
            tool,
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

/// Whether a name in the settings matches this tool. Case is ignored, a final `*` is a wildcard, a server's name means all of its
/// tools, and Claude Code's names work.
pub fn means_tool(name: &str, tool: &str) -> bool {
    let (name, tool) = (name.to_lowercase(), tool.to_lowercase());
    let is_server = name.starts_with("mcp__") && name.matches("__").count() == 1;
    match (name.as_str(), name.strip_suffix('*')) {
        ("read", _) => matches!(tool.as_str(), "read_file" | "glob"),
        ("edit", _) => matches!(tool.as_str(), "edit_file" | "write_file"),
        ("write", _) => tool == "write_file",
        (_, Some(start)) => tool.starts_with(start),
        (name, None) => tool == name || is_server && tool.starts_with(&format!("{name}__")),
    }
}

/// What a rule's brackets hold.
#[derive(Debug)]
enum Pattern {
    /// No brackets.
    All,
    /// A command; the expression is for its canonical spelling. Without a `*` it is also a whole line.
    Command(Regex, Option<String>),
    /// Files, from a directory or from the workspace.
    Files(Option<PathBuf>, Gitignore),
}

impl Pattern {
    /// A pattern for commands. A deny or ask rule also matches options before the subcommand: `git -C . push` is `git push`,
    /// whether or not the option takes the next word.
    fn command(pattern: &str, forbids: bool) -> Result<Self, String> {
        let pattern = pattern.trim();
        let prefix = pattern.strip_suffix(":*").or(pattern.strip_suffix(" *"));
        let words = prefix.unwrap_or(pattern);
        let has_gaps = words.replace(r"\*", "").contains('*');
        if has_gaps && words.contains(r"\*") {
            return Err(r"a pattern with `*` for any text cannot hold `\*` for a star".to_owned());
        }
        let is_exact = prefix.is_none() && !has_gaps;
        let line = words.replace(r"\*", "*");
        let text = match only_command(&line) {
            Some(only) if is_exact || only.redirects.is_empty() => only.full_text(),
            // A line of several commands matches only as a whole.
            _ if is_exact => "\n".to_owned(),
            _ => {
                let plain =
                    "a rule with `*` is about one command of plain words, without redirects";
                return Err(plain.to_owned());
            }
        };
        let mut words = regex::escape(&text);
        if has_gaps {
            words = words.replace(r"\*", ".*");
        }
        if forbids {
            let (name, args) = words.split_at(words.find(' ').unwrap_or(words.len()));
            words = format!(r"{name}(?: [-+]\S*(?: (?:'[^']*'|\S+))?)*?{args}");
        }
        let rest = if prefix.is_some() { "(?: .*)?" } else { "" };
        let words = Regex::new(&format!("(?s)^{words}{rest}$"));
        let words = words.map_err(|_| "it is too long".to_owned())?;
        Ok(Self::Command(words, is_exact.then_some(line)))
    }

    /// A pattern for files, as in a .gitignore. A deny or ask rule ignores case, because some file systems do.
    fn files(pattern: &str, forbids: bool) -> Result<Self, String> {
        let pattern = pattern.trim();
        let (from, relative) = match pattern.get(..2) {
            Some("//") => (Some(PathBuf::from("/")), &pattern[1..]),
            // Rules read nothing else from the environment.
            Some("~/") => {
                let home = std::env::home_dir().ok_or("there is no home directory")?;
                (Some(home), &pattern[1..])
            }
            Some("./") => (None, &pattern[1..]),
            _ => (None, pattern),
        };
        if relative.split('/').any(|part| part == "..") {
            return Err("`..` is no pattern; write the absolute path behind `//`".to_owned());
        }
        let mut globs = GitignoreBuilder::new("");
        globs.allow_unclosed_class(false);
        let globs = globs.case_insensitive(forbids);
        let globs = globs.and_then(|globs| globs.add_line(None, relative)?.build());
        let globs = globs.map_err(|error| format!("its pattern cannot be read ({error})"))?;
        match globs.num_ignores() {
            0 => Err("its pattern cannot begin with `#` or `!`".to_owned()),
            _ => Ok(Self::Files(from, globs)),
        }
    }

    /// Whether the pattern is the whole call: its tool, its file, or its command line, letter for letter.
    fn is_call(&self, call: &Call) -> bool {
        match (self, call.path, &call.line) {
            (Self::All, ..) => true,
            (Self::Command(_, Some(exact)), _, Some(line)) => line.text.trim() == exact,
            (Self::Files(from, globs), Some(path), _) => {
                let relative = path.strip_prefix(from.as_deref().unwrap_or(call.root));
                relative.is_ok_and(|it| globs.matched_path_or_any_parents(it, false).is_ignore())
            }
            _ => false,
        }
    }

    /// Whether a deny or ask rule means this command.
    fn means(&self, command: &Command) -> bool {
        let texts = [command.text(), command.full_text()];
        matches!(self, Self::Command(words, _) if texts.iter().any(|text| words.is_match(text)))
    }

    /// Whether the pattern covers all that a simple command does. Only an exact one may have redirects that write.
    fn covers(&self, command: &Command) -> bool {
        match self {
            Self::Command(words, Some(_)) => words.is_match(&command.full_text()),
            Self::Command(words, None) => {
                let is_plain = command.name().is_some() && command.redirects_only_read();
                is_plain && words.is_match(&command.text())
            }
            Self::All => true,
            Self::Files(..) => false,
        }
    }
}

/// The command of a line that is nothing but one command of plain words.
fn only_command(line: &str) -> Option<Command> {
    let mut line = Line::parse(line);
    let command = line.commands.pop()?;
    (line.commands.is_empty() && !line.unsupported).then_some(command)
}

/// The rule that "always" adds: the tool; for a command line its one open command with the subcommand, if the program
/// consists of subcommands; else exactly this line.
fn always_rule(call: &Call) -> String {
    let Some(line) = &call.line else {
        return call.tool.to_owned();
    };
    let open = unread(line, call.root, |_| false);
    let part = line.commands.iter().find(|command| open == [quoted(command)]);
    let pattern = part.and_then(subcommand).unwrap_or_else(|| line.text.trim().replace('*', r"\*"));
    format!("{}({pattern})", call.tool)
}

/// The command and its subcommand, for programs that consist of subcommands.
fn subcommand(command: &Command) -> Option<String> {
    static SUBCOMMAND: LazyLock<Regex> = LazyLock::new(|| {
        let subcommand = "^((?:cargo|gh|git|go|pip3?|rustup) [a-z][a-z-]*)(?: |$)";
        Regex::new(subcommand).expect("the pattern is well formed")
    });
    let text = Some(command.text()).filter(|_| command.redirects_only_read())?;
    Some(format!("{}:*", &SUBCOMMAND.captures(&text)?[1]))
}

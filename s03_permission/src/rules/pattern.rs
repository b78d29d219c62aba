//! The pattern in the brackets of a rule: for commands, and for files.
//!
//! Commands: `cargo test` exactly, `cargo test:*` with anything behind it, `npm run * --watch` with `*` for any text;
//! `\*` is a star. Files: as in a .gitignore, from the workspace; `//etc/hosts` from the root, `~/notes` from the home.
//! Invariant: the pattern that "always" adds covers the call itself, or one subcommand at most.

use std::path::PathBuf;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use regex::Regex;

use super::Call;
use crate::known::{quoted, unread};
use crate::shell::{Command, Line};

/// What a rule's brackets hold.
#[derive(Debug)]
pub(super) enum Pattern {
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
    pub(super) fn command(pattern: &str, forbids: bool) -> Result<Self, String> {
        let pattern = pattern.trim();
        let prefix = pattern.strip_suffix(":*").or(pattern.strip_suffix(" *"));
        let words = prefix.unwrap_or(pattern);
        let has_gaps = words.replace(r"\*", "").contains('*');
        if has_gaps && words.contains(r"\*") {
            return Err(r"a pattern with `*` for any text cannot hold `\*` for a star".to_owned());
        }
        let is_exact = prefix.is_none() && !has_gaps;
        let line = words.replace(r"\*", "*");
        let only = only_command(&line).filter(|it| is_exact || it.redirects.is_empty());
        // A line of several commands matches only as a whole.
        let text = only
            .map(|only| only.full_text())
            .or(is_exact.then(|| "\n".to_owned()));
        let text =
            text.ok_or("a rule with `*` is about one command of plain words, without redirects")?;
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
    pub(super) fn files(pattern: &str, forbids: bool) -> Result<Self, String> {
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
    pub(super) fn is_call(&self, call: &Call) -> bool {
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
    pub(super) fn means(&self, command: &Command) -> bool {
        let texts = [command.text(), command.full_text()];
        matches!(self, Self::Command(words, _) if texts.iter().any(|text| words.is_match(text)))
    }

    /// Whether the pattern covers all that a simple command does. Only an exact one may have redirects that write.
    pub(super) fn covers(&self, command: &Command) -> bool {
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
pub(super) fn of_call(call: &Call) -> String {
    let Some(line) = &call.line else {
        return call.tool.to_owned();
    };
    let open = unread(line, call.root, |_| false);
    let part = line
        .commands
        .iter()
        .find(|command| open == [quoted(command)]);
    let pattern = part
        .and_then(subcommand)
        .unwrap_or_else(|| line.text.trim().replace('*', r"\*"));
    format!("{}({pattern})", call.tool)
}

/// The command and its subcommand, for programs that consist of subcommands.
fn subcommand(command: &Command) -> Option<String> {
    const MANY: [&str; 11] = [
        "cargo", "gh", "git", "go", "npm", "pip", "pip3", "pnpm", "rustup", "uv", "yarn",
    ];
    let name = command
        .name()
        .filter(|name| MANY.contains(name) && command.redirects_only_read())?;
    let mut words = command.args().iter();
    let mut word = || {
        Some(
            words
                .next()
                .filter(|it| it.is_fixed && !it.may_be_option())?
                .shown(),
        )
    };
    let mut shown = format!("{name} {}", word()?);
    // `npm run` and the like run a script of this name.
    if shown.ends_with(" run") && name != "cargo" && name != "go" {
        shown = format!("{shown} {}", word()?);
    }
    Some(shown.replace('*', r"\*") + ":*")
}

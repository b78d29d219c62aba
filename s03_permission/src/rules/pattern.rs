//! The pattern in the brackets of a rule: for commands, and for files.
//!
//! Commands: `cargo test` exactly, `cargo test:*` with anything behind it, `npm run * --watch` with `*` for any text;
//! `\*` is a star. Files: as in a .gitignore, from the workspace; `//etc/hosts` from the root, `~/notes` from the home.
//! Invariant: a pattern that a session makes says no more than the call that it was made of, one subcommand or one
//! directory at most.

use std::path::{Path, PathBuf};

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
    /// A command; `words` is matched against its canonical spelling. Without a `*` it is also a whole `line`.
    Command { words: Regex, line: Option<String> },
    /// Files, from a directory or from the workspace.
    Files {
        from: Option<PathBuf>,
        globs: Gitignore,
    },
}

impl Pattern {
    /// A pattern for commands. A deny or ask rule also means a command with options in front of its subcommand: `git -C .
    /// push` is `git push`. As an option may take the next word or not, both are meant.
    pub(super) fn command(pattern: &str, forbids: bool) -> Result<Self, String> {
        let pattern = pattern.trim();
        let prefix = pattern
            .strip_suffix(":*")
            .or_else(|| pattern.strip_suffix(" *"));
        let words = prefix.unwrap_or(pattern);
        let has_gaps = words.replace(r"\*", "").contains('*');
        if has_gaps && words.contains(r"\*") {
            return Err(r"a pattern with `*` for any text cannot hold `\*` for a star".to_owned());
        }
        let is_exact = prefix.is_none() && !has_gaps;
        let line = words.replace(r"\*", "*");
        let command =
            only_command(&line).filter(|command| is_exact || command.redirects.is_empty());
        // A line of several commands is no part of another line.
        let text = command
            .map(|command| command.full_text())
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
        let words =
            Regex::new(&format!("(?s)^{words}{rest}$")).map_err(|_| "it is too long".to_owned())?;
        let line = is_exact.then_some(line);
        Ok(Self::Command { words, line })
    }

    /// Files that a pattern of a .gitignore means. A deny or ask rule minds no case: some disks take `Key` and `key` for one
    /// name.
    pub(super) fn files(pattern: &str, forbids: bool) -> Result<Self, String> {
        let pattern = pattern.trim();
        let (from, relative) = match (pattern.strip_prefix("//"), pattern.strip_prefix("~/")) {
            (Some(absolute), _) => (Some(PathBuf::from("/")), format!("/{absolute}")),
            (None, Some(under_home)) => {
                // The only thing that a rule needs from the environment.
                let home =
                    std::env::home_dir().ok_or("nobody knows where the home directory is")?;
                (Some(home), format!("/{under_home}"))
            }
            (None, None) => (
                None,
                pattern.replacen("./", "/", usize::from(pattern.starts_with("./"))),
            ),
        };
        if relative.split('/').any(|part| part == "..") {
            return Err("`..` is no pattern; write the absolute path behind `//`".to_owned());
        }
        let mut globs = GitignoreBuilder::new("");
        globs.allow_unclosed_class(false);
        let globs = globs.case_insensitive(forbids);
        let globs = globs.and_then(|globs| globs.add_line(None, &relative)?.build());
        let globs = globs.map_err(|error| format!("its pattern cannot be read ({error})"))?;
        if globs.num_ignores() == 0 {
            return Err("its pattern cannot begin with `#` or `!`".to_owned());
        }
        Ok(Self::Files { from, globs })
    }

    /// Whether the pattern is the whole call: its tool, its file, or its command line, letter for letter.
    pub(super) fn is_call(&self, call: &Call) -> bool {
        match self {
            Self::All => true,
            Self::Command { line, .. } => {
                let given = call.line.as_ref().map(|line| line.text.trim());
                line.is_some() && line.as_deref() == given
            }
            Self::Files { from, globs } => call.path.is_some_and(|path| {
                let relative = path.strip_prefix(from.as_deref().unwrap_or(call.root));
                relative
                    .is_ok_and(|file| globs.matched_path_or_any_parents(file, false).is_ignore())
            }),
        }
    }

    /// Whether a deny or ask rule means this command.
    pub(super) fn means(&self, command: &Command) -> bool {
        let texts = [command.text(), command.full_text()];
        matches!(self, Self::Command { words, .. } if texts.iter().any(|text| words.is_match(text)))
    }

    /// Whether the pattern covers all that a simple command does. Only an exact one may have redirects that write.
    pub(super) fn covers(&self, command: &Command) -> bool {
        match self {
            Self::Command {
                words,
                line: Some(_),
            } => words.is_match(&command.full_text()),
            Self::Command { words, line: None } => {
                command.name().is_some()
                    && command.redirects_only_read()
                    && words.is_match(&command.text())
            }
            Self::All => true,
            Self::Files { .. } => false,
        }
    }
}

/// The command of a line that is nothing but one command of plain words.
fn only_command(line: &str) -> Option<Command> {
    let line = Line::parse(line);
    match line.commands.as_slice() {
        [command] if !line.unsupported => Some(command.clone()),
        _ => None,
    }
}

/// The pattern that "always" makes of a command line: a command with its subcommand when only one part of the line
/// is not known to read and the command is one of many subcommands; else this line and no other.
pub(super) fn of_line(line: &Line, root: &Path) -> String {
    let open = unread(line, root, |_| false);
    let mut parts = line.commands.iter();
    let part = parts.find(|command| open == [quoted(command)]);
    part.and_then(subcommand)
        .unwrap_or_else(|| line.text.trim().replace('*', r"\*"))
}

/// The command and its subcommand, for programs that consist of subcommands.
fn subcommand(command: &Command) -> Option<String> {
    const MANY: &str = " cargo gh git go npm pip pip3 pnpm rustup uv yarn ";
    let is_one = |name: &&str| MANY.contains(&format!(" {name} "));
    let name = command.name().filter(is_one)?;
    let mut words = command.args().iter();
    let mut word = || words.next().filter(|it| it.is_fixed && !it.may_be_option());
    let first = word().filter(|_| command.redirects_only_read())?;
    let mut shown = format!("{name} {}", first.shown());
    // `npm run` and the like run a script of this name.
    if first.text == "run" && name != "cargo" && name != "go" {
        shown = format!("{shown} {}", word()?.shown());
    }
    Some(shown.replace('*', r"\*") + ":*")
}

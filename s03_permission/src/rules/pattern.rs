//! The pattern in the brackets of a rule: for commands, and for files.
//!
//! Commands: `cargo test` exactly, `cargo test:*` with anything behind it, `npm run * --watch` with `*` for any text;
//! `\*` is a star. Files: as in a .gitignore, from the workspace; `//etc/hosts` from the root, `~/notes` from the home.
//! Invariant: a pattern that a session makes says no more than the call that it was made of, one subcommand or one
//! directory at most.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::known::{redirects_only_read, unread};
use crate::shell::{Command, Line};

/// What a rule's brackets hold.
#[derive(Debug)]
pub(super) enum Pattern {
    /// No brackets.
    All,
    Command(CommandPattern),
    Files(FilePattern),
}

/// A pattern for commands, in the canonical spelling of [`Command::text`].
#[derive(Debug)]
pub(super) enum CommandPattern {
    /// One command line; `command` is its canonical spelling when it is one simple command.
    Exact {
        line: String,
        command: Option<String>,
    },
    /// These words, alone or with more behind them.
    Prefix(String),
    /// `*` stands for any text.
    Wildcard(String),
}

/// Stands for an unescaped `*` while a pattern is read.
const STAR: &str = "\u{1}";

impl CommandPattern {
    pub(super) fn parse(pattern: &str) -> Result<Self, String> {
        let pattern = pattern.trim();
        // `\*` first, so that what is left are wildcards.
        let marked = pattern.replace(r"\*", STAR);
        let prefix = marked
            .strip_suffix(":*")
            .or_else(|| marked.strip_suffix(" *"));
        let plain = |text: &str| text.replace(STAR, "*");
        match prefix {
            None if !marked.contains('*') => {
                let line = plain(&marked);
                let command = only_command(&line).map(|command| command.full_text());
                Ok(Self::Exact { line, command })
            }
            Some(prefix) if !prefix.contains('*') => Ok(Self::Prefix(canonical(&plain(prefix))?)),
            _ if marked.contains(STAR) => {
                Err(r"a pattern with `*` for any text cannot hold `\*` for a star".to_string())
            }
            _ => Ok(Self::Wildcard(canonical(&plain(&marked))?)),
        }
    }

    /// The pattern that "always" makes of a command line: a command with its subcommand when only one part of the line
    /// is not known to read and the command is one of many subcommands; else this line and no other.
    pub(super) fn for_session(line: &str, root: &Path) -> String {
        let parsed = Line::parse(line);
        let open = unread(&parsed, root, |_| false);
        let mut parts = parsed
            .commands
            .iter()
            .filter(|command| open.contains(&command.full_text()));
        let prefix = match (parts.next(), open.as_slice()) {
            (Some(command), [_]) if parsed.doubts.is_empty() => subcommand(command),
            _ => None,
        };
        prefix.map_or_else(
            || line.trim().replace('*', r"\*"),
            |prefix| format!("{prefix}:*"),
        )
    }

    /// Whether the pattern is this command line, letter for letter.
    pub(super) fn is_line(&self, command: &str) -> bool {
        matches!(self, Self::Exact { line, .. } if line == command.trim())
    }

    /// Whether a deny or ask rule means this command, also behind options that stand in front of its subcommand:
    /// `git -C . push` is `git push`.
    pub(super) fn hits(&self, command: &Command) -> bool {
        let Some((name, args)) = command.words.split_first() else {
            return false;
        };
        // An option may take the next word or not, so both are tried.
        let mut starts = vec![0];
        for (at, word) in args.iter().enumerate() {
            if starts.contains(&at) && word.text.starts_with(['-', '+']) {
                starts.extend([at + 1, at + 2]);
            }
        }
        let starts = starts.into_iter().filter(|start| *start <= args.len());
        let mut texts = starts.map(|start| {
            let words = [std::slice::from_ref(name), &args[start..]].concat();
            let redirects = Vec::new();
            Command { words, redirects }.text()
        });
        match self {
            Self::Exact { command: None, .. } => false,
            Self::Exact {
                command: Some(exact),
                ..
            } => command.full_text() == *exact || texts.any(|text| text == *exact),
            Self::Prefix(prefix) => texts.any(|text| begins_with(&text, prefix)),
            Self::Wildcard(wildcard) => texts.any(|text| matches_wildcard(&text, wildcard)),
        }
    }

    /// Whether the pattern covers all that a simple command does; `bare` when its redirects are harmless, which only an
    /// exact pattern may do without.
    pub(super) fn covers(&self, command: &Command, bare: bool) -> bool {
        let bare = bare && command.name().is_some();
        match self {
            Self::Exact { command: exact, .. } => *exact == Some(command.full_text()),
            Self::Prefix(prefix) => bare && begins_with(&command.text(), prefix),
            Self::Wildcard(wildcard) => bare && matches_wildcard(&command.text(), wildcard),
        }
    }
}

/// The command of a line that is nothing but one command of plain words.
fn only_command(line: &str) -> Option<Command> {
    let mut line = Line::parse(line);
    let command = line.commands.pop().filter(|_| line.commands.is_empty());
    command.filter(|_| line.doubts.is_empty())
}

/// The canonical spelling of a pattern that is to match one simple command.
fn canonical(pattern: &str) -> Result<String, String> {
    let command = only_command(pattern).filter(|command| command.redirects.is_empty());
    let text = command.map(|command| command.text());
    text.ok_or_else(|| {
        "a rule with `*` is about one command of plain words, without redirects".to_owned()
    })
}

/// The command and its subcommand, for programs that consist of subcommands.
fn subcommand(command: &Command) -> Option<String> {
    const MANY: &[&str] = &[
        "cargo", "gh", "git", "go", "npm", "pip", "pip3", "pnpm", "rustup", "uv", "yarn",
    ];
    let name = command.name().filter(|name| MANY.contains(name))?;
    let word = |at: usize| {
        let word = command.args().get(at);
        word.filter(|word| word.is_fixed() && !word.may_be_option())
    };
    let first = word(0).filter(|_| redirects_only_read(command))?;
    // `npm run` and the like run a script of this name.
    let script = if first.text == "run" && name != "cargo" && name != "go" {
        Some(word(1)?)
    } else {
        None
    };
    let words = [Some(first), script].into_iter().flatten();
    let words: Vec<_> = words.map(|word| word.shown().replace('*', r"\*")).collect();
    Some(format!("{name} {}", words.join(" ")))
}

/// Whether the text is the prefix, or goes on with another word.
fn begins_with(text: &str, prefix: &str) -> bool {
    text.strip_prefix(prefix)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

fn matches_wildcard(text: &str, wildcard: &str) -> bool {
    let mut pieces = wildcard.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let mut pieces = pieces.peekable();
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return rest.ends_with(piece);
        }
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.is_empty()
}

/// A pattern for files.
#[derive(Debug)]
pub(super) struct FilePattern {
    from: Base,
    globs: GlobSet,
}

/// Where a pattern starts.
#[derive(Debug)]
enum Base {
    Workspace,
    Directory(PathBuf),
}

impl FilePattern {
    pub(super) fn parse(pattern: &str, any_case: bool) -> Result<Self, String> {
        let pattern = pattern.trim();
        let (from, relative) = if let Some(absolute) = pattern.strip_prefix("//") {
            (Base::Directory(PathBuf::from("/")), format!("/{absolute}"))
        } else if let Some(under_home) = pattern.strip_prefix("~/") {
            // The only thing that a rule needs from the environment.
            let home = std::env::home_dir().ok_or("nobody knows where the home directory is")?;
            (Base::Directory(home), format!("/{under_home}"))
        } else {
            (
                Base::Workspace,
                pattern
                    .strip_prefix('.')
                    .filter(|rest| rest.starts_with('/'))
                    .unwrap_or(pattern)
                    .to_string(),
            )
        };
        let name = relative.trim_end_matches('/');
        if name.split('/').any(|part| part == "..") {
            return Err("`..` is no pattern; write the absolute path behind `//`".to_string());
        }
        // As in a .gitignore: a name without a slash is meant at any depth, and a directory with all that is in it.
        let anchored = if name.contains('/') {
            name.trim_start_matches('/').to_string()
        } else {
            format!("**/{name}")
        };
        let mut globs = GlobSetBuilder::new();
        for glob in [anchored.clone(), format!("{anchored}/**")] {
            let built = GlobBuilder::new(&glob)
                .literal_separator(true)
                .case_insensitive(any_case)
                .build();
            globs.add(
                built.map_err(|error| format!("its pattern cannot be read ({})", error.kind()))?,
            );
        }
        let globs = globs.build().map_err(|error| error.to_string())?;
        Ok(Self { from, globs })
    }

    /// The pattern for a directory and all that is in it.
    pub(super) fn for_session(directory: &Path, root: &Path) -> String {
        let (start, path) = match directory.strip_prefix(root) {
            Ok(inside) if inside.as_os_str().is_empty() => return "/**".to_string(),
            Ok(inside) => ("/", inside),
            Err(_) => ("/", directory),
        };
        format!("{start}{}/**", globset::escape(&path.to_string_lossy()))
    }

    pub(super) fn matches(&self, path: &Path, root: &Path) -> bool {
        let from = match &self.from {
            Base::Workspace => root,
            Base::Directory(directory) => directory,
        };
        path.strip_prefix(from)
            .is_ok_and(|relative| self.globs.is_match(relative))
    }
}

//! Commands that run without a question, because they are known to only read.
//!
//! The table in `known.txt` lists the programs and their harmless options.
//!
//! Invariant: a program or an option outside the table asks, and so does a line that is not plain.

use std::collections::HashMap;
use std::fs;
use std::iter;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use crate::fatal;
use crate::policy::Decision;
use crate::shell::{Command, Line, Word};

/// The rows by program, or by program and subcommand such as `git log`.
static KNOWN: LazyLock<HashMap<&str, Row>> = LazyLock::new(|| {
    let rows = include_str!("known.txt").lines().filter_map(|row| {
        let mut cells = row.split(" |").map(str::trim);
        let names = cells.next()?.split(", ");
        let row = Row(cells.next()?, cells.next()?, cells.next().unwrap_or_default());
        Some(names.map(move |name| (name, row)))
    });
    rows.flatten().collect()
});

/// A sed script that only prints lines by number: `5p`, `1,20p`, `$p`.
static PRINTS: LazyLock<Regex> = LazyLock::new(|| {
    let prints = r"^(?:\s*(?:[0-9]+|\$)(?:,(?:[0-9]+|\$))?p\s*(?:;|$))+$";
    Regex::new(prints).expect("the pattern is well formed")
});

/// One row: short options, long options, and what the operands may be.
#[derive(Clone, Copy)]
struct Row(&'static str, &'static str, &'static str);

/// The decision about a command line that runs in `root`, without any rules.
pub fn judge(command: &str, root: &Path) -> Decision {
    let line = Line::parse(command);
    match fatal::fatal(&line, root) {
        Some(why) => Decision::Deny(why),
        None => by_default(&unread(&line, root, |_| false)),
    }
}

/// The decision when these parts of a line are not known to only read.
pub(crate) fn by_default(unread: &[String]) -> Decision {
    match unread {
        [] => Decision::Allow,
        parts => Decision::Ask(format!("not known to only read: {}", parts.join(", "))),
    }
}

/// The commands of a line that are neither `covered` by a rule nor known to only read, each once.
pub(crate) fn unread(line: &Line, root: &Path, covered: impl Fn(&Command) -> bool) -> Vec<String> {
    if line.unsupported {
        return vec!["what is more than plain words".to_owned()];
    }
    let mut places = vec![real(root)];
    let mut commands = line.commands.as_slice();
    if let [cd, rest @ ..] = commands
        && let Some(directory) = changes_directory(cd, &places[0])
    {
        // If the cd fails, the following commands run in the original directory.
        places.push(directory);
        commands = rest;
    }
    let mut parts = Vec::new();
    for command in commands {
        let part = quoted(command);
        if !covered(command) && !only_reads(command, &places) && !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts
}

/// A command on one line, for a message.
pub(crate) fn quoted(command: &Command) -> String {
    format!("`{}`", command.full_text().replace('\n', " ⏎ "))
}

/// Whether a program has a row. The arguments of such a program are not commands.
pub(crate) fn is_listed(name: &str) -> bool {
    KNOWN.contains_key(name)
}

/// The target of a `cd` inside the workspace.
fn changes_directory(cd: &Command, root: &Path) -> Option<PathBuf> {
    match (cd.name(), cd.args()) {
        (Some("cd"), [to])
            if to.is_fixed && !to.text.starts_with('-') && cd.redirects.is_empty() =>
        {
            Some(real(&root.join(&to.text))).filter(|directory| directory.starts_with(root))
        }
        _ => None,
    }
}

/// Whether a command, redirects included, only reads in each of these directories.
fn only_reads(command: &Command, places: &[PathBuf]) -> bool {
    let opens = |word: &Word| places.iter().any(|place| opens_secret_or_endless(word, place));
    let by_table = || {
        let (row, args) = row_of(command)?;
        let has_left = row.has("here") && places.len() > 1;
        let opens = !row.has("names") && args.iter().any(opens);
        Some(row.reads(args) && !opens && !has_left)
    };
    command.redirects_only_read()
        && !command.redirects.iter().any(|(_, target)| opens(target))
        && (command.words.is_empty() || by_table().unwrap_or(false))
}

/// The row of a command, which may name up to two subcommands, and the remaining words.
fn row_of(command: &Command) -> Option<(&'static Row, &[Word])> {
    let name = command.name()?;
    let args = command.args();
    let skipped =
        usize::from(name == "git" && args.first().is_some_and(|word| word.text == "--no-pager"));
    (0..3).rev().find_map(|count| {
        let (words, rest) = args.get(skipped..)?.split_at_checked(count)?;
        let words = words.iter().filter(|word| word.is_fixed).map(|word| word.text.as_str());
        let words: Vec<_> = iter::once(name).chain(words).collect();
        let is_name = words.len() == count + 1 && !words.iter().any(|word| word.contains(' '));
        let row = KNOWN.get(words.join(" ").as_str()).filter(|_| is_name)?;
        Some((row, rest))
    })
}

/// Whether a word may name such a file: see [`is_secret_or_endless`].
fn opens_secret_or_endless(word: &Word, place: &Path) -> bool {
    let text = word.text.as_str();
    if text.starts_with('~') && !word.is_fixed {
        return text.contains("..");
    }
    // An option may hold a path: `--file=PATH`, `-fPATH`.
    let path = match text.split_once('=') {
        _ if !text.starts_with('-') => text,
        Some((_, value)) => value,
        None => text.trim_start_matches(|c| c != '/'),
    };
    let glob = path.find(['*', '?', '[']).filter(|_| !word.is_fixed);
    let (certain, open) = path.split_at(glob.unwrap_or(path.len()));
    let directory = certain.rfind('/').map_or(0, |slash| slash + 1);
    let certain = if open.is_empty() { certain } else { &certain[..directory] };
    // A `*` in the middle of a path may match a link.
    open.contains('/') || is_secret_or_endless(&real(&place.join(certain)))
}

impl Row {
    fn has(&self, flag: &str) -> bool {
        self.2.split(' ').any(|given| given == flag)
    }

    /// Whether all options and operands are allowed. An option's value in a word of its own counts as an operand.
    fn reads(&self, args: &[Word]) -> bool {
        let opens = |word: &Word| word.may_be_option() && !word.text.starts_with('-');
        let (options, operands): (Vec<_>, Vec<_>) =
            args.iter().partition(|word| word.may_be_option() && !opens(word));
        let is_certain = self.has("certain") || self.has("here");
        let mut each = operands.iter();
        options.iter().all(|option| self.knows(option))
            && !(is_certain && operands.iter().any(|word| opens(word)))
            && match () {
                () if self.has("none") => operands.is_empty(),
                () if self.has("one") => operands.len() < 2 && each.all(|word| word.is_fixed),
                () if self.has("format") => each.all(|word| word.text.starts_with('+')),
                () if self.has("prints") => {
                    each.next().is_some_and(|word| word.is_fixed && PRINTS.is_match(&word.text))
                }
                () => true,
            }
    }

    /// Whether the row lists this option.
    fn knows(&self, option: &Word) -> bool {
        let text = option.text.trim_start_matches('-');
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        let is_long = |name: &str| name.is_empty() || self.1.split(' ').any(|long| long == name);
        let is_flag = |letter: char| {
            let at = self.0.split_once(letter);
            letter != ':' && at.is_some_and(|(_, rest)| !rest.starts_with(':'))
        };
        match self.0 {
            "*" => true,
            _ if option.text.starts_with("--") => {
                is_long(name) && (option.is_fixed || !value.is_empty())
            }
            "-" => option.is_fixed && (is_long(text) || text.chars().all(|c| c.is_ascii_digit())),
            short => {
                let valued = text.trim_start_matches(is_flag).chars().next();
                option.is_fixed
                    && valued.is_none_or(|letter| letter != ':' && short.contains(letter))
            }
        }
    }
}

/// Whether a file controls permissions or what runs later: the harness's state, the list of servers, and files from which
/// git and cargo start programs. The path is relative to the workspace; case is ignored, as some file systems do.
pub fn is_guarded(file: &Path) -> bool {
    static GUARDED: LazyLock<Regex> = LazyLock::new(|| {
        // A directory with a file HEAD may be a bare repository.
        let files = r"(?i)(?:^|/)(?:\.git|\.harness|(?:head|\.gitconfig|rust-toolchain(?:\.toml)?|\.mcp\.json)$)(?:/|$)";
        Regex::new(files).expect("the pattern is well formed")
    });
    GUARDED.is_match(&file.components().collect::<PathBuf>().to_string_lossy())
}

/// Whether a path is a device or lies in `/proc`, which exposes other processes; `/` contains both. The path is absolute,
/// with links resolved.
pub(crate) fn is_secret_or_endless(path: &Path) -> bool {
    let below = |directory: &str| path.starts_with(directory);
    let ends = below("/dev/null") || below("/dev/stdin") || below("/dev/shm");
    path == Path::new("/") || below("/proc") || (below("/dev") && !ends)
}

/// The path with its links resolved as far as it exists.
fn real(path: &Path) -> PathBuf {
    let mut ancestors = path.ancestors();
    let existing =
        ancestors.find_map(|ancestor| Some((ancestor, fs::canonicalize(ancestor).ok()?)));
    let (ancestor, real) = existing.unwrap_or((Path::new(""), PathBuf::from("/")));
    without_dots(&real.join(path.strip_prefix(ancestor).unwrap_or(path)))
}

/// The path without `.` and `..`.
pub(crate) fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

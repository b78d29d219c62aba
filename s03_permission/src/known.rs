//! Commands that run without a question, because they are known to only read.
//!
//! The table in `known.txt` lists the programs and their harmless options.
//!
//! Invariant: a program or an option outside the table asks, and so does a line that is not plain.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, OnceLock};

use regex::Regex;
use s02_tools::Workspace;

use crate::fatal;
use crate::policy::Decision;
use crate::shell::{Command, Line, Word};

/// The rows by program, or by program and subcommand such as `git log`.
static KNOWN: LazyLock<HashMap<&str, Row>> = LazyLock::new(|| {
    let rows = include_str!("known.txt").lines().filter_map(|row| {
        let mut cells = row.split(" |").map(str::trim);
        let names = cells.next()?.split(", ");
        let cells = [cells.next()?, cells.next()?, cells.next().unwrap_or_default()];
        Some(names.map(move |name| (name, Row(cells, OnceLock::new()))))
    });
    rows.flatten().collect()
});

/// One row: short options, long options, what the operands may be, and the expression that they make.
#[derive(Clone)]
struct Row([&'static str; 3], OnceLock<Regex>);

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
    let mut targets = command.redirects.iter().map(|(_, target)| target);
    let reads = match row_of(command) {
        Some((row, args)) => {
            row.reads(args)
                && (row.has("names") || !args.iter().any(opens))
                && !(row.has("here") && places.len() > 1)
        }
        None => command.words.is_empty(),
    };
    reads && command.redirects_only_read() && !targets.any(opens)
}

/// The row of a command, whose name may have three words, and the remaining words.
fn row_of(command: &Command) -> Option<(&'static Row, &[Word])> {
    let text = command.text();
    (0..3).rev().find_map(|count| {
        let end = text.match_indices(' ').nth(count).map_or(text.len(), |(at, _)| at);
        Some((KNOWN.get(&text[..end])?, command.args().get(count..)?))
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
    let is_glob = |path: &str| !word.is_fixed && path.contains(['*', '?', '[']);
    let directory = path.rfind('/').map_or("", |slash| &path[..=slash]);
    let certain = if is_glob(path) { directory } else { path };
    // A `*` in the middle of a path may match a link.
    is_glob(certain) || is_secret_or_endless(&real(&place.join(certain)))
}

impl Row {
    fn has(&self, flag: &str) -> bool {
        self.0[2].split(' ').any(|given| given == flag)
    }

    /// Whether all options and operands are allowed. An option's value in a word of its own counts as an operand.
    fn reads(&self, args: &[Word]) -> bool {
        let mut words: Vec<_> = args.iter().map(|word| word.unglobbed() + "\0").collect();
        words.sort_by_key(|word| !word.starts_with('-') || word == "-\0");
        self.1.get_or_init(|| self.knows()).is_match(&words.concat())
    }

    /// The expression for the words of such a command: the options in front, a NUL behind each. A file that `*` finds may be
    /// called like an option.
    fn knows(&self) -> Regex {
        let [short, long, _] = self.0;
        let long = long.replace(' ', "|");
        let letters = short.chars().map(|letter| match letter {
            ':' => r"[^\x00*?\[]*".to_owned(),
            letter => format!("|{letter}"),
        });
        let letters: String = letters.collect();
        let option = match short {
            "*" => r"[^\x00]*".to_owned(),
            "-" => format!("-(?:[0-9]*|{long})"),
            _ => format!(r"-(?:\z{letters})+|--(?:{long})?(?:=[^\x00]*)?"),
        };
        let any_but = |first: &str| format!(r"(?:(?:-|[^{first}\x00-][^\x00]*)?\x00)*");
        let certain = any_but(r"*?\[");
        let operands = if self.has("none") {
            String::new()
        } else if self.has("format") {
            r"(?:\+[^\x00]*\x00)*".to_owned()
        } else if self.has("prints") {
            let prints = r"\s*(?:[0-9]+|\$)(?:,(?:[0-9]+|\$))?p\s*";
            format!(r"{prints}(?:;{prints})*;?\s*\x00{certain}")
        } else if self.has("certain") || self.has("here") {
            certain
        } else {
            any_but("")
        };
        let words = Regex::new(&format!(r"^(?:(?:{option})\x00)*{operands}$"));
        words.expect("the table is well formed")
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

/// The path with its links resolved; `/` for one that leads to nowhere.
fn real(path: &Path) -> PathBuf {
    let resolved = Workspace::at("/").and_then(|all| all.resolve(&path.to_string_lossy()));
    resolved.unwrap_or_else(|_| PathBuf::from("/"))
}

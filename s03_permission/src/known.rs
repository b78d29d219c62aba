//! What a shell command may do without a question: the commands that are known to only read.
//!
//! The lists are data to read and to extend. Every entry is a promise that the command, with the arguments that the
//! entry lets through, writes nothing, starts nothing and sends nothing.
//!
//! Invariant: what is not on the lists, or not understood, is never [`Judgement::ReadOnly`].

use std::path::Path;

use crate::fatal;
use crate::shell::{Assignment, Command, Line, Word};

mod checks;
mod git;

/// What is to be done with a shell command when no rule says otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// Every part is known to only read.
    ReadOnly,
    /// Some part is not known to only read; the text says which, and why.
    Ask(String),
    /// Some part destroys the system or leaves its bounds; neither rules nor answers allow it.
    Fatal(String),
}

/// Judges a bash command line part by part.
pub fn judge(command: &str) -> Judgement {
    let line = Line::parse(command);
    if let Some(why) = fatal::fatal(&line) {
        return Judgement::Fatal(why);
    }
    match only_reads(&line) {
        Ok(()) => Judgement::ReadOnly,
        Err(why) => Judgement::Ask(why),
    }
}

/// Says whether every part of a line only reads, or which one does not.
fn only_reads(line: &Line) -> Result<(), String> {
    if let Some(doubt) = line.doubts.first() {
        return Err(doubt.clone());
    }
    line.commands.iter().try_for_each(command_only_reads)?;
    match line
        .commands
        .iter()
        .find(|command| trusts_directory(command, line))
    {
        Some(command) => Err(format!(
            "`{}` runs what the configuration of that directory names",
            command.text()
        )),
        None => Ok(()),
    }
}

/// Whether a command runs programs that are named by the files of a directory other than the workspace's: git behind a
/// `cd` does.
pub(crate) fn trusts_directory(command: &Command, line: &Line) -> bool {
    command.name() == Some("git") && line.commands.iter().any(|other| other.name() == Some("cd"))
}

/// Says whether one simple command only reads, its redirects and assignments included, or why not.
pub(crate) fn command_only_reads(command: &Command) -> Result<(), String> {
    surroundings_only_read(command)?;
    let Some(first) = command.words.first() else {
        return Ok(());
    };
    let Some(name) = command.name() else {
        return Err(format!(
            "the name of the command `{}` is only known when it runs",
            first.text
        ));
    };
    let args = command.args();
    let passes = |pass: &Args| match pass {
        Args::Without(options) => !args.iter().any(|word| may_be(word, options)),
        Args::Pass(check) => check(args),
    };
    let limited = READ_WITH.iter().find(|(known, _)| *known == name);
    let known = READ.contains(&name) || limited.is_some_and(|(_, pass)| passes(pass));
    if known || is_version_question(name, args) {
        return Ok(());
    }
    Err(format!("`{}` is not known to only read", command.text()))
}

/// The same for what stands around the words: redirects and assignments.
pub(crate) fn surroundings_only_read(command: &Command) -> Result<(), String> {
    if let Some(redirect) = command
        .redirects
        .iter()
        .find(|redirect| !redirect.only_reads())
    {
        return Err(format!(
            "`{} {}` is not known to only read",
            redirect.operator,
            redirect.target.shown()
        ));
    }
    let in_front = !command.words.is_empty();
    if let Some(assignment) = command
        .assignments
        .iter()
        .find(|assignment| !is_harmless(assignment, in_front))
    {
        return Err(format!("setting {} may change what runs", assignment.name));
    }
    Ok(())
}

/// Whether a variable changes no program's behaviour. In front of a command it enters the environment; on its own only
/// when it is there already, which is the custom for names in capitals.
fn is_harmless(assignment: &Assignment, in_front: bool) -> bool {
    const HARMLESS: &[&str] = &[
        "CLICOLOR",
        "COLUMNS",
        "LANG",
        "LC_ALL",
        "LC_COLLATE",
        "LC_CTYPE",
        "LC_TIME",
        "NO_COLOR",
        "TZ",
    ];
    let name = assignment.name.as_str();
    let small = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    HARMLESS.contains(&name) || (!in_front && name.chars().all(small) && !name.starts_with("npm_"))
}

/// Whether a file steers what a reading command starts: git runs what a repository's configuration names, and
/// `cargo --version` the toolchain of a directory. Whoever lets commands read without a question must not let these
/// files be written without one. The path is relative to the workspace.
pub fn steers_programs(file: &Path) -> bool {
    let name = file
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    // A directory with a file HEAD can be a repository of its own.
    matches!(
        name,
        "HEAD" | ".gitconfig" | "rust-toolchain" | "rust-toolchain.toml"
    ) || file.iter().any(|part| part == ".git")
}

/// Which arguments of a command pass.
enum Args {
    /// All but these options, their abbreviations included.
    Without(&'static [&'static str]),
    /// Those that a function accepts.
    Pass(fn(&[Word]) -> bool),
}

/// Commands that only read, whatever their arguments are.
#[rustfmt::skip]
const READ: &[&str] = &[
    // Files and directories.
    "ls", "cat", "tac", "head", "tail", "wc", "nl", "stat", "du", "df", "cd", "pwd", "readlink", "realpath",
    "basename", "dirname", "cmp", "diff", "comm", "od", "hexdump", "strings",
    "cksum", "sum", "md5sum", "sha1sum", "sha256sum", "sha512sum", "b2sum",
    // Text.
    "grep", "egrep", "fgrep", "cut", "tr", "rev", "paste", "join", "fold", "expand", "column", "jq",
    // The machine.
    "whoami", "id", "groups", "uname", "nproc", "uptime", "free", "ps", "tty", "locale", "printenv",
    // The shell's own.
    "echo", "true", "false", ":", "type", "which", "sleep", "seq", "expr",
];

/// Commands that only read with some arguments.
const READ_WITH: &[(&str, Args)] = &[
    ("[", Args::Pass(checks::bracket)),
    ("[[", Args::Pass(checks::double_bracket)),
    ("arch", Args::Pass(<[Word]>::is_empty)),
    ("base64", Args::Without(&["-o", "--output"])),
    ("break", Args::Pass(checks::numbers)),
    ("command", Args::Pass(checks::asks_where)),
    ("continue", Args::Pass(checks::numbers)),
    ("date", Args::Pass(checks::date)),
    ("env", Args::Pass(<[Word]>::is_empty)),
    ("exit", Args::Pass(checks::numbers)),
    ("file", Args::Without(&["-C", "--compile"])),
    ("find", Args::Pass(checks::find)),
    ("git", Args::Pass(git::only_reads)),
    ("hostname", Args::Pass(<[Word]>::is_empty)),
    ("printf", Args::Pass(checks::printf)),
    ("read", Args::Pass(checks::read)),
    ("return", Args::Pass(checks::numbers)),
    ("rg", Args::Without(&["--pre", "--hostname-bin"])),
    ("sed", Args::Pass(checks::sed)),
    ("set", Args::Pass(checks::set)),
    (
        "sort",
        Args::Without(&["-o", "--output", "--compress-program"]),
    ),
    ("test", Args::Pass(checks::test)),
    ("tree", Args::Without(&["-o", "-R"])),
    ("uniq", Args::Pass(checks::uniq)),
];

/// Programs that may be asked for their version; an unknown program may do anything with `--version`.
fn is_version_question(name: &str, args: &[Word]) -> bool {
    #[rustfmt::skip]
    const PROGRAMS: &[&str] = &[
        "bun", "cargo", "clang", "cmake", "curl", "deno", "docker", "gcc", "gh", "git", "go", "java", "make", "node", "npm",
        "perl", "php", "pip", "pip3", "psql", "python", "python3", "rg", "ruby", "rustc", "rustfmt", "rustup", "sqlite3", "uv",
    ];
    let [Word { text, .. }] = args else {
        return false;
    };
    let asks = matches!(text.as_str(), "--version" | "-V")
        || (matches!(name, "node" | "npm") && text == "-v");
    args[0].is_fixed() && PROGRAMS.contains(&name) && (asks || (name == "go" && text == "version"))
}

/// Whether a word is or may become one of the options: `-o`, `-no`, `--output=x`, `--out`, or an unknown word.
fn may_be(word: &Word, options: &[&str]) -> bool {
    if !word.may_be_option() {
        return false;
    }
    let name = word.text.split('=').next().unwrap_or_default();
    let certain = !word.splits && (name.len() < word.known || word.is_fixed());
    let is = |option: &&str| match option.strip_prefix("--") {
        Some(_) => name.len() > 2 && option.starts_with(name),
        None => !name.starts_with("--") && name.contains(&option[1..]),
    };
    !certain || options.iter().any(is)
}

//! Commands that are always refused, whatever the rules and the user say.
//!
//! The search covers substitutions, loops, variables that the line itself sets, and what a wrapper such as `timeout` or
//! `bash -c` may run. It is best effort: a command that it misses still asks, because it is not known to only read.
//!
//! Invariant: only commands are refused, never text; `rm -rf /tmp/build` and `echo "rm -rf /"` are not.

use std::path::{Component, Path};
use std::sync::LazyLock;

use regex::RegexSet;

use crate::known;
use crate::shell::{Command, Line, Word};

/// Expressions and what they mean.
struct Table(RegexSet, Vec<&'static str>);

/// The two parts of `fatal.txt`: words, and commands as [`spelled`] writes them.
static TABLES: LazyLock<[Table; 2]> = LazyLock::new(|| {
    let (words, commands) = include_str!("fatal.txt").split_once("\n\n").unwrap_or_default();
    [(words, ""), (commands, "(?: .*)?")].map(|(part, rest)| {
        let rows = part.lines().filter_map(|row| row.split_once(" => "));
        let (patterns, meanings): (Vec<_>, _) =
            rows.map(|(pattern, meaning)| (format!("^(?:{pattern}){rest}$"), meaning)).unzip();
        Table(RegexSet::new(patterns).expect("the table is well formed"), meanings)
    })
});

impl Table {
    /// What the first row means that matches.
    fn find(&self, text: &str) -> Option<&'static str> {
        self.0.matches(text).iter().next().map(|row| self.1[row])
    }
}

/// Returns why a line that runs in `root` is refused, naming the command.
pub fn fatal(line: &Line, root: &Path) -> Option<String> {
    let mut directory = root.to_string_lossy().into_owned();
    line.commands.iter().find_map(|command| {
        let mut run = may_run(command).into_iter();
        let found = run.find_map(|run| {
            let why = TABLES[1].find(&spelled(&run, &directory))?;
            Some(format!("`{}` {why}", run.full_text()))
        });
        if matches!(command.name(), Some("cd" | "pushd")) {
            let home = Word::fixed("/root");
            directory = absolute(command.args().last().unwrap_or(&home), &directory);
        }
        found
    })
}

/// The command with the path of its program simplified (`/bin/../bin/rm` is `rm`), followed by every command that it may
/// run as a wrapper. Where the wrapped command begins is ambiguous when an option may take a value; all candidates are
/// returned.
pub(crate) fn may_run(command: &Command) -> Vec<Command> {
    let mut command = command.clone();
    if let Some(first) = command.words.first_mut()
        && first.is_fixed
        && first.text.starts_with('/')
    {
        *first = Word::fixed(absolute(first, ""));
    }
    let mut all = vec![command];
    let mut at = 0;
    while at < all.len() && all.len() < 100 {
        all.extend(wrapped(&all[at]));
        at += 1;
    }
    all
}

/// Whether a command runs another one given as arguments. `command -v NAME` runs nothing.
pub(crate) fn is_wrapper(command: &Command) -> bool {
    let mut args = command.args().iter().map(|word| word.text.as_str());
    match command.name().map(|name| (name, TABLES[0].find(name))) {
        Some(("command", _)) => !matches!(args.next(), Some("-v" | "-V")),
        Some(("find", _)) => args.any(executes),
        Some((_, meaning)) => matches!(meaning, Some("<wrapper>" | "<shell>")),
        None => false,
    }
}

/// Whether an argument of `find` is followed by a command.
fn executes(arg: &str) -> bool {
    arg.starts_with("-exec") || arg.starts_with("-ok")
}

/// The commands that may begin among the arguments of a wrapper.
fn wrapped(command: &Command) -> Vec<Command> {
    let Some(name) = command.name().filter(|_| is_wrapper(command)) else {
        return Vec::new();
    };
    let args = command.args();
    let mut found = Vec::new();
    if TABLES[0].find(name) == Some("<shell>") {
        let scripts = args.iter().filter(|word| !word.text.starts_with('-'));
        found.extend(scripts.flat_map(|script| Line::parse(&script.text).commands));
    }
    let mut before = "";
    for (at, word) in args.iter().enumerate() {
        let text = word.text.as_str();
        let is_value =
            text.contains('=') || text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        let finds = name == "find";
        if (finds && executes(before)) || (!finds && !is_value) {
            let (words, redirects) = (args[at..].to_vec(), command.redirects.clone());
            found.push(Command { words, redirects });
            if !finds && (!before.starts_with('-') || known::is_listed(text)) {
                break;
            }
        }
        before = text;
    }
    found
}

/// The command as the table expects it: options first, `<system>` and `<device>` in place of such paths, no blanks in words.
fn spelled(command: &Command, directory: &str) -> String {
    let is_option = |word: &String| word.starts_with('-');
    let plain = |text: String| text.replace(char::is_whitespace, "_");
    let spell = |word: &Word| {
        let path = plain(absolute(word, directory));
        let meaning = TABLES[0].find(&path).filter(|meaning| *meaning != "<harmless>");
        if is_option(&word.text) {
            plain(word.text.clone())
        } else {
            meaning.map_or_else(|| plain(word.shown()), str::to_owned)
        }
    };
    let name = command.name().unwrap_or_default();
    let mut words: Vec<_> = command.args().iter().map(spell).collect();
    if name != "find" {
        words.sort_by_key(|word| !is_option(word));
    } else if words.first().is_none_or(is_option) {
        // Without a directory, find starts in the current one.
        words.insert(0, spell(&Word::fixed(".")));
    }
    for (operator, target) in &command.redirects {
        words.extend([operator.clone(), spell(target)]);
    }
    words.insert(0, plain(name.to_owned()));
    words.join(" ")
}

/// The absolute path without `.` and `..`. The root becomes the empty string.
fn absolute(path: &Word, directory: &str) -> String {
    let text = path.unglobbed();
    let home = text.strip_prefix('~').filter(|_| !path.is_fixed).map(|rest| format!("/root{rest}"));
    let path = Path::new(directory).join(home.as_deref().unwrap_or(&text));
    let mut plain = Vec::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::Normal(part) => plain.push(part.to_string_lossy()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    plain.iter().flat_map(|part| ["/", part]).collect()
}

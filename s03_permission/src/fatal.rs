//! Commands that are always refused, whatever the rules and the user say.
//!
//! The search covers substitutions, loops, variables that the line itself sets, and what a wrapper such as `timeout` or
//! `bash -c` may run. It is best effort: a command that it misses still asks, because it is not known to only read.
//!
//! Invariant: only commands are refused, never text; `rm -rf /tmp/build` and `echo "rm -rf /"` are not.

use std::path::Path;
use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use crate::known;
use crate::shell::{Command, Line, Word};

/// The table in `fatal.txt`: patterns for commands as [`spelled`] writes them, and the reasons.
static REFUSED: LazyLock<(RegexSet, Vec<&str>)> = LazyLock::new(|| {
    let rows = include_str!("fatal.txt").lines();
    let rows = rows.filter_map(|row| row.split_once(" => "));
    let (patterns, reasons): (Vec<_>, _) =
        rows.map(|(pattern, why)| (format!("^(?:{pattern})(?: .*)?$"), why)).unzip();
    let patterns = RegexSet::new(patterns).expect("the table is well formed");
    (patterns, reasons)
});

/// The root, a system directory or a home, and everything in one of them. `/tmp` does not count.
static SYSTEM: LazyLock<Regex> = LazyLock::new(|| {
    let path = r"(?x)^(?: /(?: Applications | Library | System | Users | Volumes | bin | boot | dev | etc | home | lib(?:32|64)? | media
        | mnt | opt | private | proc | root | run | sbin | srv | sys | usr | var ) | /(?:home|Users)/[^/]+ | /[^/]*[*?\[{][^/]* )?
        (?:/[*?.{},\[\]!^]+)*$";
    Regex::new(path).expect("the pattern is well formed")
});

/// Devices that are safe to write to.
static HARMLESS: LazyLock<Regex> = LazyLock::new(|| {
    let path = "^/dev/(?:null|zero|full|u?random|std|tty|pts/|fd/|shm/|tcp/|udp/)";
    Regex::new(path).expect("the pattern is well formed")
});

/// Programs that run a command given as arguments.
const WRAPPERS: &str = "builtin busybox chroot chrt command coproc env exec find flock ionice nice nohup parallel script \
    setsid stdbuf strace taskset time timeout unshare watch xargs";
/// Wrappers that take a script.
const SHELLS: &str = "ash bash dash eval ksh sh zsh";

/// Returns why a line that runs in `root` is refused, naming the command.
pub fn fatal(line: &Line, root: &Path) -> Option<String> {
    let mut directory = root.to_string_lossy().into_owned();
    line.commands.iter().find_map(|command| {
        let mut run = may_run(command).into_iter();
        let found = run.find_map(|run| {
            let (patterns, reasons) = &*REFUSED;
            let row = patterns.matches(&spelled(&run, &directory)).iter().next()?;
            Some(format!("`{}` {}", run.full_text(), reasons[row]))
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
    command.name().is_some_and(|name| match name {
        "command" => !matches!(args.next(), Some("-v" | "-V")),
        "find" => args.any(executes),
        name => lists(WRAPPERS, name) || lists(SHELLS, name),
    })
}

fn lists(names: &str, name: &str) -> bool {
    names.split_whitespace().any(|listed| listed == name)
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
    if lists(SHELLS, name) {
        let scripts = args.iter().filter(|word| !word.may_be_option());
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
    let spell = |word: &Word| {
        let path = absolute(word, directory);
        let device = path.rsplit("of=").next().unwrap_or_default();
        let is_device = device.starts_with("/dev/") && !HARMLESS.is_match(device);
        match () {
            () if is_option(&word.text) => word.text.replace(char::is_whitespace, "_"),
            () if SYSTEM.is_match(&path) => "<system>".to_owned(),
            () if is_device => "<device>".to_owned(),
            () => word.shown().replace(char::is_whitespace, "_"),
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
    words.insert(0, name.replace(char::is_whitespace, "_"));
    words.join(" ")
}

/// The absolute path without `.` and `..`. Quoted glob characters become `_`, because they match nothing but themselves.
fn absolute(path: &Word, directory: &str) -> String {
    let home = path.text.strip_prefix('~').filter(|_| !path.is_fixed);
    let text = home.map_or_else(|| path.text.clone(), |rest| format!("/root{rest}"));
    let plain = known::without_dots(&Path::new("/").join(directory).join(text));
    // The root becomes the empty string.
    let plain = plain.to_string_lossy();
    let plain = plain.trim_end_matches('/');
    if path.is_fixed { plain.replace(['*', '?', '[', '{'], "_") } else { plain.to_owned() }
}

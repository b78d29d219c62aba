//! What is refused whatever the rules and the user say: the commands after which there is nothing left to ask about.
//!
//! A refusal looks further than a permission: into substitutions and loops, at variables that the line itself sets, and at
//! what a wrapper such as `timeout` or `bash -c` may run. It promises nothing: what it misses is asked about like anything
//! else that is not known to read.
//!
//! Invariant: only commands are refused, never text; `rm -rf /tmp/build` and `echo "rm -rf /"` are not.

use std::path::Path;
use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use crate::known;
use crate::shell::{Command, Line, Word};

/// What is refused, in the spelling of [`spelled`], and why: the table in `fatal.txt`.
static REFUSED: LazyLock<(RegexSet, Vec<&str>)> = LazyLock::new(|| {
    let rows = include_str!("fatal.txt").lines();
    let rows = rows.filter_map(|row| row.split_once(" => "));
    let (patterns, reasons): (Vec<_>, _) = rows
        .map(|(pattern, why)| (format!("^(?:{pattern})(?: .*)?$"), why))
        .unzip();
    let patterns = RegexSet::new(patterns).expect("the table is well formed");
    (patterns, reasons)
});

/// The root, a directory that the system consists of, or a home, and all that is in one of them. `/tmp` is not among them.
static SYSTEM: LazyLock<Regex> = LazyLock::new(|| {
    let path = r"(?x)^(?: /(?: Applications | Library | System | Users | Volumes | bin | boot | dev | etc | home | lib(?:32|64)? | media
        | mnt | opt | private | proc | root | run | sbin | srv | sys | usr | var ) | /(?:home|Users)/[^/]+ | /[^/]*[*?\[{][^/]* )?
        (?:/[*?.{},\[\]!^]+)*$";
    Regex::new(path).expect("the pattern is well formed")
});

/// The devices that swallow or show what they are given, or hold files.
static HARMLESS: LazyLock<Regex> = LazyLock::new(|| {
    let path = "^/dev/(?:null|zero|full|u?random|std|tty|pts/|fd/|shm/|tcp/|udp/)";
    Regex::new(path).expect("the pattern is well formed")
});

/// Programs that run the command which their arguments hold.
const WRAPPERS: &str = "builtin busybox chroot chrt command coproc env exec find flock ionice nice nohup parallel script \
    setsid stdbuf strace taskset time timeout unshare watch xargs";
/// Wrappers that take a script.
const SHELLS: &str = "ash bash dash eval ksh sh zsh";

/// Says which part of a line that runs in `root` is refused, and why.
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

/// A command with the path of its program made plain (`/bin/../bin/rm` is `rm`), and those that it may run for others when
/// it is a wrapper. Which of its words begins the wrapped command is not known for certain: an option may take a value or
/// not, so both are taken.
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

/// Whether a command runs another one that its arguments hold. `command -v NAME` runs nothing.
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

/// A command for the table: options in front, `<system>` and `<device>` for paths that are one, no blank in a word.
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
        // Without a directory it begins here.
        words.insert(0, spell(&Word::fixed(".")));
    }
    for (operator, target) in &command.redirects {
        words.extend([operator.clone(), spell(target)]);
    }
    words.insert(0, name.replace(char::is_whitespace, "_"));
    words.join(" ")
}

/// The path from the root, where that is known, without `.` and `..`; glob characters in it are none when they are quoted.
fn absolute(path: &Word, directory: &str) -> String {
    let home = path.text.strip_prefix('~').filter(|_| !path.is_fixed);
    let text = home.map_or_else(|| path.text.clone(), |rest| format!("/root{rest}"));
    let plain = known::without_dots(&Path::new("/").join(directory).join(text));
    // Of the root nothing is left.
    let plain = plain.to_string_lossy();
    let plain = plain.trim_end_matches('/');
    if path.is_fixed {
        plain.replace(['*', '?', '[', '{'], "_")
    } else {
        plain.to_owned()
    }
}

//! What is refused whatever the rules and the user say: the commands after which there is nothing left to ask about.
//!
//! A refusal looks further than a permission: into substitutions and loops, at variables that the line itself sets, and at
//! what a carrier such as `timeout` or `bash -c` may run. It promises nothing: what it misses is asked about like anything
//! else that is not known to read.
//!
//! Invariant: only commands are refused, never text; `rm -rf /tmp/build` and `echo "rm -rf /"` are not.

use std::path::Path;

use crate::known;
use crate::shell::{Command, Line, Word, normal};

const STOPS: &str = "stops the machine";
const ERASES: &str = "erases a disk";
const DELETES: &str = "deletes the system or a home directory";
const RIGHTS: &str = "takes another user's rights";
const PARTITIONS: &str = "changes the partitions of a disk";

/// Programs that have no harmless use for an agent.
#[rustfmt::skip]
const PROGRAMS: &[(&str, &str)] = &[
    ("doas", RIGHTS), ("pkexec", RIGHTS), ("su", RIGHTS), ("sudo", RIGHTS),
    ("mke2fs", ERASES), ("mkfs", ERASES), ("mkswap", ERASES), ("newfs", ERASES), ("wipefs", ERASES),
    ("cfdisk", PARTITIONS), ("fdisk", PARTITIONS), ("gdisk", PARTITIONS), ("parted", PARTITIONS), ("sfdisk", PARTITIONS),
    ("sgdisk", PARTITIONS),
    ("halt", STOPS), ("poweroff", STOPS), ("reboot", STOPS), ("shutdown", STOPS),
];

/// The directories at the top that a system consists of. `/tmp` is not among them.
#[rustfmt::skip]
const SYSTEM: &[&str] = &[
    "Applications", "Library", "System", "Users", "Volumes", "bin", "boot", "dev", "etc", "home", "lib", "lib32", "lib64",
    "media", "mnt", "opt", "private", "proc", "root", "run", "sbin", "srv", "sys", "usr", "var",
];

/// The start of a disk's name below `/dev`.
#[rustfmt::skip]
const DISKS: &[&str] = &[
    "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "dm-", "mapper/", "md", "loop",
];

/// Programs that run the command which their arguments hold.
#[rustfmt::skip]
const CARRIERS: &[&str] = &[
    "builtin", "busybox", "chroot", "chrt", "command", "coproc", "env", "exec", "find", "flock", "ionice", "nice", "nohup",
    "parallel", "script", "setsid", "stdbuf", "strace", "taskset", "time", "timeout", "unshare", "watch", "xargs",
];
/// Carriers that take a script.
const SHELLS: &[&str] = &["ash", "bash", "dash", "eval", "ksh", "sh", "zsh"];

/// How deep scripts may stand in scripts (`bash -c "bash -c …"`).
const MAX_NESTING: usize = 5;
/// How many commands a carrier is looked through for.
const MAX_CARRIED: usize = 100;

/// Says which part of a line that runs in `root` is refused, and why.
pub fn fatal(line: &Line, root: &Path) -> Option<String> {
    if let Some(name) = &line.fork_bomb {
        return Some(format!(
            "the function `{name}` starts itself again and again until the machine stops"
        ));
    }
    let mut directory = root.to_string_lossy().into_owned();
    line.commands.iter().find_map(|command| {
        let mut run = may_run(command).into_iter();
        let found =
            run.find_map(|run| Some((run.full_text(), command_is_fatal(&run, &directory)?)));
        if matches!(command.name(), Some("cd" | "pushd")) {
            let target = command.args().last();
            directory = target.map_or("~".into(), |target| absolute(&target.text, &directory));
        }
        found.map(|(shown, why)| format!("`{shown}` {why}"))
    })
}

/// A command with the path of its program made plain (`/bin/../bin/rm` is `rm`), and those that it may run for others when
/// it is a carrier. Which of its words begins the command that it carries is not known for certain: an option may take a
/// value or not, so both are taken.
pub(crate) fn may_run(command: &Command) -> Vec<Command> {
    let mut command = command.clone();
    if let Some(first) = command.words.first_mut()
        && first.is_fixed()
        && first.text.starts_with('/')
    {
        *first = Word::fixed(format!("/{}", normal(&first.text).join("/")));
    }
    let mut all = vec![command.clone()];
    carried(&command, 0, &mut all);
    all
}

/// Whether a command runs another one that its arguments hold.
pub(crate) fn is_carrier(command: &Command) -> bool {
    let name = command.name();
    let executes = |word: &Word| word.text.starts_with("-exec") || word.text.starts_with("-ok");
    name.is_some_and(|name| match name {
        "command" => !asks_where(command),
        "find" => command.args().iter().any(executes),
        name => CARRIERS.contains(&name) || SHELLS.contains(&name),
    })
}

/// `command -v NAME` runs nothing.
fn asks_where(command: &Command) -> bool {
    let first = command.args().first();
    first.is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V"))
}

fn carried(command: &Command, nesting: usize, all: &mut Vec<Command>) {
    if nesting > MAX_NESTING || all.len() > MAX_CARRIED || !is_carrier(command) {
        return;
    }
    let from = all.len();
    let args = command.args();
    if command.name().is_some_and(|name| SHELLS.contains(&name)) {
        let scripts = args.iter().filter(|word| !word.may_be_option());
        all.extend(scripts.flat_map(|script| Line::parse(&script.text).commands));
    }
    let finds = command.name() == Some("find");
    let mut before = "";
    for (at, word) in args.iter().enumerate() {
        let text = word.text.as_str();
        let executes = before.starts_with("-exec") || before.starts_with("-ok");
        let is_value = text.contains('=') || text.starts_with(|c: char| c.is_ascii_digit());
        let begins = if finds {
            executes
        } else {
            !text.starts_with('-') && !is_value
        };
        if begins {
            let (words, redirects) = (args[at..].to_vec(), command.redirects.clone());
            all.push(Command { words, redirects });
        }
        if begins && !finds && (!before.starts_with('-') || known::is_listed(text)) {
            break;
        }
        before = text;
    }
    for found in all.split_off(from) {
        all.push(found.clone());
        carried(&found, nesting + 1, all);
    }
}

fn command_is_fatal(command: &Command, directory: &str) -> Option<&'static str> {
    let mut redirects = command.redirects.iter();
    if redirects.any(|to| to.operator.contains('>') && is_disk(&to.target.text)) {
        return Some("writes over a disk");
    }
    let name = command.name()?;
    let args = command.args();
    let has = |texts: &[&str]| args.iter().any(|word| texts.contains(&word.text.as_str()));
    let (others, last) = args.split_at(args.len().saturating_sub(1));
    let on_disk = |words: &[Word]| words.iter().any(|word| is_disk(&word.text));
    let on_system = |words: &[Word]| words.iter().any(|word| names_system(word, directory));
    let on_device = |word: &Word| word.text.strip_prefix("of=").is_some_and(is_device);
    let (is_fatal, why) = match name {
        "init" | "telinit" => (has(&["0", "6"]), STOPS),
        "systemctl" => (has(&["poweroff", "reboot", "halt", "kexec"]), STOPS),
        "dd" => (args.iter().any(on_device), "writes over a device"),
        "tee" | "shred" => (on_disk(args), "writes over a disk"),
        "cp" => (on_disk(last), "writes over a disk"),
        "mv" => (
            on_disk(last) || on_system(others),
            "moves the system or a home directory, or writes over a disk",
        ),
        "rm" => (is_recursive(args, "rR") && on_system(args), DELETES),
        "chmod" | "chown" | "chgrp" => (
            is_recursive(args, "R") && on_system(args),
            "changes all of the system or of a home directory",
        ),
        "find" => (find_deletes_all(args, directory), DELETES),
        _ => {
            let program = PROGRAMS.iter().find(|(program, _)| *program == name);
            return program
                .map(|(_, why)| *why)
                .or(name.starts_with("mkfs.").then_some(ERASES));
        }
    };
    is_fatal.then_some(why)
}

/// Whether one of the options is the recursive one, in any spelling.
fn is_recursive(args: &[Word], letters: &str) -> bool {
    args.iter().any(|word| match word.text.strip_prefix("--") {
        Some(long) => !long.is_empty() && "recursive".starts_with(long),
        None => word.text.starts_with('-') && word.text.contains(|c| letters.contains(c)),
    })
}

/// Whether `find` deletes all that it finds below the system. Any test with a value narrows what it finds.
fn find_deletes_all(args: &[Word], directory: &str) -> bool {
    const FREE: &[&str] = &[
        "-type", "-depth", "-xdev", "-mount", "-print", "-delete", "-o", "-or", "-a", "-and",
        "-true",
    ];
    let is_option = |word: &&Word| matches!(word.text.as_str(), "-H" | "-L" | "-P");
    let mut rest = args.iter().skip_while(is_option).peekable();
    let mut starts = Vec::new();
    while let Some(start) = rest.next_if(|word| !word.text.starts_with(['-', '(', '!'])) {
        starts.push(start.clone());
    }
    if starts.is_empty() {
        starts.push(Word::fixed("."));
    }
    let expression: Vec<_> = rest.map(|word| word.text.as_str()).collect();
    let removes = |pair: &[&str]| {
        pair[0].starts_with("-exec")
            && matches!(
                pair[1].rsplit('/').next(),
                Some("rm" | "unlink" | "shred" | "rmdir")
            )
    };
    let command = expression.iter().position(|word| word.starts_with("-exec"));
    let tests = &expression[..command.unwrap_or(expression.len())];
    let narrows = tests
        .iter()
        .any(|word| word.starts_with('-') && !FREE.contains(word));
    let deletes = expression.contains(&"-delete") || expression.windows(2).any(removes);
    deletes && !narrows && starts.iter().any(|start| names_system(start, directory))
}

/// The path from the root, where that is known; `~` stands for a home directory.
fn absolute(path: &str, directory: &str) -> String {
    if path.starts_with(['/', '~']) {
        path.to_owned()
    } else {
        format!("{directory}/{path}")
    }
}

/// Whether a word names the root, a directory that the system consists of, a home, or all that is in one of them.
fn names_system(word: &Word, directory: &str) -> bool {
    let text = word.text.as_str();
    if !word.is_fixed() && text.starts_with('{') {
        let mut alternatives = text.split(['{', ',', '}']).filter(|path| !path.is_empty());
        return alternatives.any(|path| names_system(&Word::fixed(path), directory));
    }
    let is_home = word.known == 0 && text.starts_with('~');
    if !is_home && text.starts_with('~') || text.starts_with('-') {
        return false;
    }
    let path = absolute(text, directory);
    let mut parts = normal(&path);
    let is_glob = |c: char| !word.is_fixed() && "*?[{".contains(c);
    let is_all =
        |part: &str| part.contains(is_glob) && part.chars().all(|c| "*?.{},[]!^".contains(c));
    while parts.last().is_some_and(|part| is_all(part)) {
        parts.pop();
    }
    match parts.as_slice() {
        [] => true,
        // `/u*` meets `/usr`.
        [top] if top.contains(is_glob) => {
            let start = top.split(is_glob).next().unwrap_or_default();
            SYSTEM.iter().any(|directory| directory.starts_with(start))
        }
        [top] => SYSTEM.contains(top) || top.starts_with('~'),
        [top, _] => matches!(*top, "home" | "Users"),
        _ => false,
    }
}

/// Whether `dd` must not write there: a device, save those that swallow or show what they are given.
fn is_device(path: &str) -> bool {
    const HARMLESS: &[&str] = &["null", "zero", "full", "stdout", "stderr", "tty"];
    const BELOW: &[&str] = &["fd/", "pts/", "shm/"];
    device(path).is_some_and(|name| {
        !HARMLESS.contains(&name.as_str()) && !BELOW.iter().any(|start| name.starts_with(start))
    })
}

/// Whether a path names a disk or a part of one.
fn is_disk(path: &str) -> bool {
    device(path).is_some_and(|name| DISKS.iter().any(|disk| name.starts_with(disk)))
}

/// The name of a device below `/dev`.
fn device(path: &str) -> Option<String> {
    let parts = normal(path.strip_prefix('/')?);
    let (first, name) = parts.split_first()?;
    (*first == "dev" && !name.is_empty()).then(|| name.join("/"))
}

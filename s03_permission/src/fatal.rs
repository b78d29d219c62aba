//! What is refused whatever the rules and the user say: the commands after which there is nothing left to ask about.
//!
//! Invariant: only commands are refused, never text; `rm -rf /tmp/build` and `echo "rm -rf /"` are not.

use crate::shell::{Command, Line, Word, is_exec};

/// Programs that have no harmless use for an agent.
const PROGRAMS: &[(&[&str], &str)] = &[
    (
        &["sudo", "doas", "su", "pkexec"],
        "takes another user's rights",
    ),
    (
        &["mkfs", "mke2fs", "mkswap", "newfs", "wipefs"],
        "erases a disk",
    ),
    (
        &["fdisk", "sfdisk", "cfdisk", "gdisk", "sgdisk", "parted"],
        "changes the partitions of a disk",
    ),
    (
        &["shutdown", "reboot", "halt", "poweroff"],
        "stops the machine",
    ),
];

/// The directories at the top that a system consists of. `/tmp` is not among them.
const SYSTEM: &[&str] = &[
    "Applications",
    "Library",
    "System",
    "Users",
    "Volumes",
    "bin",
    "boot",
    "dev",
    "etc",
    "home",
    "lib",
    "lib32",
    "lib64",
    "media",
    "mnt",
    "opt",
    "private",
    "proc",
    "root",
    "run",
    "sbin",
    "srv",
    "sys",
    "usr",
    "var",
];

/// Says which part of a line is refused, and why.
pub fn fatal(line: &Line) -> Option<String> {
    if let Some(name) = &line.fork_bomb {
        return Some(format!(
            "the function `{name}` starts itself again and again until the machine stops"
        ));
    }
    let mut directory = None;
    line.commands.iter().find_map(|command| {
        let why = command_is_fatal(command, directory.as_deref());
        if matches!(command.name(), Some("cd" | "pushd")) {
            directory = command
                .args()
                .last()
                .and_then(|word| resolve(word, directory.as_deref()));
        }
        why.map(|why| format!("`{}` {why}", command.full_text()))
    })
}

fn command_is_fatal(command: &Command, directory: Option<&[String]>) -> Option<&'static str> {
    let writes = command
        .redirects
        .iter()
        .filter(|redirect| redirect.operator.contains('>'));
    if writes
        .into_iter()
        .any(|redirect| is_disk(&redirect.target.text))
    {
        return Some("writes over a disk");
    }
    let name = command.name()?;
    let args = command.args();
    let is_system =
        |word: &Word| resolve(word, directory).is_some_and(|path| is_system(&path, word));
    let any_system = |words: &[Word]| words.iter().any(is_system);
    if let Some((_, why)) = PROGRAMS.iter().find(|(names, _)| names.contains(&name)) {
        return Some(why);
    }
    match name {
        _ if name.starts_with("mkfs.") => Some("erases a disk"),
        "init" | "telinit"
            if args
                .iter()
                .any(|word| matches!(word.text.as_str(), "0" | "6")) =>
        {
            Some("stops the machine")
        }
        "systemctl"
            if args.iter().any(|word| {
                matches!(word.text.as_str(), "poweroff" | "reboot" | "halt" | "kexec")
            }) =>
        {
            Some("stops the machine")
        }
        "dd" if args
            .iter()
            .any(|word| word.text.strip_prefix("of=").is_some_and(is_device)) =>
        {
            Some("writes over a device")
        }
        "tee" | "shred" if args.iter().any(|word| is_disk(&word.text)) => {
            Some("writes over a disk")
        }
        "cp" | "mv" if args.last().is_some_and(|word| is_disk(&word.text)) => {
            Some("writes over a disk")
        }
        "rm" if is_recursive(args, "rR") && any_system(args) => {
            Some("deletes a directory that the system consists of")
        }
        "chmod" | "chown" | "chgrp" if is_recursive(args, "R") && any_system(args) => {
            Some("changes a directory that the system consists of")
        }
        "mv" if any_system(&args[..args.len().saturating_sub(1)]) => {
            Some("moves a directory that the system consists of")
        }
        "find" if find_deletes_all(args) && any_system(starting_points(args)) => {
            Some("deletes a directory that the system consists of")
        }
        _ => None,
    }
}

/// Whether one of the options is the recursive one, in any spelling.
fn is_recursive(args: &[Word], letters: &str) -> bool {
    args.iter().any(|word| match word.text.strip_prefix("--") {
        Some(long) => long.len() > 2 && "recursive".starts_with(long) || long == "r",
        None => word.text.starts_with('-') && word.text.contains(|c| letters.contains(c)),
    })
}

/// Where `find` starts: the words in front of the expression.
fn starting_points(args: &[Word]) -> &[Word] {
    let options = args
        .iter()
        .take_while(|word| matches!(word.text.as_str(), "-H" | "-L" | "-P"))
        .count();
    let rest = &args[options..];
    let end = rest
        .iter()
        .position(|word| word.text.starts_with(['-', '(', '!']))
        .unwrap_or(rest.len());
    &rest[..end]
}

/// Whether `find` deletes and has no test that narrows what it finds.
fn find_deletes_all(args: &[Word]) -> bool {
    const NARROWING: &[&str] = &[
        "name",
        "path",
        "regex",
        "wholename",
        "size",
        "mtime",
        "mmin",
        "ctime",
        "cmin",
        "atime",
        "amin",
        "newer",
        "empty",
        "user",
        "group",
        "perm",
        "maxdepth",
        "uid",
        "gid",
        "links",
        "inum",
        "samefile",
        "nouser",
        "nogroup",
    ];
    let narrows = |word: &Word| {
        let test = word.text.trim_start_matches('-');
        let test = test.strip_prefix('i').unwrap_or(test);
        word.text.starts_with('-')
            && NARROWING
                .iter()
                .any(|narrowing| test.starts_with(narrowing))
    };
    let removes = |word: &Word| {
        matches!(
            word.text.rsplit('/').next(),
            Some("rm" | "unlink" | "shred" | "rmdir")
        )
    };
    let executes = args
        .windows(2)
        .any(|pair| is_exec(&pair[0].text) && removes(&pair[1]));
    (executes || args.iter().any(|word| word.text == "-delete")) && !args.iter().any(narrows)
}

/// The parts of an absolute path, dots resolved; a home directory is `home`, `~`. `None` when it is not known.
fn resolve(word: &Word, directory: Option<&[String]>) -> Option<Vec<String>> {
    let text = word.text.as_str();
    let (mut parts, rest) = if let Some(rest) = under_home(word) {
        (vec!["home".to_string(), "~".to_string()], rest)
    } else if text.starts_with('/') {
        (Vec::new(), text)
    } else {
        (directory?.to_vec(), text)
    };
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part.to_string()),
        }
    }
    Some(parts)
}

/// What stands behind `~`, `~user` or `$HOME`.
fn under_home(word: &Word) -> Option<&str> {
    let text = word.text.as_str();
    let behind_slash = |text: &'_ str| text.is_empty() || text.starts_with('/');
    if word.known > 0 {
        return None;
    }
    if let Some(user) = text.strip_prefix('~') {
        return Some(user.find('/').map_or("", |at| &user[at..]));
    }
    text.strip_prefix("$HOME").filter(|rest| behind_slash(rest))
}

/// Whether a path is the root, a directory that the system consists of, a home, or everything in one of them.
fn is_system(path: &[String], word: &Word) -> bool {
    let is_whole = |path: &[String]| match path {
        [] => true,
        [top] => SYSTEM.contains(&top.as_str()),
        [home, user] => home == "home" && user == "~",
        _ => false,
    };
    let glob = |c: char| "*?[{".contains(c);
    match path.split_last() {
        Some((last, parent)) if !word.is_fixed() && last.contains(glob) => {
            let known = last.split(glob).next().unwrap_or_default();
            let all = last.chars().all(|c| "*?.{},[]!^".contains(c));
            (all && is_whole(parent))
                || (parent.is_empty() && SYSTEM.iter().any(|top| top.starts_with(known)))
        }
        _ => is_whole(path),
    }
}

/// Whether `dd` must not write there: a device, save those that swallow or show what they are given.
fn is_device(path: &str) -> bool {
    device(path).is_some_and(|name| {
        !matches!(
            name.as_str(),
            "null" | "zero" | "full" | "stdout" | "stderr" | "tty"
        )
    })
}

/// Whether a path names a disk or a part of one.
fn is_disk(path: &str) -> bool {
    const DISKS: &[&str] = &[
        "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "dm-", "mapper/", "md", "loop",
    ];
    device(path).is_some_and(|name| DISKS.iter().any(|disk| name.starts_with(disk)))
}

/// The name of a device below `/dev`.
fn device(path: &str) -> Option<String> {
    let parts = resolve(&Word::fixed(path), None)?;
    let (first, name) = parts.split_first()?;
    (first == "dev" && !name.is_empty()).then(|| name.join("/"))
}

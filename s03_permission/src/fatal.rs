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
    (&["shutdown", "reboot", "halt", "poweroff"], STOPS),
];

const STOPS: &str = "stops the machine";
const DELETES: &str = "deletes the system or a home directory";

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
            let target = command.args().last().cloned().unwrap_or_else(home);
            directory = resolve(&target, directory.as_deref());
        }
        why.map(|why| format!("`{}` {why}", command.full_text()))
    })
}

fn command_is_fatal(command: &Command, directory: Option<&[String]>) -> Option<&'static str> {
    let mut writes = command
        .redirects
        .iter()
        .filter(|redirect| redirect.operator.contains('>'));
    if writes.any(|redirect| is_disk(&redirect.target.text)) {
        return Some("writes over a disk");
    }
    let name = command.name()?;
    if let Some((_, why)) = PROGRAMS.iter().find(|(names, _)| names.contains(&name)) {
        return Some(why);
    }
    let args = command.args();
    let has = |texts: &[&str]| args.iter().any(|word| texts.contains(&word.text.as_str()));
    let but_last = &args[..args.len().saturating_sub(1)];
    let last = &args[but_last.len()..];
    let on_disk = |words: &[Word]| words.iter().any(|word| is_disk(&word.text));
    let on_device = |word: &Word| word.text.strip_prefix("of=").is_some_and(is_device);
    let on_system = |words: &[Word]| words.iter().any(|word| names_system(word, directory));
    let (is_fatal, why) = match name {
        "init" | "telinit" => (has(&["0", "6"]), STOPS),
        "systemctl" => (has(&["poweroff", "reboot", "halt", "kexec"]), STOPS),
        "dd" => (args.iter().any(on_device), "writes over a device"),
        "tee" | "shred" => (on_disk(args), "writes over a disk"),
        "cp" => (on_disk(last), "writes over a disk"),
        "mv" => (
            on_disk(last) || on_system(but_last),
            "moves the system or a home directory, or writes over a disk",
        ),
        "rm" => (is_recursive(args, "rR") && on_system(args), DELETES),
        "chmod" | "chown" | "chgrp" => (
            is_recursive(args, "R") && on_system(args),
            "changes all of the system or of a home directory",
        ),
        "find" => (
            find_deletes_all(args) && on_system(&starting_points(args)),
            DELETES,
        ),
        _ => (name.starts_with("mkfs."), "erases a disk"),
    };
    is_fatal.then_some(why)
}

/// Whether one of the options is the recursive one, in any spelling.
fn is_recursive(args: &[Word], letters: &str) -> bool {
    args.iter().any(|word| match word.text.strip_prefix("--") {
        Some(long) => long.len() > 2 && "recursive".starts_with(long) || long == "r",
        None => word.text.starts_with('-') && word.text.contains(|c| letters.contains(c)),
    })
}

/// Where `find` starts: the words in front of the expression; without one, here.
fn starting_points(args: &[Word]) -> Vec<Word> {
    let is_option = |word: &&Word| matches!(word.text.as_str(), "-H" | "-L" | "-P");
    let rest = args.iter().skip_while(is_option);
    let points: Vec<_> = rest
        .take_while(|word| !word.text.starts_with(['-', '(', '!']))
        .cloned()
        .collect();
    if points.is_empty() {
        vec![Word::fixed(".")]
    } else {
        points
    }
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

/// Where `cd` alone goes.
fn home() -> Word {
    Word {
        text: "~".to_string(),
        known: 0,
        splits: false,
    }
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

/// Whether a word names the root, a directory that the system consists of, a home, or all that is in one of them.
fn names_system(word: &Word, directory: Option<&[String]>) -> bool {
    if !word.is_fixed() && word.text.starts_with('{') {
        let mut alternatives = word.text.split(['{', ',', '}']);
        return alternatives
            .any(|path| !path.is_empty() && names_system(&Word::fixed(path), directory));
    }
    let Some(mut path) = resolve(word, directory) else {
        return false;
    };
    let is_glob = |c: char| !word.is_fixed() && "*?[{".contains(c);
    while path.last().is_some_and(|part| {
        part.contains(is_glob) && part.chars().all(|c| "*?.{},[]!^".contains(c))
    }) {
        path.pop();
    }
    match path.as_slice() {
        [] => true,
        // `/u*` meets `/usr`.
        [top] if top.contains(is_glob) => {
            let start = top.split(is_glob).next().unwrap_or_default();
            SYSTEM.iter().any(|directory| directory.starts_with(start))
        }
        [top] => SYSTEM.contains(&top.as_str()),
        [home, user] => home == "home" && user == "~",
        _ => false,
    }
}

/// Whether `dd` must not write there: a device, save those that swallow or show what they are given.
fn is_device(path: &str) -> bool {
    device(path).is_some_and(|name| {
        let harmless = [
            "null", "zero", "full", "stdout", "stderr", "tty", "fd/", "pts/", "shm/",
        ];
        !harmless
            .iter()
            .any(|device| name == *device || (device.ends_with('/') && name.starts_with(device)))
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

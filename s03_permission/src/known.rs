//! What a shell command may do without a question: the commands that are known to only read.
//!
//! The tables are data to read and to extend. A row names a program and the options of it that are known to read; every row
//! is a promise that the program, with these options and any operands, writes nothing, starts nothing and sends nothing.
//!
//! Invariant: a program or an option that is not in the tables asks, and so does a line that is more than plain words.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::fatal;
use crate::policy::Decision;
use crate::shell::{Command, Line, Word};

mod git;

/// Programs none of whose options writes: the options as in getopt(3), where `:` follows an option with a value, then the
/// long ones. Their operands may be what `*` finds.
#[rustfmt::skip]
const READ: &[(&str, &str, &str)] = &[
    ("basename", "as:z", "multiple suffix zero"),
    ("cat", "AbeEnstTuv", "show-all number number-nonblank show-ends show-tabs squeeze-blank show-nonprinting"),
    ("cksum", "a:", "algorithm"),
    ("cmp", "bi:ln:s", "print-bytes bytes silent quiet verbose"),
    ("column", "c:s:tx", "table separator"),
    ("comm", "123z", "check-order nocheck-order total"),
    ("cut", "b:c:d:f:nsz", "bytes characters delimiter fields complement only-delimited output-delimiter"),
    ("df", "ahHiklmPTt:x:B:", "all human-readable inodes local type print-type total"),
    ("diff", "aBbC:cdEeF:HiI:NnpqrsTtU:uW:wX:x:yZ", "brief color context exclude ignore-all-space ignore-blank-lines ignore-case ignore-space-change new-file recursive report-identical-files side-by-side strip-trailing-cr text unified width"),
    ("dirname", "z", "zero"),
    ("du", "aB:bcd:hHkLlmPsSx0", "all apparent-size bytes exclude human-readable max-depth summarize total"),
    ("egrep", GREP, GREP_LONG),
    ("fgrep", GREP, GREP_LONG),
    ("fold", "bsw:", "bytes spaces width"),
    ("free", "bghkmtw", "human total wide"),
    ("grep", GREP, GREP_LONG),
    ("groups", "", ""),
    ("head", "0123456789c:n:qvz", "bytes lines quiet verbose"),
    ("hexdump", "bCcdn:os:vx", "canonical length skip no-squeezing"),
    ("id", "agGnruz", "group groups name real user"),
    ("ls", "1AabBCcdFfGghHiI:klLmnNopqQrRSsTtuUvw:xXZ@eO", "all almost-all author classify color directory file-type full-time group-directories-first hide human-readable ignore inode numeric-uid-gid recursive reverse size sort time time-style width"),
    ("md5sum", "bctwz", "check quiet status"),
    ("nl", "b:d:f:h:i:l:n:ps:v:w:", "body-numbering number-format number-separator number-width"),
    ("nproc", "", "all ignore"),
    ("od", "A:abcdfij:lN:ost:vw:x", "address-radix format read-bytes skip-bytes width"),
    ("paste", "d:sz", "delimiters serial"),
    ("pwd", "LP", ""),
    ("readlink", "efmnqsvz", "canonicalize no-newline"),
    ("realpath", "eLmPqsz", "relative-to relative-base"),
    ("rev", "", ""),
    ("sha1sum", "bctwz", "check quiet status"),
    ("sha256sum", "bctwz", "check quiet status"),
    ("sha512sum", "bctwz", "check quiet status"),
    ("sleep", "", ""),
    ("stat", "c:fLtxF", "format printf dereference terse"),
    ("strings", "ae:fn:ot:", "all bytes radix"),
    ("tac", "brs:", "before regex separator"),
    ("tail", "0123456789c:Ffn:qrs:vz", "bytes follow lines quiet verbose"),
    ("tr", "cCdst", "complement delete squeeze-repeats"),
    ("type", "afPpt", ""),
    ("uname", "amnoprsv", "all kernel-name kernel-release machine"),
    ("uptime", "ps", "pretty since"),
    ("wc", "clLmw", "bytes chars lines max-line-length words"),
    ("which", "as", "all"),
    ("whoami", "", ""),
];

const GREP: &str = "0123456789A:aB:bC:cd:D:e:EFf:GHhiIlLm:noPqrsTUvwxyzZ";
const GREP_LONG: &str = "after-context basic-regexp before-context color colour context count exclude exclude-dir extended-regexp files-with-matches files-without-match fixed-strings ignore-case include invert-match line-number line-regexp max-count no-filename no-messages null only-matching perl-regexp quiet recursive regexp text with-filename word-regexp";

/// Programs that other options let write or start something, or other operands: with a check of the operands.
#[rustfmt::skip]
const READ_WITH: &[(&str, &str, &str, Check)] = &[
    ("arch", "", "", |operands| operands.is_empty()),
    ("base64", "dDw:", "decode wrap", |_| true),
    // A number alone sets the clock.
    ("date", "d:Ru", "date iso-8601 rfc-3339 rfc-email utc universal", |operands| operands.iter().all(|word| word.text.starts_with('+'))),
    ("file", "bhiLkNnrs", "brief dereference mime mime-type mime-encoding", |_| true),
    ("hostname", "", "", |operands| operands.is_empty()),
    ("rg", "0123456789A:B:C:cE:e:Fg:HiIlm:nNoPqr:SsT:t:uUvwx", "after-context before-context color context count fixed-strings files files-with-matches files-without-match glob heading hidden iglob ignore-case json line-number max-count max-depth multiline no-heading no-ignore no-line-number only-matching regexp smart-case sort stats type type-list type-not word-regexp", |_| true),
    ("sort", "bCcdfghik:MmnRrst:uVz", "check field-separator general-numeric-sort human-numeric-sort ignore-case key month-sort numeric-sort random-sort reverse stable unique version-sort", |_| true),
    ("tree", "aCdDfhiI:L:nP:prstu", "dirsfirst du filelimit gitignore noreport prune", |_| true),
    // A second file is the one that it writes.
    ("uniq", "cdDf:is:uw:z", "count ignore-case repeated skip-chars skip-fields unique", |operands| operands.len() < 2 && operands.iter().all(|word| word.is_fixed())),
];

/// Whether these operands only read.
type Check = fn(&[&Word]) -> bool;

/// Programs that open no file of their operands, so that it does not matter which these are.
#[rustfmt::skip]
const OPENS_NOTHING: &[&str] = &[
    ":", "basename", "cd", "command", "df", "dirname", "du", "echo", "false", "find", "ls", "pwd", "readlink", "realpath", "stat",
    "test", "tree", "true", "type", "which",
];

/// The tests and actions of `find` that only look.
const FIND: &str = "-H -L -P -a -amin -and -atime -cmin -ctime -daystart -depth -empty -executable -false -follow -group \
    -iname -inum -ipath -iregex -iwholename -links -ls -maxdepth -mindepth -mmin -mount -mtime -name -newer -newermt -nogroup \
    -not -nouser -o -or -path -perm -print -print0 -printf -prune -quit -readable -regex -regextype -samefile -size -true \
    -type -user -wholename -writable -xdev";
/// The operators of `test` that evaluate nothing.
const TEST: &str = "-d -e -f -h -L -n -r -s -w -x -z = != !";
/// What `ps` shows without the environment of the processes.
const PS: &str = "-A -e -ef -f -l ax aux -aux";

/// How many directories the `cd`s of a line may lead to before nobody knows where it runs.
const MAX_DIRECTORIES: usize = 32;

/// Judges a bash command line that runs in the directory `root`: what it is when no rule says otherwise.
pub fn judge(command: &str, root: &Path) -> Decision {
    let line = Line::parse(command);
    if let Some(why) = fatal::fatal(&line, root) {
        return Decision::Deny(why);
    }
    match unread(&line, root, |_| false) {
        parts if parts.is_empty() => Decision::Allow,
        parts => Decision::Ask(not_known(&parts)),
    }
}

/// The sentence that names every part which is not known to read.
pub(crate) fn not_known(parts: &[String]) -> String {
    match parts {
        [_] => format!("{} is not known to only read", quoted(parts)),
        _ => format!("these are not known to only read: {}", quoted(parts)),
    }
}

/// The parts of a command line in one line of text.
pub(crate) fn quoted(parts: &[String]) -> String {
    let quote = |part: &String| format!("`{}`", part.trim().replace('\n', " ⏎ "));
    parts.iter().map(quote).collect::<Vec<_>>().join(", ")
}

/// The parts of a line that are neither `covered` nor known to read, each once, in their canonical spelling.
pub(crate) fn unread(line: &Line, root: &Path, covered: impl Fn(&Command) -> bool) -> Vec<String> {
    let place = Place::of(line, root);
    let open = |command: &&Command| !covered(command) && !place.reads(command);
    let open = line.commands.iter().filter(open).map(Command::full_text);
    let mut parts: Vec<String> = Vec::new();
    for part in open.chain(line.doubts.iter().cloned()) {
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts
}

/// Whether a program has a row of its own: its arguments are no other program's command.
pub(crate) fn is_listed(name: &str) -> bool {
    READ.iter().any(|row| row.0 == name) || READ_WITH.iter().any(|row| row.0 == name)
}

/// Whether the redirects of a command write nothing.
pub(crate) fn redirects_only_read(command: &Command) -> bool {
    command
        .redirects
        .iter()
        .all(|redirect| redirect.only_reads())
}

/// Where the commands of a line run.
struct Place {
    root: PathBuf,
    /// The workspace, and every directory that a `cd` of the line may lead to.
    directories: Vec<PathBuf>,
    stays: bool,
}

impl Place {
    fn of(line: &Line, root: &Path) -> Self {
        let root = real(root);
        let mut place = Self {
            directories: vec![root.clone()],
            stays: true,
            root,
        };
        for command in &line.commands {
            if command.name() == Some("cd") {
                let to = command.args().first().map_or("/", |word| &word.text);
                for from in place.directories.clone() {
                    let directory = real(&from.join(to));
                    if !place.directories.contains(&directory) {
                        place.directories.push(directory);
                    }
                }
                if place.directories.len() > MAX_DIRECTORIES {
                    place.directories = vec![PathBuf::from("/")];
                }
                place.stays = false;
            }
        }
        place
    }

    /// Whether a command only reads, its redirects included.
    fn reads(&self, command: &Command) -> bool {
        let name = command.name();
        let targets = command.redirects.iter().map(|redirect| &redirect.target);
        let opened = command.args().iter();
        let opened = opened.filter(|_| name.is_some_and(|name| !OPENS_NOTHING.contains(&name)));
        redirects_only_read(command)
            && (command.words.is_empty()
                || name.is_some_and(|name| self.knows(name, command.args())))
            && !targets
                .chain(opened)
                .any(|word| self.opens_secret_or_endless(word))
    }

    fn knows(&self, name: &str, args: &[Word]) -> bool {
        let texts: Vec<_> = args.iter().map(|word| word.text.as_str()).collect();
        let fixed = args.iter().all(Word::is_fixed);
        let only = |list: &str| {
            let known = |text: &str| list.split_whitespace().any(|known| known == text);
            let number = |text: &str| {
                let digits = text.strip_prefix('-');
                digits.is_some_and(|digits| digits.chars().all(|c| c.is_ascii_digit()))
            };
            let fine = |word: &Word| {
                let text = word.text.as_str();
                !word.may_be_option() || (word.is_fixed() && (known(text) || number(text)))
            };
            args.iter().all(fine)
        };
        match name {
            "echo" | "true" | "false" | ":" => true,
            "cd" => {
                matches!(texts[..], [to] if fixed && !to.starts_with('-') && self.stays_inside())
            }
            "command" => fixed && matches!(texts[..], ["-v" | "-V", ..]),
            "find" => only(FIND),
            "git" => self.stays && git::only_reads(args),
            "ps" => texts
                .iter()
                .all(|text| PS.split(' ').any(|known| known == *text)),
            "sed" => sed_prints(args),
            "test" => fixed && only(TEST),
            _ if self.stays && is_version_question(name, &texts) => true,
            _ => {
                let read = READ.iter().find(|row| row.0 == name);
                let limited = READ_WITH.iter().find(|row| row.0 == name);
                match (read, limited) {
                    (Some((_, short, long)), _) => operands(args, short, long, true).is_some(),
                    (None, Some((_, short, long, check))) => {
                        operands(args, short, long, false).is_some_and(|operands| check(&operands))
                    }
                    (None, None) => false,
                }
            }
        }
    }

    fn stays_inside(&self) -> bool {
        let inside = |directory: &PathBuf| directory.starts_with(&self.root);
        self.directories.iter().all(inside)
    }

    /// Whether a word may name such a file: see [`is_secret_or_endless`].
    fn opens_secret_or_endless(&self, word: &Word) -> bool {
        // The path in `--file=PATH` and `-fPATH`.
        let value = || word.text.find('=').map(|at| at + 1);
        let start = Some(0).filter(|_| !word.text.starts_with('-'));
        let start = start.or_else(value).or_else(|| word.text.find('/'));
        let start = start.unwrap_or(0).min(word.known);
        let (literal, open) = (&word.text[start..word.known], &word.text[word.known..]);
        if literal.is_empty() && open.starts_with('~') {
            return open.contains("..");
        }
        let literal = match literal.rfind('/') {
            Some(at) if !open.is_empty() => &literal[..=at],
            None if !open.is_empty() => "",
            _ => literal,
        };
        let leads_there = |directory: &PathBuf| {
            let path = real(&directory.join(literal));
            path == Path::new("/") || is_secret_or_endless(&path)
        };
        // What a `*` finds in the middle of a path may be a link.
        open.contains('/') || self.directories.iter().any(leads_there)
    }
}

/// The operands among the arguments; `None` when an option is not known. A value that stands apart belongs to its option.
pub(crate) fn operands<'a>(
    args: &'a [Word],
    short: &str,
    long: &str,
    any_file: bool,
) -> Option<Vec<&'a Word>> {
    let mut operands = Vec::new();
    let mut args = args.iter();
    while let Some(word) = args.next() {
        if !word.may_be_option() || (word.known == 0 && any_file) {
            operands.push(word);
        } else if let Some(option) = word.text.strip_prefix("--") {
            let name = option.split('=').next().unwrap_or_default();
            let certain = word.is_fixed() || name.len() + 2 < word.known;
            let known = name.is_empty() || long.split_whitespace().any(|known| known == name);
            (certain && known).then_some(())?;
        } else {
            let mut letters = word.text.strip_prefix('-')?.chars();
            word.is_fixed().then_some(())?;
            while let Some(letter) = letters.next() {
                let at = short.find(letter).filter(|_| letter != ':')?;
                if short[at + letter.len_utf8()..].starts_with(':') {
                    if letters.as_str().is_empty() {
                        args.next().filter(|value| value.is_fixed())?;
                    }
                    break;
                }
            }
        }
    }
    Some(operands)
}

/// `sed -n` with a script that only prints lines by number: `5p`, `1,20p`, `$p`.
fn sed_prints(args: &[Word]) -> bool {
    let is_address =
        |text: &str| text == "$" || (!text.is_empty() && text.chars().all(|c| c.is_ascii_digit()));
    let prints = |command: &str| {
        let addresses = command.trim().strip_suffix('p');
        addresses.is_some_and(|addresses| {
            addresses.split(',').count() < 3 && addresses.split(',').all(is_address)
        })
    };
    match args {
        [option, script, files @ ..] => {
            option.text == "-n"
                && script.is_fixed()
                && script.text.split(';').all(prints)
                && !files.iter().any(Word::may_be_option)
        }
        _ => false,
    }
}

/// Programs that may be asked for their version; an unknown program may do anything with `--version`.
fn is_version_question(name: &str, args: &[&str]) -> bool {
    #[rustfmt::skip]
    const PROGRAMS: &[&str] = &[
        "bun", "cargo", "clang", "cmake", "curl", "deno", "docker", "gcc", "gh", "git", "go", "java", "make", "node", "npm",
        "perl", "php", "pip", "pip3", "psql", "python", "python3", "rg", "ruby", "rustc", "rustfmt", "rustup", "sqlite3", "uv",
    ];
    match (name, args) {
        ("node" | "npm", ["-v"]) | ("go", ["version"]) => true,
        (_, ["--version" | "-V"]) => PROGRAMS.contains(&name),
        _ => false,
    }
}

/// Whether a file decides what runs later or what is allowed: the harness's own state, the list of servers, and what git
/// and cargo take programs from. The path is relative to the workspace. Some disks do not tell `.git` from `.GIT`, so
/// neither does this.
pub fn is_guarded(file: &Path) -> bool {
    let part = |part: Component| part.as_os_str().to_string_lossy().to_lowercase();
    let parts: Vec<_> = file.components().map(part).collect();
    let last = parts.last().map_or("", String::as_str);
    // A directory with a file HEAD can be a repository of its own.
    matches!(
        last,
        "head" | ".gitconfig" | "rust-toolchain" | "rust-toolchain.toml" | ".mcp.json"
    ) || parts
        .iter()
        .any(|part| part == ".git" || part == ".harness")
}

/// Whether a file shows what other processes know, or is a device, of which some never end. The path is absolute, its
/// links resolved.
pub(crate) fn is_secret_or_endless(path: &Path) -> bool {
    let below = |directory: &str| path.starts_with(directory);
    let ends = below("/dev/null") || below("/dev/stdin") || below("/dev/shm");
    below("/proc") || (below("/dev") && !ends)
}

/// The path with its links resolved as far as it exists, and `.` and `..` behind that.
pub(crate) fn real(path: &Path) -> PathBuf {
    let existing = path
        .ancestors()
        .find_map(|ancestor| Some((ancestor, fs::canonicalize(ancestor).ok()?)));
    let (ancestor, mut real) = existing.unwrap_or((Path::new(""), PathBuf::from("/")));
    for part in path.strip_prefix(ancestor).unwrap_or(path).components() {
        match part {
            Component::ParentDir => drop(real.pop()),
            Component::Normal(part) => real.push(part),
            _ => {}
        }
    }
    real
}

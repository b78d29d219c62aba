//! The subcommands of git that only read.
//!
//! Git is many programs: `git log` reads, `git log --output=f` writes, `git branch` lists and `git branch x` makes one,
//! and `-c` makes any of them run another program.
//!
//! Invariant: a subcommand that is not listed here asks, aliases included.

use super::may_be;
use crate::shell::Word;

/// Options of the reading subcommands that write a file or start a program.
const NOT_READING: &[&str] = &["-O", "--output", "--ext-diff", "--open-files-in-pager"];

/// Subcommands that read with all options but those.
const READ: &[&str] = &[
    "blame",
    "cat-file",
    "count-objects",
    "describe",
    "diff",
    "diff-tree",
    "for-each-ref",
    "grep",
    "log",
    "ls-files",
    "ls-tree",
    "merge-base",
    "name-rev",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "show-ref",
    "status",
    "whatchanged",
];

/// Options with which `branch` and `tag` list.
const LISTING: &[&str] = &[
    "-a",
    "-r",
    "-v",
    "-vv",
    "--all",
    "--color",
    "--column",
    "--contains",
    "--format",
    "--ignore-case",
    "--list",
    "--merged",
    "--no-color",
    "--no-column",
    "--no-contains",
    "--no-merged",
    "--points-at",
    "--remotes",
    "--show-current",
    "--sort",
    "--verbose",
];

/// Options behind which a name is looked for and not made.
const SEARCHING: &[&str] = &[
    "--contains",
    "--list",
    "--merged",
    "--no-contains",
    "--no-merged",
    "--points-at",
];

/// Whether `git` with these arguments only reads.
pub(super) fn only_reads(args: &[Word]) -> bool {
    let globals = args.iter().take_while(|word| {
        matches!(
            word.text.as_str(),
            "--no-pager" | "-P" | "--no-optional-locks"
        )
    });
    let [command, rest @ ..] = &args[globals.count()..] else {
        return false;
    };
    let texts: Vec<_> = rest.iter().map(|word| word.text.as_str()).collect();
    let fixed = command.is_fixed() && rest.iter().all(Word::is_fixed);
    match command.text.as_str() {
        name if READ.contains(&name) => {
            command.is_fixed() && !rest.iter().any(|word| may_be(word, NOT_READING))
        }
        "branch" => fixed && lists(&texts, &[]),
        "tag" => fixed && lists(&texts, &["-l", "-n"]),
        "remote" => fixed && matches!(texts[..], [] | ["-v"] | ["--verbose"] | ["get-url", _]),
        "stash" => fixed && matches!(texts[..], ["list"]),
        "reflog" => fixed && matches!(texts[..], [] | ["show"]),
        "worktree" => fixed && matches!(texts[..], ["list"] | ["list", "--porcelain"]),
        "config" => fixed && matches!(texts[..], ["--list" | "-l"] | ["--get", _]),
        _ => false,
    }
}

/// Whether all options list, and names stand only behind one that looks for them.
fn lists(args: &[&str], more: &[&str]) -> bool {
    let option = |arg: &str| arg.split('=').next().unwrap_or_default().to_string();
    let searches = args
        .iter()
        .any(|arg| SEARCHING.contains(&option(arg).as_str()) || *arg == "-l" && more.contains(arg));
    args.iter().all(|arg| {
        let name = option(arg);
        let known = LISTING.contains(&name.as_str()) || more.contains(arg);
        if arg.starts_with('-') {
            known
        } else {
            searches
        }
    })
}

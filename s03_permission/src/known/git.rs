//! The subcommands of git that only read, with the options that are known to.
//!
//! Git is many programs: `git log` reads, `git log --output=f` writes, `git branch` lists and `git branch x` makes one,
//! and `-c` makes any of them run another program.
//!
//! Invariant: a subcommand or an option that is not listed here asks, aliases included.

use super::operands;
use crate::shell::Word;

const LOG: &str = "0123456789abBcDEG:gimMn:pqrRsS:tuU:wz";
const LOG_LONG: &str = "abbrev abbrev-commit after all author before branches cached cherry-pick color committer \
    compact-summary count date date-order decorate diff-filter dirstat exit-code find-copies find-renames first-parent \
    follow format full-index graph grep histogram ignore-all-space ignore-blank-lines ignore-space-change left-right \
    max-count merge-base merges minimal name-only name-status no-abbrev-commit no-color no-decorate no-ext-diff \
    no-merges no-patch no-renames no-textconv numstat oneline patch patience pretty quiet raw relative remotes reverse \
    shortstat since skip staged stat summary tags topo-order unified until word-diff";

/// Subcommands, and the options with which they read.
#[rustfmt::skip]
const READ: &[(&str, &str, &str)] = &[
    ("blame", "bCcefL:lMnpstw", "abbrev date line-porcelain porcelain show-email show-name show-number"),
    ("cat-file", "epst", ""),
    ("describe", "", "abbrev all always dirty exact-match long tags"),
    ("diff", LOG, LOG_LONG),
    ("for-each-ref", "", "contains count format merged points-at sort"),
    ("grep", "0123456789A:aB:C:cEe:FGHhIiLlm:nPpqrvWw", "after-context all-match and before-context break cached color context count extended-regexp files-with-matches fixed-strings function-context heading ignore-case line-number max-depth name-only not or perl-regexp show-function untracked word-regexp"),
    ("log", LOG, LOG_LONG),
    ("ls-files", "cdikmostuvz", "cached deleted error-unmatch exclude-standard full-name ignored killed modified others stage unmerged"),
    ("ls-tree", "dlnrtz", "abbrev full-name full-tree long name-only name-status"),
    ("merge-base", "a", "all fork-point is-ancestor"),
    ("rev-list", LOG, LOG_LONG),
    ("rev-parse", "q", "abbrev-ref git-dir is-inside-work-tree short show-prefix show-toplevel symbolic-full-name verify"),
    ("shortlog", "cens", "email numbered summary"),
    ("show", LOG, LOG_LONG),
    ("show-ref", "ds", "heads tags verify"),
    ("status", "bsuvz", "ahead-behind branch ignored long no-ahead-behind no-renames porcelain short show-stash untracked-files verbose"),
];

/// `branch` and `tag` list with these, and make something of a name unless one of the second looks for it.
const LISTING: &str = "all color column contains format ignore-case list merged no-color no-column no-contains \
    no-merged points-at remotes show-current sort verbose";
const SEARCHING: &[&str] = &[
    "contains",
    "list",
    "merged",
    "no-contains",
    "no-merged",
    "points-at",
];

/// Whether `git` with these arguments only reads.
pub(super) fn only_reads(args: &[Word]) -> bool {
    let global = |word: &&Word| {
        matches!(
            word.text.as_str(),
            "--no-pager" | "-P" | "--no-optional-locks"
        )
    };
    let globals = args.iter().take_while(global).count();
    let [command, rest @ ..] = &args[globals..] else {
        return false;
    };
    let texts: Vec<_> = rest.iter().map(|word| word.text.as_str()).collect();
    let fixed = command.is_fixed() && rest.iter().all(Word::is_fixed);
    let searches = texts.iter().any(|text| {
        let name = text
            .strip_prefix("--")
            .and_then(|name| name.split('=').next());
        name.is_some_and(|name| SEARCHING.contains(&name))
    });
    let lists = |short: &str| operands(rest, short, LISTING, false);
    let makes_nothing = |found: Option<Vec<&Word>>, searches: bool| {
        found.is_some_and(|operands| searches || operands.is_empty())
    };
    match command.text.as_str() {
        "branch" => fixed && makes_nothing(lists("arv"), searches),
        "tag" => fixed && makes_nothing(lists("ln0123456789"), searches || texts.contains(&"-l")),
        "remote" => fixed && matches!(texts[..], [] | ["-v"] | ["--verbose"] | ["get-url", _]),
        "stash" => fixed && matches!(texts[..], ["list"]),
        "reflog" => fixed && matches!(texts[..], [] | ["show"]),
        "worktree" => fixed && matches!(texts[..], ["list"] | ["list", "--porcelain"]),
        "config" => fixed && matches!(texts[..], ["--get", name] if !name.starts_with('-')),
        name => {
            command.is_fixed()
                && READ.iter().any(|(known, short, long)| {
                    *known == name && operands(rest, short, long, false).is_some()
                })
        }
    }
}

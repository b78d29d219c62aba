//! Git. It stands above files: `create a branch called feature/tea` names none.
//!
//! Invariant: special rows stand above general ones.

use crate::model::rehearsal::table::{Intent, ROW, bash};

/// The rows.
pub const GIT: &[Intent] = &[
    Intent {
        name: "list the git branches",
        says: &["list|show|what|which|print|display * branches"],
        by: &[bash(&[("command", "git branch --all")])],
        told: "{printed}",
        told_empty: "There are no branches yet.",
        doing: "list the branches",
        ..ROW
    },
    Intent {
        name: "create a git branch",
        says: &[
            "create|make|add branch called|named {path:word}",
            "create|make|add git branch called|named {path:word}",
            "create|make|add git branch {path:word}",
            "create|make branch {path:word}",
            "switch|change to * branch {path:word}",
        ],
        by: &[bash(&[("command", "git switch -c {path|sh}")])],
        changes: true,
        told: "I created the branch {path} and switched to it.",
        doing: "create the branch {path}",
        ..ROW
    },
    Intent {
        name: "name the git branch",
        says: &[
            "what|which|show|print|tell|get|display|current|name * branch",
            "branch am|are i|we",
            "^ branch",
        ],
        by: &[bash(&[("command", "git branch --show-current")])],
        told: "The current git branch is {first}.",
        told_empty: "Git names no current branch.",
        doing: "ask git for the branch",
        ..ROW
    },
    Intent {
        name: "show the last commits",
        says: &[
            "show|list|what|print|display|give|see|get last|recent|latest|previous {n:number} commits|commit",
            "show|list|print|display|give|get {n:number} last|recent|latest|previous commits",
            "show|list|what|print|display|give|see|get * {n:number} commit",
            "show|list|what|print|display|give|see|get * commits|commit|history|log",
            "git history|commits",
            "who committed",
            "recent|last|latest commits|commit",
        ],
        fills: &[("n", "5")],
        by: &[bash(&[("command", "git log --oneline -n {n}")])],
        told: "{printed}",
        doing: "show the last commits",
        ..ROW
    },
    Intent {
        name: "show the git status",
        says: &[
            "what|which|anything * changed|modified|uncommitted|staged|dirty",
            "is * tree|repo|repository clean|dirty",
            "show|list|print|what|check|are|display * uncommitted|staged|modified|changed|git|repo changes|files|status",
            "status of|in repo|repository",
        ],
        by: &[bash(&[("command", "git status --short")])],
        told: "{printed}",
        told_empty: "Nothing has changed since the last commit.",
        doing: "ask git for the status",
        ..ROW
    },
    Intent {
        name: "show the git diff",
        says: &["show|print|display|what|see|get * diff|difference|differences"],
        by: &[bash(&[("command", "git diff")])],
        told: "{printed}",
        told_empty: "There are no differences.",
        doing: "show the diff",
        ..ROW
    },
];

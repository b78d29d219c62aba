//! Reading files and listing directories: the most general words, so the last rows.
//!
//! Invariant: special rows stand above general ones.

use crate::model::rehearsal::table::{Intent, ROW, bash, way};

/// The rows.
pub const READING: &[Intent] = &[
    Intent {
        name: "read the first lines of a file",
        says: &[
            "read|show|print|display|give|get|view|what first {n:number} lines|line of|from|in {path}",
            "head of {path}",
        ],
        fills: &[("n", "10")],
        by: &[
            way("read_file", &[("path", "{path}"), ("limit", "{n|number}")]),
            bash(&[("command", "head -n {n} {path|sh}")]),
        ],
        told: "{view}",
        doing: "read the start of {path}",
        ..ROW
    },
    Intent {
        name: "read the last lines of a file",
        says: &[
            "read|show|print|display|give|get|view|what last {n:number} lines|line of|from|in {path}",
            "read|show|print|display|give|get|view|what {n:number} lines|line of|from|in {path}",
            "tail of {path}",
        ],
        fills: &[("n", "10")],
        by: &[bash(&[("command", "tail -n {n} {path|sh}")])],
        told: "{view}",
        doing: "read the end of {path}",
        ..ROW
    },
    Intent {
        name: "summarize a file",
        says: &[
            "summarize|summarise|explain|describe * {path}",
            "what is|does {path} about|do|for",
            "give|write|tell * summary|overview|gist * {path}",
            "tell about {path}",
            "what {path} is|does about|do",
        ],
        by: &[
            way("read_file", &[("path", "{path}")]),
            bash(&[("command", "cat {path|sh}")]),
        ],
        each: true,
        seeks: true,
        told: "{path}: {gist}",
        doing: "read {path}",
        ..ROW
    },
    Intent {
        name: "show the contents of a file",
        says: &[
            "list|show|print|display|give|dump|output its contents|content|text",
            "list|show|print|display|give|dump|output * contents|content|text of|in {path:file}",
        ],
        fills: &[("path", "it")],
        by: &[
            way("read_file", &[("path", "{path}")]),
            bash(&[("command", "cat {path|sh}")]),
        ],
        each: true,
        seeks: true,
        told: "{contents}",
        doing: "read {path}",
        ..ROW
    },
    Intent {
        name: "read a file",
        says: &[
            "read|open|print|check|inspect|load|review|examine|dump|output * {path}",
            "type out {path}",
            "type {path}",
            "read|tell its contents|content",
            "show|display|view|see|look|get|give * {path:file}",
            "what is|does|in|inside * {path:file}",
            "content|contents|text of {path:file}",
            "what {path} say|says|contain|contains",
            "read|show|open|print|display|view|check|verify|reread {path:it}",
            "read back",
            "continue|keep|go|carry|finish * reading {path}",
            "look at {path:it}",
            "read|open|show|view file",
            "verify|check it|file|result|contents|content",
            "what does it|file|that say|contain",
        ],
        fills: &[("path", "it")],
        by: &[
            way("read_file", &[("path", "{path}")]),
            bash(&[("command", "cat {path|sh}")]),
        ],
        each: true,
        seeks: true,
        told: "{view}",
        doing: "read {path}",
        ..ROW
    },
    Intent {
        name: "list hidden files",
        says: &["list|show|display|see|what|which * hidden * files|file"],
        also: &["in|inside|under|of {where:place}"],
        fills: &[("where", "."), ("label", "entries")],
        by: &[bash(&[("command", "ls -A{where|behind}")])],
        told: "I see {list}.",
        doing: "list the files",
        ..ROW
    },
    Intent {
        name: "list the directories",
        says: &[
            "list|show|display|find|see|what|which directories|folders|subdirectories|subfolders",
        ],
        also: &["in|inside|under|of {where:place}"],
        fills: &[("where", "."), ("label", "directories")],
        by: &[bash(&[(
            "command",
            "find {where|sh} -maxdepth 1 -mindepth 1 -type d -not -name '.*'",
        )])],
        told: "I see {list}.",
        doing: "list the directories",
        ..ROW
    },
    Intent {
        name: "list a directory",
        says: &[
            "list|show|display|print|see|get|what|which|view * files|file|contents|content|everything * in|of|inside|under {where:place} *",
            "list|show|display|print|get|read|open {where:place} directory|folder|dir",
            "list|show|display|read|open directory|folder|dir {where:place}",
            "^ list {where:place} $",
            "show|display|view {where:path}",
            "list|show|display|print|see|get|give files|everything|directory|folder|contents|content|stuff|listing|there|here",
            "list|show|display|see|get|view * files|directory|folder",
            "what|which files|file|else",
            "what is|are|do|is * here|there|directory|folder|workspace|files",
            "what in|inside here|there|directory|folder",
            "how many files",
            "what we|you have|got here|there",
            "look around",
            "explore|browse {where:place}",
            "^ explore|browse",
            "^ list $",
            "^ dir $",
            "take look",
            "what here|is in|inside * {where:place}",
        ],
        also: &["in|inside|under|of {where:place}"],
        fills: &[("where", "."), ("label", "entries")],
        by: &[
            bash(&[("command", "ls{where|behind}")]),
            way("glob", &[("pattern", "{where|under}*")]),
        ],
        told: "I see {list}.",
        doing: "list the files",
        ..ROW
    },
];

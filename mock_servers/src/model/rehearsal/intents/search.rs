//! Looking for files and for text in them.
//!
//! Invariant: special rows stand above general ones.

use crate::model::rehearsal::table::{First, Intent, ROW, bash, way};

/// The rows.
pub const SEARCH: &[Intent] = &[
    Intent {
        name: "count lines",
        says: &[
            "how many lines * {path}",
            "count|number|amount * lines * {path}",
            "line count * {path}",
            "how long|big is {path}",
            "lines * {path} have|has",
            "count|how * lines",
        ],
        fills: &[("path", "it")],
        by: &[
            bash(&[("command", "wc -l {path|sh}")]),
            way("read_file", &[("path", "{path}")]),
        ],
        each: true,
        told: "{path} has {lines}.",
        doing: "count the lines of {path}",
        ..ROW
    },
    Intent {
        name: "search for text",
        says: &[
            "search|grep|scan|look|find|check|hunt * for {what:quote}",
            "search|grep|scan * {where:path} for {what:word}",
            "find|search|grep|list|show occurrences|mentions|uses|usages|lines of|with|containing|that {what:word}",
            "search|grep for {what:word} in|inside|under|through|across",
            "look|find|scan for {what:word} in|inside|under|through|across",
            "find|locate|grep|search {what:quote} in|inside|under|through|across",
            "grep {what:word}",
            "^ search|grep|scan|look for {what:word} $",
            "find|search|look word|text|string|phrase|line|term {what:word}",
            "find|search {what:word} in|inside|under code|source|sources|codebase|project|repo",
            "find|search|list|show|which|look * files|file with|having|that|where|in {what:quote}",
            "where is|are {what:quote}",
            "where is|are {what:word} used|defined|mentioned|called",
            "find|list|show|which * files * contain|contains|containing|mention|mentions|mentioning word|text|string|phrase {what:word}",
            "find|list|show|which * files * contain|contains|containing|mention|mentions|mentioning {what:word}",
            "search|grep|scan code|codebase|project|repo|repository|files|workspace|directory for {what:word}",
        ],
        also: &[
            "in|inside|under|through|across {where:path}",
            "in|inside|under|through|across {where:place}",
        ],
        fills: &[("where", ".")],
        by: &[bash(&[(
            "command",
            "grep -rnI --exclude-dir='.?*' -e {what|sh} {where|sh}",
        )])],
        told: "{matches}",
        doing: "search for `{what}`",
        ..ROW
    },
    Intent {
        name: "read all files of a kind",
        says: &[
            "read|open|summarize|summarise|explain|review|print {kind:files} files|file|scripts|sources",
            "read|open|summarize|summarise|review files|file in|under|inside {where:place}",
            "read|open|summarize|summarise|review|print every|all|each files|file",
            "read|open|summarize|summarise|review|print each|single|everything files|file|in|inside|under|here|there",
            "read|open|summarize|summarise|review|print single|one files|file",
            "read|open|summarize|summarise|review|print everything",
            "go|look|work|read through files|file|everything",
            "go|look|work|read through each|single|one files|file",
            "read|summarize|summarise|review entire|complete workspace|project|repo|repository|folder|directory|codebase",
            "read|summarize|summarise|review whole workspace|project|repo|repository|folder|directory|codebase",
            "read|open|review contents|content of folder|directory",
            "show|display|view|print|see each|single|every files|file|one",
            "read|open|show|summarize|summarise|review|print each|all|every of files|file|them",
            "read|open|summarize|summarise|review|print of files|file",
            "look at|through every|each|single|all files|file",
            "take|have look at|through every|each|single|all files|file",
            "summarize|summarise|explain|describe every|each|all|single files|file",
        ],
        fills: &[("kind", "*"), ("label", "files")],
        by: &[
            way("read_file", &[("path", "{path}")]),
            bash(&[("command", "cat {path|sh}")]),
        ],
        also: &["in|inside|under|within|of {where:place}"],
        first: Some(First {
            intent: "find files",
            path: "",
        }),
        each: true,
        retells: true,
        told: "{path}: {gist}",
        doing: "read {path}",
        ..ROW
    },
    Intent {
        name: "find files",
        says: &[
            "list|find|show|search|locate|get|print|display|give|see|view * {kind:files} files|file|scripts|sources|modules|code",
            "what|which|are|is|how * {kind:files} files|file|scripts|sources|modules",
            "list|find|show|what|which * files|everything * ending|end|ends|suffix|extension|type|named {kind:files}",
            "list|find|show {kind:files}",
            "how many {kind:files}",
            "count|number {kind:files}",
        ],
        also: &["in|inside|under|within|of {where:place}"],
        fills: &[("where", ".")],
        by: &[
            way("glob", &[("pattern", "{where|under}**/{kind}")]),
            bash(&[(
                "command",
                "find {where|sh} -name {kind|sh} -not -path '*/.*'",
            )]),
        ],
        told: "I found {list}.",
        doing: "look for {label}",
        ..ROW
    },
    Intent {
        name: "find a file by name",
        says: &[
            "find|locate|search * {path}",
            "where is|are {path}",
            "is there * {path}",
            "check|see|verify|tell|find if|whether * {path}",
            "does {path} exist|exists",
            "check|see|verify if|whether|that {path} exists|exist",
            "do we|you have {path}",
            "find|locate|search * file|files called|named {path:word}",
        ],
        by: &[
            way("glob", &[("pattern", "**/{path}")]),
            bash(&[(
                "command",
                "find . -path {path|anywhere} -not -path '*/.git/*'",
            )]),
        ],
        each: true,
        told: "I found {list}.",
        doing: "look for {path}",
        ..ROW
    },
    Intent {
        name: "look for a similar name",
        by: &[
            bash(&[(
                "command",
                "find . -iname {path|similar} -type f -not -path '*/.*'",
            )]),
            way("glob", &[("pattern", "**/{path|similar_glob}")]),
        ],
        doing: "look for a similar name",
        ..ROW
    },
];

//! Files and directories: creating, changing, moving, deleting.
//!
//! Invariant: special rows stand above general ones.

use crate::model::rehearsal::table::{First, Intent, ROW, bash, way};

/// The rows.
pub const FILES: &[Intent] = &[
    Intent {
        name: "write a summary file",
        says: &[
            "create|write|make|add|save|generate|put * summary|overview * to|in|into|as|called|named|at {path}",
            "create|write|make|add|save|generate|put * summary|overview file {path}",
            "create|write|make|add|save|generate * summary|overview",
            "summarize|summarise * in|into|to {path}",
        ],
        fills: &[("path", "SUMMARY.md")],
        by: &[
            way(
                "write_file",
                &[("path", "{path}"), ("content", "{summary}")],
            ),
            bash(&[(
                "command",
                "{mkdir}printf '%s\\n' {summary|line} > {path|sh}",
            )]),
        ],
        changes: true,
        first: Some(First {
            intent: "read a file",
            path: "README.md",
        }),
        told: "I wrote the summary to {path}.",
        doing: "write the summary to {path}",
        ..ROW
    },
    Intent {
        name: "create a directory",
        says: &[
            "create|make|add|set directory|folder|dir called|named {path:word}",
            "create|make|add directory|folder|dir {path:word}",
            "create|make|add {path:word} directory|folder|dir",
        ],
        by: &[bash(&[("command", "mkdir -p {path|sh}")])],
        changes: true,
        told: "I created the directory {path}.",
        doing: "create the directory {path}",
        ..ROW
    },
    Intent {
        name: "append to a file",
        says: &[
            "append|add line|text|lines|word|words {content:text} to|at|in {path}",
            "append {content:text} to|at|in {path}",
            "add|put {content:quote} to|at * {path}",
            "append {content:quote} * it|file",
            "add line|text {content:text} to it|file",
            "append to {path} * {content:quote}",
        ],
        fills: &[("path", "it")],
        by: &[bash(&[(
            "command",
            "printf '%s\\n' {content|line} >> {path|sh}",
        )])],
        changes: true,
        told: "I appended the text to {path}.",
        doing: "append to {path}",
        ..ROW
    },
    Intent {
        name: "replace text in a file",
        says: &[
            "change|update|bump|set|edit {what:text} from {old:text} to {new:text} in {path}",
            "change|update|bump|set|edit {what:text} from {old:text} to {new:text}",
            "replace|change|substitute occurrences|occurrence of {old:text} with|by|to {new:text} in|inside|within {path}",
            "replace|change|substitute word|text|string|line {old:text} with|by|to {new:text} in|inside|within {path}",
            "replace|change|substitute|swap|edit {old:text} with|by|to|into {new:text} in|inside|within {path}",
            "rename|replace function|variable|method|class|constant {old:word} to|into|as|with|by {new:word} in|inside|within {path}",
            "in {path} replace|change|substitute|swap {old:text} with|by|to|into {new:text}",
            "edit|change|update|modify|open {path} * replace|change {old:text} with|by|to|into {new:text}",
            "edit|change|update|modify {path} * from {old:text} to {new:text}",
            "replace|change|substitute|swap {old:quote} with|by|to|into {new:quote}",
            "replace {old:text} with|by {new:text}",
        ],
        fills: &[("path", "it")],
        by: &[
            way(
                "edit_file",
                &[
                    ("path", "{path}"),
                    ("old_text", "{old}"),
                    ("new_text", "{new}"),
                ],
            ),
            bash(&[(
                "command",
                "sed 's/{old|sed}/{new|sed}/g' {path|sh} > {path.tmp|sh} && mv {path.tmp|sh} {path|sh}",
            )]),
        ],
        changes: true,
        told: "I replaced `{old}` with `{new}` in {path}.",
        doing: "replace `{old}` in {path}",
        ..ROW
    },
    Intent {
        name: "write tests for a file",
        says: &[
            "write|create|add|make|generate|produce|put * tests|test * for|to|of {path}",
            "cover {path:file} with tests|test",
        ],
        by: &[
            way("write_file", &[("path", "{test}"), ("content", "{tests}")]),
            bash(&[("command", "printf '%s\\n' {tests|line} > {test|sh}")]),
        ],
        changes: true,
        told: "I wrote a first test of {path} to {test}: it imports the module. More tests I cannot rehearse.",
        doing: "write a first test for {path}",
        ..ROW
    },
    Intent {
        name: "make a copy of a file",
        says: &[
            "create|make|write|save|keep copy|backup|duplicate of {from:path} as|to|in|into|called|named|at {to:word}",
            "create|make|write|save|keep copy|backup|duplicate of {from:path}",
            "back up {from:path}",
            "save|write|store {from:path} as|under {to:path}",
            "put|write|save|store {from:it} to|into|in|as {to:file}",
            "create|make|write|save {to:file} with|from contents|content|text of|from {from:path}",
        ],
        fills: &[("to", "{from}.bak")],
        by: &[bash(&[("command", "cp {from|sh} {to|sh}")])],
        changes: true,
        told: "I copied {from} to {to}.",
        doing: "copy {from} to {to}",
        ..ROW
    },
    Intent {
        name: "make a file executable",
        says: &["make|set|mark {path:file} executable|runnable"],
        by: &[bash(&[("command", "chmod +x {path|sh}")])],
        changes: true,
        told: "I made {path} executable.",
        doing: "make {path} executable",
        ..ROW
    },
    Intent {
        // A file that is there is never written over with the words of a request.
        name: "change a file in words",
        says: &[
            "add|insert|include|append|attach|integrate|implement|introduce * to|into|in|inside|for {path:file}",
            "put|write|save|store {what:words} to|into|in|inside {path:code}",
            "put|write|create|make|generate|produce * for|of|about|from|inside {path:file}",
            "update|change|modify|edit|extend|fix|rewrite|convert|adapt|debug|optimize|optimise|simplify|rework|repair|shorten * {path:file}",
            "make {path:file} faster|better|shorter|simpler|cleaner|nicer|safer|robust|readable|work|more|less|use|return|accept|take|handle|support|start|stop|run",
            "make sure|certain * {path:file}",
        ],
        by: &[
            way("read_file", &[("path", "{path}")]),
            bash(&[("command", "cat {path|sh}")]),
        ],
        each: true,
        told: "I read {path}: {gist}\nThis change I cannot rehearse in these words, so I left {path} as it is. Tell me the exact text: replace \"old\" with \"new\" in {path}, or append \"a line\" to {path}.",
        doing: "read {path} before it is changed",
        ..ROW
    },
    Intent {
        name: "create an empty file",
        says: &[
            "create|make|add empty|blank file|script called|named {path:word}",
            "create|make|add empty|blank file|script {path}",
            "create|make|add empty|blank {path}",
        ],
        by: &[
            way("write_file", &[("path", "{path}"), ("content", "")]),
            bash(&[("command", "{mkdir}: > {path|sh}")]),
        ],
        changes: true,
        each: true,
        told: "I created {path}, an empty file.",
        doing: "create {path}",
        ..ROW
    },
    Intent {
        name: "create a file",
        says: &[
            "create|make|write|add|generate|save|produce file|script|program|module called|named {path:word}",
            "put|write|save|store text|line|word|words|string {content:text} to|in|into|as file called|named {path:word}",
            "put|write|save|store text|line|word|words|string {content:text} to|in|into|as {path}",
            "put|write|save|store {content:words} to|in|into|as file called|named {path:word}",
            "create|make|write|add|generate|save|produce * file|script|program|module called|named {path:word}",
            "try|attempt write|create|save|put|writing|creating|saving|putting * file|something|anything to|at|in|into|under {path}",
            "try|attempt write|create|save|put|writing|creating|saving|putting file|something|anything to|at|in|into|under {path}",
            "write|create|save|put|make file|something|anything to|at|in|into|under {path}",
            "write|put|save|store|echo {content:quote} to|in|into|as {path}",
            "write|put|save|store {content:words} to|in|into|as {path}",
            "create|make|write|add|generate|save|produce|put * {path}",
            "create|make|write|add|generate * {kind:files} file|script|program|module",
            "create|make|add file",
            "^ new file|script {path:word}",
            "i need|want * file|script|module|program called|named {path:word}",
            "i need|want * file|script|module|program with|by name {path:word}",
            "set|setup up * file|script|program|module called|named {path:word}",
        ],
        also: &[
            "with|containing|saying|of|write|put|save|store|compose|create|make {content:piece}",
            "with|containing|contains|saying content|contents|text|line|body {content:text}",
            "with|containing content|contents|text|line|body of|being {content:text}",
            "content|contents|text is|are|should|shall * {content:quote}",
            "that|which|to|and|it|should prints|print|printing|outputs|output|echoes|echo {print:text}",
            "printing|outputting|prints|outputs {print:text}",
            "that|which says|say|shows|show {print:text}",
            "that|which contains|contain|holds|hold|reads {content:text}",
            "containing|saying|holding|reading {content:text}",
            "with|containing|defining|has|contains|defines|of a|an|the|one function called|named {function:text}",
            "with|containing|defining|has|contains|defines|of a|an|the|one {function:text} function",
            "with|containing|defining|has|contains|defines|of a|an|the|one function {function:text}",
            "^ create|make|write|add|put a|an|the {function:text} function",
            "with|containing|for|defining|has|contains|defines {about:words} table|tables",
            "with|containing|for|defining|has|contains|defines a|an|one|two|the {about:words} table|tables",
            "table|tables called|named|for {about:word}",
            "create|make|write|add|put|define {about:words} table|tables",
            "create|make|write|add|put|define a|an|one|two|the {about:words} table|tables",
            "content|contents {content:text}",
            "with {content:quote}",
            "with {content:word} $",
        ],
        fills: &[("path", "{kind|sample}"), ("path", "new_file.txt")],
        by: &[
            way(
                "write_file",
                &[("path", "{path}"), ("content", "{content}")],
            ),
            bash(&[(
                "command",
                "{mkdir}printf '%s\\n' {content|line} > {path|sh}",
            )]),
        ],
        changes: true,
        each: true,
        told: "I created {path}.",
        doing: "create {path}",
        ..ROW
    },
    Intent {
        name: "rename a file",
        says: &[
            "rename|move {from:path} to|into|as {to:word}",
            "rename|move {from:it} to|into|as {to:word}",
            "rename|move file to|into|as {to:word}",
        ],
        fills: &[("from", "it")],
        by: &[bash(&[("command", "mv {from|sh} {to|sh}")])],
        changes: true,
        told: "I renamed {from} to {to}.",
        doing: "rename {from} to {to}",
        ..ROW
    },
    Intent {
        name: "copy a file",
        says: &[
            "copy|duplicate {from:path} to|into|as {to:word}",
            "copy|duplicate {from:it} to|into|as {to:word}",
        ],
        by: &[bash(&[("command", "cp {from|sh} {to|sh}")])],
        changes: true,
        told: "I copied {from} to {to}.",
        doing: "copy {from} to {to}",
        ..ROW
    },
    Intent {
        name: "delete temporary files",
        says: &[
            "delete|remove|clean|clear|erase|purge * temporary|temp|tmp files|file * in|from|under|inside {path}",
            "clean|clear|empty up|out {path}",
            "clean|clear|empty {path}",
        ],
        // Only *.tmp: in the first lessons nobody asks the user before it runs.
        by: &[bash(&[("command", "rm -rf {path|sh}/*.tmp")])],
        changes: true,
        told: "I deleted the temporary files in {path}.",
        doing: "delete the temporary files in {path}",
        ..ROW
    },
    Intent {
        name: "delete a directory",
        says: &[
            "delete|remove|erase directory|folder|dir {path:word}",
            "delete|remove|erase {path:word} directory|folder|dir",
            "delete|remove|erase {path:place} $",
        ],
        by: &[bash(&[("command", "rm -r {path|sh}")])],
        changes: true,
        told: "I deleted the directory {path}.",
        doing: "delete the directory {path}",
        ..ROW
    },
    Intent {
        name: "delete a file",
        says: &[
            "delete|remove|erase|unlink|discard * {path}",
            "get rid of {path}",
            "delete|remove|erase {path:it}",
            "delete|remove|erase file",
            "get rid of {path:it}",
        ],
        fills: &[("path", "it")],
        by: &[bash(&[("command", "rm {path|sh}")])],
        changes: true,
        each: true,
        told: "I deleted {path}.",
        doing: "delete {path}",
        ..ROW
    },
    Intent {
        name: "delete files of a kind",
        says: &["delete|remove|erase {kind:files} files|file|scripts"],
        by: &[bash(&[("command", "rm {kind}")])],
        changes: true,
        told: "I deleted the {label}.",
        doing: "delete the {label}",
        ..ROW
    },
];

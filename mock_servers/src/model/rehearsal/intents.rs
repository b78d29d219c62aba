//! The table of intents: what the rehearsal model understands, and how it does it.
//!
//! Read it from top to bottom. To teach the model something new, add a row: the words that ask for it, the tools that
//! can do it, and what it says afterwards. Put a special row above a general one.
//! Invariant: every tool is named in order of preference, and bash comes last where a tool of its own exists.

use super::table::{First, Intent, ROW, bash, way};

/// All rows.
pub const INTENTS: &[Intent] = &[
    // ---- About the conversation: no tool is needed. ----
    Intent {
        name: "say what was done",
        says: &["what|which * did|have you", "what|which * you created|made|changed|done|ran|deleted|wrote"],
        told: "{history}",
        ..ROW
    },
    Intent {
        name: "list the tools",
        says: &["what|which|list|show * tools", "tools available|offer|offered"],
        told: "{tools}",
        ..ROW
    },
    Intent {
        name: "tell what a project is about",
        says: &[
            "tell|explain|describe|summarize|summarise|say * project|repo|repository|workspace|codebase|crate|program",
            "what * project|repo|repository|workspace|codebase|crate|program about|do|does|for",
            "what project|repo|repository|workspace|codebase|crate",
            "what is it|this|that about|for",
            "what it|this|that|they is|are about|for",
            "tell|explain|describe|summarize|summarise it|them|that|contents|content|findings|about",
        ],
        first: Some(First { intent: "read a file", path: "README.md" }),
        retells: true,
        told: "{gists}",
        ..ROW
    },
    Intent {
        name: "show the last output",
        says: &[
            "tell|show|give|report|explain|print|display|what * output|outputs|prints|printed|result|results|happens|happened",
            "what it|that says|said|does|did|prints|printed|contains",
            "tell|show|give|report|list it|them|what",
        ],
        told: "{previous}",
        ..ROW
    },
    // ---- Files: creating and changing. ----
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
            way("write_file", &[("path", "{path}"), ("content", "{summary}")]),
            bash(&[("command", "{mkdir}printf '%s' {summary|sh} > {path|sh}")]),
        ],
        changes: true,
        first: Some(First { intent: "read a file", path: "README.md" }),
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
        by: &[bash(&[("command", "printf '%s' {content|sh} >> {path|sh}")])],
        changes: true,
        told: "I appended it to {path}.",
        doing: "append to {path}",
        ..ROW
    },
    Intent {
        name: "replace text in a file",
        says: &[
            "replace|change|substitute|swap|edit {old:text} with|by|to|into {new:text} in|inside|within {path}",
            "in {path} replace|change|substitute|swap {old:text} with|by|to|into {new:text}",
            "edit|change|update|modify|open {path} * replace|change {old:text} with|by|to|into {new:text}",
            "edit|change|update|modify {path} * from {old:text} to {new:text}",
            "replace|change|substitute|swap {old:quote} with|by|to|into {new:quote}",
            "replace {old:text} with|by {new:text}",
        ],
        fills: &[("path", "it")],
        by: &[
            way("edit_file", &[("path", "{path}"), ("old_text", "{old}"), ("new_text", "{new}")]),
            bash(&[("command", "sed 's/{old|sed}/{new|sed}/g' {path|sh} > {path.tmp|sh} && mv {path.tmp|sh} {path|sh}")]),
        ],
        changes: true,
        told: "I replaced `{old}` with `{new}` in {path}.",
        doing: "replace `{old}` in {path}",
        ..ROW
    },
    Intent {
        name: "create a file",
        says: &[
            "create|make|write|add|generate|save|touch|produce * file|script|program|module called|named {path:word}",
            "try|attempt write|create|save|put * file|something|anything to|at|in|into|under {path}",
            "write|create|save|put|make file|something|anything to|at|in|into|under {path}",
            "write|put|save|store|echo {content:quote} to|in|into|as {path}",
            "write|put|save|store {content:text} to|in|into|as {path}",
            "create|make|write|add|generate|save|touch|produce * {path}",
            "create|make|add file",
            "i need|want * file called|named {path:word}",
        ],
        also: &[
            "with|containing|contains|saying content|contents|text|line|body of? {content:text}",
            "content|contents|text is|are|should|shall * {content:quote}",
            "that|which|to|and|it|should prints|print|printing|outputs|output|echoes|echo {print:text}",
            "printing|outputting|prints|outputs {print:text}",
            "that|which says|say|shows|show|contains|contain|holds|hold|reads {content:text}",
            "containing|saying|holding|reading {content:text}",
            "with {content:quote}",
        ],
        fills: &[("path", "new_file.txt")],
        by: &[
            way("write_file", &[("path", "{path}"), ("content", "{content}")]),
            bash(&[("command", "{mkdir}printf '%s' {content|sh} > {path|sh}")]),
        ],
        changes: true,
        each: true,
        told: "I created {path}.",
        doing: "create {path}",
        ..ROW
    },
    Intent {
        name: "rename a file",
        says: &["rename|move {from:path} to|into|as {to:word}", "rename|move {from:it} to|into|as {to:word}",
            "rename|move file to|into|as {to:word}"],
        fills: &[("from", "it")],
        by: &[bash(&[("command", "mv {from|sh} {to|sh}")])],
        changes: true,
        told: "I renamed {from} to {to}.",
        doing: "rename {from} to {to}",
        ..ROW
    },
    Intent {
        name: "copy a file",
        says: &["copy|duplicate {from:path} to|into|as {to:word}", "copy|duplicate {from:it} to|into|as {to:word}"],
        by: &[bash(&[("command", "cp {from|sh} {to|sh}")])],
        changes: true,
        told: "I copied {from} to {to}.",
        doing: "copy {from} to {to}",
        ..ROW
    },
    Intent {
        name: "delete temporary files",
        says: &["delete|remove|clean|clear|erase|purge * temporary|temp|tmp files|file * in|from|under|inside {path}",
            "clean|clear|empty up|out {path}", "clean|clear|empty {path}"],
        // Only *.tmp: in the first lessons nobody asks the user before it runs.
        by: &[bash(&[("command", "rm -rf {path|sh}/*.tmp")])],
        changes: true,
        told: "I deleted the temporary files in {path}.",
        doing: "delete the temporary files in {path}",
        ..ROW
    },
    Intent {
        name: "delete a directory",
        says: &["delete|remove|erase directory|folder|dir {path:word}", "delete|remove|erase {path:word} directory|folder|dir"],
        by: &[bash(&[("command", "rm -r {path|sh}")])],
        changes: true,
        told: "I deleted the directory {path}.",
        doing: "delete the directory {path}",
        ..ROW
    },
    Intent {
        name: "delete a file",
        says: &["delete|remove|erase|unlink|discard * {path}", "get rid of {path}",
            "delete|remove|erase {path:it}", "delete|remove|erase file", "get rid of {path:it}"],
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
    // ---- Looking: counting, searching, listing. ----
    Intent {
        name: "count lines",
        says: &["how many lines * {path}", "count|number|amount * lines * {path}", "line count * {path}",
            "how long|big is {path}", "lines * {path} have|has", "count|how * lines"],
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
            "find|search {what:word} in|inside|under code|source|sources|{where:path}",
            "where is|are {what:quote}",
            "where is|are {what:word} used|defined|mentioned|called",
            "find|list|show|which * files * contain|contains|containing|mention|mentions|mentioning {what:word}",
        ],
        also: &["in|inside|under|through|across {where:place}"],
        fills: &[("where", ".")],
        by: &[bash(&[("command", "grep -rnI --exclude-dir='.?*' -e {what|sh} {where|sh}")])],
        told: "{matches}",
        doing: "search for `{what}`",
        ..ROW
    },
    Intent {
        name: "read all files of a kind",
        says: &[
            "read|open|show|summarize|summarise|explain|review|print {kind:files} files|file|scripts|sources in|under|inside {where:place}",
            "read|open|summarize|summarise|explain|review|print {kind:files} files|file|scripts|sources",
            "read|open|summarize|summarise|review files|file in|under|inside {where:place}",
        ],
        fills: &[("kind", "*"), ("label", "files"), ("path", "it")],
        by: &[
            way("read_file", &[("path", "{path}")]),
            bash(&[("command", "cat {path|sh}")]),
        ],
        first: Some(First { intent: "find files", path: "" }),
        each: true,
        retells: true,
        told: "{path}: {gist}",
        doing: "read them",
        ..ROW
    },
    Intent {
        name: "find files",
        says: &[
            "list|find|show|search|locate|get|print|display|give * {kind:files} files|file|scripts|sources|modules|code",
            "what|which|are|is|how * {kind:files} files|file|scripts|sources|modules",
            "list|find|show|what|which * files|everything * ending|end|ends|suffix|extension|type|named {kind:files}",
            "list|find|show {kind:files}",
            "how many {kind:files}",
        ],
        also: &["in|inside|under|within|of {where:place}"],
        fills: &[("where", ".")],
        by: &[
            way("glob", &[("pattern", "{where|under}**/{kind}")]),
            bash(&[("command", "find {where|sh} -name {kind|sh} -not -path '*/.*'")]),
        ],
        told: "I found {list}.",
        doing: "look for {label}",
        ..ROW
    },
    Intent {
        name: "find a file by name",
        says: &[
            "find|locate|search * {path}", "where is|are {path}", "is there * {path}", "does {path} exist|exists",
            "check|see|verify if|whether|that {path} exists|exist", "do we|you have {path}",
            "find|locate|search * file|files called|named {path:word}",
        ],
        by: &[
            way("glob", &[("pattern", "**/{path}")]),
            bash(&[("command", "find . -path {path|anywhere} -not -path '*/.git/*'")]),
        ],
        each: true,
        told: "I found {list}.",
        doing: "look for {path}",
        ..ROW
    },
    Intent {
        name: "look for a similar name",
        by: &[
            bash(&[("command", "find . -iname {path|similar} -type f -not -path '*/.*'")]),
            way("glob", &[("pattern", "**/{path|similar_glob}")]),
        ],
        doing: "look for a similar name",
        ..ROW
    },
    // ---- Git, before reading and listing: `show the last commit` is no file. ----
    Intent {
        name: "list the git branches",
        says: &["list|show|what|which|print|display * branches"],
        by: &[bash(&[("command", "git branch --all")])],
        told: "{printed}",
        doing: "list the branches",
        ..ROW
    },
    Intent {
        name: "create a git branch",
        says: &["create|make|add * branch called|named {path:word}", "create|make branch {path:word}",
            "switch|change to * branch {path:word}"],
        by: &[bash(&[("command", "git switch -c {path|sh}")])],
        changes: true,
        told: "I created the branch {path} and switched to it.",
        doing: "create the branch {path}",
        ..ROW
    },
    Intent {
        name: "name the git branch",
        says: &["what|which|show|print|tell|get|display|current|name|check|on|find * branch", "branch am|are i|we", "^ branch"],
        by: &[bash(&[("command", "git branch --show-current")])],
        told: "The current git branch is {first}.",
        doing: "ask git for the branch",
        ..ROW
    },
    Intent {
        name: "show the last commits",
        says: &["show|list|what|print|display|give|see|get last|recent|latest|previous {n:number} commits|commit",
            "show|list|print|display|give|get {n:number} last|recent|latest|previous commits",
            "show|list|what|print|display|give|see|get * {n:number} commit",
            "show|list|what|print|display|give|see|get * commits|commit|history|log",
            "git history|commits", "who committed", "recent|last|latest commits|commit"],
        fills: &[("n", "5")],
        by: &[bash(&[("command", "git log --oneline -n {n}")])],
        told: "{printed}",
        doing: "show the last commits",
        ..ROW
    },
    Intent {
        name: "show the git status",
        says: &["what|anything * changed|modified|uncommitted|staged|dirty", "is * tree|repo|repository clean|dirty",
            "show|list|print|what|check|are|display * uncommitted|staged|modified|changed|git|repo changes|files|status",
            "status of|in repo|repository"],
        by: &[bash(&[("command", "git status --short")])],
        told: "{printed}",
        doing: "ask git for the status",
        ..ROW
    },
    Intent {
        name: "show the git diff",
        says: &["show|print|display|what|see|get * diff|difference|differences"],
        by: &[bash(&[("command", "git diff")])],
        told: "{printed}",
        doing: "show the diff",
        ..ROW
    },
    // ---- The machine. ----
    Intent {
        name: "print the working directory",
        says: &["print|show|what|which|tell|display|get|where|current * working|current directory|folder|dir|path",
            "where am|are i|we", "what|which directory|folder am|are", "working directory"],
        by: &[bash(&[("command", "pwd")])],
        told: "The working directory is {first}.",
        doing: "print the working directory",
        ..ROW
    },
    Intent {
        name: "tell the date and time",
        says: &["what|tell|show|print|give|get|display|current|which * date|time|day|clock|weekday", "today|now date"],
        by: &[bash(&[("command", "date")])],
        told: "It is {first}.",
        doing: "ask for the date",
        ..ROW
    },
    Intent {
        name: "tell a program's version",
        says: &["what|which|show|print|check|tell|get * version of {program:word}",
            "what|which|show|print|check|tell|get {program:word} version", "is {program:word} installed"],
        by: &[bash(&[("command", "{program} --version")])],
        told: "{printed}",
        doing: "ask {program} for its version",
        ..ROW
    },
    Intent {
        name: "tell the user's name",
        says: &["which|what|as user am|is i", "who am i"],
        by: &[bash(&[("command", "whoami")])],
        told: "{printed}",
        doing: "ask for the user's name",
        ..ROW
    },
    Intent {
        name: "run the tests",
        says: &["run|execute|start|do|launch * tests|test suite|testsuite", "run|execute * tests|test", "^ test code|project|it|this",
            "do|are tests pass|green|passing", "check|see if|whether|that tests pass"],
        by: &[bash(&[("command", "cargo test")])],
        changes: true,
        told: "{printed}",
        doing: "run the tests",
        ..ROW
    },
    Intent {
        name: "build the project",
        says: &["build|compile project|code|it|crate|workspace|program|everything", "^ build", "^ compile",
            "does it|project|code build|compile"],
        by: &[bash(&[("command", "cargo build")])],
        changes: true,
        told: "{printed}",
        doing: "build the project",
        ..ROW
    },
    Intent {
        name: "run a command",
        says: &[
            "run|execute|exec|launch|invoke|start|try command|line|program {command}",
            "run|execute|exec|launch|invoke|start|try|use {command}",
            "what does {command} print|say|show|output|return|give",
            "output of {command}", "show|what|print|give * of {command}",
            "^ {command}",
        ],
        by: &[bash(&[("command", "{command}")])],
        changes: true,
        told: "{printed}",
        doing: "run `{command}`",
        ..ROW
    },
    Intent {
        name: "run a script",
        says: &["run|execute|start|launch|test|try * {path}", "run|execute|start|launch {path:it}",
            "run|execute|start|launch script|program|file|code"],
        fills: &[("path", "it")],
        by: &[bash(&[("command", "{runner}")])],
        changes: true,
        each: true,
        told: "{printed}",
        doing: "run {path}",
        ..ROW
    },
    // ---- Reading and listing, the most general rows. ----
    Intent {
        name: "list a directory",
        says: &[
            "list|show|display|print|see|get|what|which|view * files|file|contents|content|everything * in|of|inside|under {where:place} *",
            "list|show|display|print|get * {where:path} directory|folder|dir",
            "list directory|folder|dir {where:place}",
            "list {where:path}",
            "list|show|display|print|see|get|give files|everything|directory|folder|contents|content|stuff|listing|there|here",
            "list|show|display|see|get|view * files|directory|folder",
            "what|which files|file|else", "what is|are|do|is * here|there|directory|folder|workspace|files",
            "what in|inside here|there|directory|folder", "how many files", "what we|you have|got here|there",
            "look around", "^ list", "^ dir", "take look", "which|what directories|folders", "what here|is in|inside * {where:place}",
        ],
        also: &["in|inside|under|of {where:place}"],
        fills: &[("where", "."), ("label", "entries")],
        by: &[
            bash(&[("command", "ls {where|sh}")]),
            way("glob", &[("pattern", "{where|under}*")]),
        ],
        told: "I see {list}.",
        doing: "list the files",
        ..ROW
    },
    Intent {
        name: "summarize a file",
        says: &["summarize|summarise|explain|describe * {path}", "what is|does {path} about|do|for",
            "give|write|tell * summary|overview|gist * {path}", "tell about {path}", "what {path} is|does about|do"],
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
        name: "read a file",
        says: &[
            "read|show|open|print|display|view|see|check|inspect|load|review|look|examine|dump|type|output|give|get * {path}",
            "what is|does|in|inside * {path}", "content|contents of {path}", "what {path} say|says|contain|contains",
            "read|show|open|print|display|view|check|verify|reread {path:it}", "read back", "look at {path:it}",
            "read|open|show|view file", "verify|check it|file|result|contents|content", "continue reading {path}",
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
];

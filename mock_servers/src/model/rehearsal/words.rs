//! The vocabulary: words the tables of the rehearsal brain share, as plain data.
//!
//! It is data so that a teacher who misses a word, a language or a program adds it here and nowhere else.
//! Invariant: every word is lower case; comparison ignores case.

/// Quotation marks: what opens, and what may close it. Longer marks come first.
pub const QUOTES: &[(&str, &[&str])] = &[
    ("```", &["```"]),
    ("`", &["`"]),
    ("\"", &["\""]),
    ("'", &["'"]),
    ("“", &["”", "“"]),
    ("„", &["“", "”"]),
    ("‘", &["’", "‘"]),
    ("«", &["»"]),
];

/// Marks that end a word without belonging to it.
pub const PUNCTUATION: &[char] = &[',', ';', ':', '.', '!', '?', ')', ']', '}', '"', '…'];

/// `what's` is two words.
pub const CONTRACTIONS: &[&str] = &["'s", "’s"];

/// Words that carry nothing; a pattern need not mention them.
pub const FILLERS: &[&str] = &[
    "a",
    "all",
    "also",
    "an",
    "any",
    "both",
    "every",
    "existing",
    "exactly",
    "first",
    "following",
    "just",
    "kindly",
    "me",
    "my",
    "new",
    "now",
    "only",
    "our",
    "please",
    "quickly",
    "simple",
    "small",
    "some",
    "that",
    "the",
    "these",
    "this",
    "those",
    "to",
    "us",
    "whole",
    "your",
];

/// Words that join two steps. The last column says whether the second has to wait for the first.
pub const JOINTS: &[(&str, bool)] = &[
    ("and", false),
    ("also", false),
    ("while", false),
    ("meanwhile", false),
    ("waiting", false),
    ("plus", false),
    ("&", false),
    ("--", false),
    ("–", false),
    ("—", false),
    ("then", true),
    ("afterwards", true),
    ("afterward", true),
    ("next", true),
    ("finally", true),
    ("lastly", true),
    ("after", true),
    ("later", true),
    ("second", true),
    ("secondly", true),
    ("third", true),
    ("thirdly", true),
    ("first", false),
    ("firstly", false),
];

/// Words in front of a question that only lead to it: `can you tell me which …`.
pub const LEADS: &[&str] = &[
    "can", "could", "would", "you", "please", "i", "we", "want", "need", "like", "to", "know",
    "show", "tell", "say", "me", "us", "find", "out", "check", "see", "let", "give", "hey", "hi",
    "hello", "so", "ok", "okay", "look", "at",
];

/// Words that open a question.
pub const QUESTIONS: &[&str] = &["what", "which", "where", "how", "who", "when"];

/// Words for the working directory, or for no directory at all.
pub const HERE: &[&str] = &[
    "code",
    "codebase",
    "contents",
    "current",
    "dir",
    "directories",
    "directory",
    "everything",
    "file",
    "files",
    "folder",
    "folders",
    "here",
    "hidden",
    "it",
    "project",
    "repo",
    "repository",
    "root",
    "source",
    "sources",
    "stuff",
    "there",
    "tree",
    "working",
    "workspace",
    "background",
    "parallel",
];

/// What one verb may be said of twice: `create a directory x and a file y`.
pub const OBJECTS: &[&str] = &[
    "file",
    "files",
    "directory",
    "folder",
    "script",
    "program",
    "module",
    "branch",
    "worktree",
    "worktrees",
];

/// Words that only make a request polite.
pub const POLITE: &[&str] = &[
    "please", "can", "could", "would", "you", "kindly", "now", "just", "so", "ok", "okay", "hey",
    "let", "let's", "us",
];

/// Words that call a tool by its name.
pub const CALLS: &[&str] = &["use", "call", "invoke", "run", "execute", "try", "using"];

/// Words that stand for something named before.
pub const PRONOUNS: &[&str] = &["it", "them", "that", "this", "those", "these", "each"];

/// Numbers written out.
pub const NUMBERS: &[(&str, &str)] = &[
    ("one", "1"),
    ("two", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
    ("last", "1"),
    ("latest", "1"),
];

/// Kinds of files: the word, the file name pattern, and what they are called in an answer.
pub const KINDS: &[(&str, &str, &str)] = &[
    ("python", "*.py", "Python files"),
    ("py", "*.py", "Python files"),
    ("rust", "*.rs", "Rust files"),
    ("rs", "*.rs", "Rust files"),
    ("markdown", "*.md", "Markdown files"),
    ("md", "*.md", "Markdown files"),
    ("toml", "*.toml", "TOML files"),
    ("json", "*.json", "JSON files"),
    ("yaml", "*.y*ml", "YAML files"),
    ("text", "*.txt", "text files"),
    ("txt", "*.txt", "text files"),
    ("shell", "*.sh", "shell scripts"),
    ("sh", "*.sh", "shell scripts"),
    ("javascript", "*.js", "JavaScript files"),
    ("js", "*.js", "JavaScript files"),
    ("typescript", "*.ts", "TypeScript files"),
    ("ts", "*.ts", "TypeScript files"),
    ("html", "*.html", "HTML files"),
    ("css", "*.css", "CSS files"),
    ("sql", "*.sql", "SQL files"),
    ("log", "*.log", "log files"),
    ("readme", "README*", "READMEs"),
    ("test", "*test*", "test files"),
];

/// Files people name without their extension.
pub const KNOWN_FILES: &[(&str, &str)] = &[
    ("readme", "README.md"),
    ("makefile", "Makefile"),
    ("dockerfile", "Dockerfile"),
    ("license", "LICENSE"),
    ("changelog", "CHANGELOG.md"),
];

/// What looks like a file name and is none.
pub const NO_PATHS: &[&str] = &[
    "e.g",
    "i.e",
    "etc",
    "and/or",
    "yes/no",
    "input/output",
    "read/write",
    "he/she",
];

/// How a program in each language prints a text, how an empty one begins, and what runs it.
pub struct Language {
    /// The extension of its files.
    pub ext: &'static str,
    /// A whole program; `{text}` is the text, already escaped for double quotes.
    pub prints: &'static str,
    /// A file with nothing in it yet; `{stem}` is its name without extension.
    pub blank: &'static str,
    /// The command that runs a file; `{path}` and `{stem}` are quoted for the shell.
    pub runner: &'static str,
}

/// The languages it can write a first program in.
pub const LANGUAGES: &[Language] = &[
    Language {
        ext: "py",
        prints: "print(\"{text}\")\n",
        blank: "\"\"\"{stem}\"\"\"\n",
        runner: "python3 {path}",
    },
    Language {
        ext: "sh",
        prints: "echo \"{text}\"\n",
        blank: "#!/bin/sh\n",
        runner: "sh {path}",
    },
    Language {
        ext: "js",
        prints: "console.log(\"{text}\");\n",
        blank: "// {stem}\n",
        runner: "node {path}",
    },
    Language {
        ext: "ts",
        prints: "console.log(\"{text}\");\n",
        blank: "// {stem}\n",
        runner: "npx tsx {path}",
    },
    Language {
        ext: "rb",
        prints: "puts \"{text}\"\n",
        blank: "# {stem}\n",
        runner: "ruby {path}",
    },
    Language {
        ext: "rs",
        prints: "fn main() {\n    println!(\"{text}\");\n}\n",
        blank: "//! {stem}\n",
        runner: "rustc {path} -o {stem} && ./{stem}",
    },
    Language {
        ext: "md",
        prints: "{text}\n",
        blank: "# {stem}\n",
        runner: "cat {path}",
    },
];

/// Extensions of files that hold programs or their settings.
pub const CODE: &[&str] = &[
    "c", "cpp", "css", "go", "h", "html", "java", "js", "json", "php", "py", "rb", "rs", "sh",
    "sql", "toml", "ts", "yaml", "yml",
];

/// Programs: a line that begins with one of these is a command as it stands.
pub const PROGRAMS: &[&str] = &[
    "awk", "bash", "cargo", "cat", "cd", "chmod", "cp", "curl", "dd", "df", "docker", "du", "echo",
    "env", "false", "git", "grep", "hostname", "id", "ls", "mkdir", "mkfs", "mv", "node", "npm",
    "npx", "pip", "printenv", "printf", "ps", "pwd", "pytest", "python", "python3", "rg", "rm",
    "rustc", "rustup", "sed", "seq", "sh", "sleep", "sudo", "touch", "tree", "true", "uname",
    "uptime", "wc", "whoami",
];

/// Programs whose names are also English words: commands only behind `run` or `execute`.
pub const ENGLISH_PROGRAMS: &[&str] = &[
    "cut", "date", "diff", "file", "find", "go", "head", "kill", "make", "ruby", "sort", "stat",
    "tail", "tar", "test", "time", "uniq", "which", "who", "yes", "just",
];

/// What may follow a command and is no part of it.
pub const COMMAND_TAILS: &[&str] = &[
    "in the background",
    "in background",
    "in the shell",
    "in a shell",
    "in bash",
    "with bash",
    "for me",
    "please",
    "now",
    "command",
    "again",
];

/// Tags in which a harness wraps what it adds; tags with `-` or `_` in their names always count.
pub const CONTEXT_TAGS: &[&str] = &[
    "context",
    "continue",
    "environment",
    "hook",
    "hooks",
    "inbox",
    "interrupted",
    "mail",
    "memories",
    "memory",
    "message",
    "notice",
    "notification",
    "reminder",
    "skills",
    "summary",
];

/// Tags of what a harness recalled from earlier sessions.
pub const MEMORY_TAGS: &[&str] = &["memory", "memories"];

/// Tags of what a harness asks for itself, in the user's place.
pub const ASKING_TAGS: &[&str] = &["stop-hook"];

/// What the user says to have the request before carried out again.
pub const AGAIN: &[&str] = &[
    "again",
    "continue",
    "go ahead",
    "go on",
    "try again",
    "retry",
    "please continue",
    "do it",
    "do it again",
    "try it again",
    "carry on",
    "proceed",
    "resume",
    "do that",
    "do it now",
    "go for it",
    "carry it out",
    "carry out the plan",
    "execute it",
    "execute the plan",
    "follow the plan",
    "start",
    "start working",
    "let's go",
    "let's do it",
    "work through it",
    "work through the list",
    "do the plan",
];

/// What may stand in front of that.
pub const BEFORE_AGAIN: &[&str] = &[
    "yes", "ok", "okay", "sure", "great", "good", "now ", "please ", "fine",
];

/// Short pieces of writing that one asks for by their kind.
pub const PIECES: &[(&str, &str)] = &[
    (
        "haiku",
        "The loop asks once more,\na tool answers from the dark.\nThe cursor waits. Tea.\n",
    ),
    (
        "poem",
        "A model asked, a tool replied,\nthe harness wrote it down.\nThe loop went round until it stopped:\nthe shortest road in town.\n",
    ),
    (
        "limerick",
        "A model that called its first tool\nwas told by the harness one rule:\n\"For each call you make\na result you must take,\nor the API thinks you a fool.\"\n",
    ),
    (
        "joke",
        "A cup of tea walks into a loop. It is still there: nobody gave it a reason to stop.\n",
    ),
];

/// In a failed result: the user or a rule said no.
pub const DENIED: &[&str] = &[
    "permission denied",
    "not allowed",
    "not permitted",
    "refused",
    "rejected",
    "declined",
    "blocked",
    "forbidden",
    "outside the workspace",
    "said no",
    "answered no",
    "interrupted",
    "cancelled",
];

/// In a failed result: what was named is not there.
pub const MISSING: &[&str] = &[
    "no such file",
    "not found",
    "does not exist",
    "doesn't exist",
    "no file",
];

/// In a failed result: the call itself was wrong.
pub const BAD_ARGUMENT: &[&str] = &[
    "missing field",
    "invalid type",
    "unknown field",
    "invalid argument",
    "expected",
    "argument",
    "missing required",
];

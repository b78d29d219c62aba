//! A bash command line, taken apart into the simple commands that it would run.
//!
//! A permission looks at what runs, not at how it is spelled: `ls; r''m x` runs `rm x`. The grammar is
//! tree-sitter-bash's; bash's own rules on newlines, quotes and heredocs are checked again on its tree (`check`),
//! because the grammar reads some lines differently from bash.
//!
//! Invariant: what is not understood leaves a doubt in the [`Line`]; the commands found all the same are still listed.

use std::fmt::Write as _;

mod carriers;
mod check;
mod quotes;
mod walk;
mod words;

pub(crate) use carriers::is_exec;

/// How deep scripts may stand in scripts (`bash -c "bash -c …"`), and carriers in carriers.
const MAX_NESTING: usize = 5;

/// What a command line runs.
#[derive(Debug, Default)]
pub struct Line {
    /// The simple commands in the order of the text, wherever they stand; those that another command carries
    /// (`timeout 5 rm x`, `bash -c 'rm x'`, `find -exec rm`) stand for themselves.
    pub commands: Vec<Command>,
    /// Why the line is not fully understood; empty when it is.
    pub doubts: Vec<String>,
    /// The name of a function that starts itself twice or in the background.
    pub fork_bomb: Option<String>,
}

/// One simple command. Without words it is an assignment, or the redirect of a whole block.
#[derive(Debug, Clone, Default)]
pub struct Command {
    /// The name and its arguments.
    pub words: Vec<Word>,
    /// `NAME=value` in front, and those of `env`.
    pub assignments: Vec<Assignment>,
    /// Its redirects, heredocs left out: their text is input.
    pub redirects: Vec<Redirect>,
    /// The command as it stood in the line, carriers included, in the form of [`Command::text`].
    pub written: String,
}

/// One word after quote removal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word {
    /// The text; what only the running shell knows stands in it as written (`$HOME`, `*.rs`, `$(date)`).
    pub text: String,
    /// How many bytes at the start of `text` are certain.
    pub known: usize,
    /// Whether an unquoted expansion may make several words of it, or none.
    pub splits: bool,
}

/// `NAME=value`.
#[derive(Debug, Clone)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// Its value.
    pub value: Word,
}

/// A redirect such as `2> file`.
#[derive(Debug, Clone)]
pub struct Redirect {
    /// The operator, without the descriptor in front.
    pub operator: String,
    /// The file, the descriptor, or the text of a here string.
    pub target: Word,
}

impl Line {
    /// Takes a command line apart. Never fails: what is not understood becomes a doubt.
    pub fn parse(command: &str) -> Self {
        let mut line = Self::default();
        line.read(command, 0, None);
        line
    }

    /// Adds the commands of `script`; `carrier` is the command that runs it, as it stood in the line.
    fn read(&mut self, script: &str, nesting: usize, carrier: Option<&str>) {
        if nesting > MAX_NESTING {
            return self.doubt("commands within commands within commands, too deep to follow");
        }
        if script
            .chars()
            .any(|c| c.is_control() && c != '\n' && c != '\t')
        {
            self.doubt("it contains a control character");
        }
        let mut parser = tree_sitter::Parser::new();
        let language = tree_sitter_bash::LANGUAGE.into();
        let tree = parser
            .set_language(&language)
            .ok()
            .and_then(|()| parser.parse(script, None));
        let Some(tree) = tree else {
            return self.doubt("the parser gave up");
        };
        if check::is_too_deep(tree.root_node(), 0) {
            return self.doubt("it is nested too deep to follow");
        }
        if let Err(why) = check::matches_bash(tree.root_node(), script) {
            self.doubt(why);
        }
        walk::Walk::new(script, self, nesting, carrier).statement(tree.root_node());
    }

    fn doubt(&mut self, why: impl Into<String>) {
        let why = why.into();
        if !self.doubts.contains(&why) {
            self.doubts.push(why);
        }
    }
}

impl Command {
    /// The name of the program when it is certain, without a standard directory in front: `/bin/rm` is `rm`.
    pub fn name(&self) -> Option<&str> {
        let word = self.words.first()?;
        word.is_fixed().then(|| program(&word.text))
    }

    /// The words behind the name.
    pub fn args(&self) -> &[Word] {
        self.words.get(1..).unwrap_or_default()
    }

    /// The words in one canonical spelling, which rules are matched against: `r''m  "a b"` is `rm 'a b'`.
    pub fn text(&self) -> String {
        let name = self.name();
        let shown = self.words.iter().enumerate().map(|(at, word)| match name {
            Some(name) if at == 0 => quoted(name),
            _ => word.shown(),
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    /// Like [`Command::text`], with the assignments in front and the redirects behind.
    pub fn full_text(&self) -> String {
        let mut all = String::new();
        for assignment in &self.assignments {
            let _ = write!(all, "{}={} ", assignment.name, assignment.value.shown());
        }
        all += &self.text();
        for redirect in &self.redirects {
            let _ = write!(all, " {} {}", redirect.operator, redirect.target.shown());
        }
        all.trim().to_string()
    }
}

impl Word {
    /// A word of known text.
    pub fn fixed(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            known: text.len(),
            text,
            splits: false,
        }
    }

    /// A word of which nothing is known, not even whether it is one.
    pub(crate) fn unknown() -> Self {
        Self {
            text: "…".to_string(),
            known: 0,
            splits: true,
        }
    }

    /// Whether the whole text is certain.
    pub fn is_fixed(&self) -> bool {
        self.known == self.text.len()
    }

    /// Whether the word is or may become an option: `-o`, `$x`, `*` (a file can be called `-o`).
    pub fn may_be_option(&self) -> bool {
        let home = self.known == 0 && self.text.starts_with('~');
        self.splits
            || self.text.starts_with('-')
            || (self.known == 0 && !self.text.is_empty() && !home)
    }

    /// The word as one would type it.
    pub fn shown(&self) -> String {
        if self.is_fixed() {
            quoted(&self.text)
        } else {
            self.text.clone()
        }
    }
}

impl Redirect {
    /// Whether it neither writes a file nor opens anything but a file that can be read.
    pub fn only_reads(&self) -> bool {
        let target = self.target.text.as_str();
        let fixed = self.target.is_fixed();
        match self.operator.as_str() {
            "<<<" => true,
            "<&-" | ">&-" => target.is_empty(),
            "<&" => fixed && is_descriptor(target),
            "<" => fixed && !target.starts_with("/dev/tcp/") && !target.starts_with("/dev/udp/"),
            ">&" if is_descriptor(target) => fixed,
            _ => fixed && target == "/dev/null",
        }
    }
}

/// `2`, `-` or `2-`; `2-3` is a file.
fn is_descriptor(target: &str) -> bool {
    let digits = target.strip_suffix('-').unwrap_or(target);
    !target.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
}

/// Quotes a word for the shell when it needs it.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_@%+=:,./-^".contains(c);
    let bracket = matches!(text, "[" | "]" | "[[" | "]]");
    if bracket || (!text.is_empty() && text.chars().all(plain)) {
        return text.to_string();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The program behind a path: the last part when it lies in a directory of the system's programs.
fn program(path: &str) -> &str {
    const DIRECTORIES: &[&str] = &[
        "bin",
        "sbin",
        "usr/bin",
        "usr/sbin",
        "usr/local/bin",
        "usr/local/sbin",
        "opt/homebrew/bin",
    ];
    let Some((directory, name)) = path.rsplit_once('/') else {
        return path;
    };
    let parts: Vec<_> = directory
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".")
        .collect();
    let system = directory.is_empty() || directory.starts_with('/');
    if system && DIRECTORIES.contains(&parts.join("/").as_str()) {
        name
    } else {
        path
    }
}

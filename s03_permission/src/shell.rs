//! A bash command line as the policy sees it: a list of plain commands, or a doubt.
//!
//! What a line with variables, substitutions or loops does is known only to the running shell. So a line is read when it
//! consists of commands of plain words, joined by `;`, `&&`, `||`, `|` and newlines; anything else leaves a doubt, and a doubt
//! is a question. The grammar is tree-sitter-bash's.
//!
//! Invariant: a line without doubts is cut into commands and words by bash as it is cut here. In a line with doubts the
//! commands are what could be found, good enough to refuse it and never to allow it.

mod read;

/// What a command line runs.
#[derive(Debug, Default)]
pub struct Line {
    /// The simple commands in the order of the text, wherever they stand.
    pub commands: Vec<Command>,
    /// The parts that are more than plain words; empty when the line is fully read.
    pub doubts: Vec<String>,
    /// The name of a function that starts itself twice or in the background.
    pub fork_bomb: Option<String>,
}

/// One simple command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Command {
    /// The name and its arguments.
    pub words: Vec<Word>,
    /// Its redirects, heredocs left out.
    pub redirects: Vec<Redirect>,
}

/// One word after quote removal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word {
    /// The text; what only the running shell knows stands in it as written (`*.rs`, `$(date)`).
    pub text: String,
    /// How many bytes at the start of `text` are certain.
    pub known: usize,
}

/// A redirect such as `2> file`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// The operator, without the descriptor in front.
    pub operator: String,
    /// The file or the descriptor.
    pub target: Word,
}

impl Line {
    /// Reads a command line. Never fails: what is not understood becomes a doubt.
    pub fn parse(source: &str) -> Self {
        read::read(source)
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
        let mut words: Vec<_> = self.words.iter().map(Word::shown).collect();
        if let (Some(first), Some(name)) = (words.first_mut(), self.name()) {
            *first = Word::fixed(name).shown();
        }
        words.join(" ")
    }

    /// Like [`Command::text`], with the redirects behind.
    pub fn full_text(&self) -> String {
        let redirects = self.redirects.iter().map(Redirect::shown);
        let words = Some(self.text()).filter(|text| !text.is_empty());
        words
            .into_iter()
            .chain(redirects)
            .collect::<Vec<_>>()
            .join(" ")
    }
}

impl Word {
    /// A word of known text.
    pub fn fixed(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            known: text.len(),
            text,
        }
    }

    /// A word that only the running shell knows.
    pub(super) fn unknown(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { text, known: 0 }
    }

    pub(super) fn push(&mut self, more: &Self) {
        if self.is_fixed() {
            self.known += more.known;
        }
        self.text += &more.text;
    }

    /// Whether the whole text is certain.
    pub fn is_fixed(&self) -> bool {
        self.known == self.text.len()
    }

    /// Whether the word is an option, or may become one: a file that `*` finds can be called `-o`.
    pub fn may_be_option(&self) -> bool {
        let opens = self.known == 0 && !self.text.is_empty() && !self.text.starts_with('~');
        opens || (self.text.starts_with('-') && self.text != "-")
    }

    /// The word as one would type it.
    pub fn shown(&self) -> String {
        let plain = |c: char| c.is_alphanumeric() || "_@%+=:,./-^".contains(c);
        if !self.is_fixed() || (!self.text.is_empty() && self.text.chars().all(plain)) {
            return self.text.clone();
        }
        format!("'{}'", self.text.replace('\'', r"'\''"))
    }
}

impl Redirect {
    /// Whether it neither writes a file nor opens one other than to read.
    pub fn only_reads(&self) -> bool {
        let target = self.target.text.as_str();
        let descriptor = matches!(target, "0" | "1" | "2" | "-");
        let network = target.starts_with("/dev/tcp/") || target.starts_with("/dev/udp/");
        self.target.is_fixed()
            && match self.operator.as_str() {
                "<" => !network,
                "<&" => descriptor,
                ">&" => descriptor || target == "/dev/null",
                _ => target == "/dev/null",
            }
    }

    /// The redirect as one would type it, without the descriptor.
    pub fn shown(&self) -> String {
        format!("{} {}", self.operator, self.target.shown())
    }
}

/// The program behind a path: the last part when it lies in a directory of the system's programs. A path with `..` in it
/// may lead elsewhere through a link.
fn program(path: &str) -> &str {
    #[rustfmt::skip]
    const DIRECTORIES: &[&str] = &[
        "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin",
    ];
    match path.rsplit_once('/') {
        Some((directory, name)) if DIRECTORIES.contains(&directory) => name,
        _ => path,
    }
}

/// The parts of a path, `.` and `..` resolved.
pub(crate) fn normal(path: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts
}

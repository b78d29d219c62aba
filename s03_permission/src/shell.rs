//! A bash command line as the policy sees it: plain commands, or a line that only the running shell understands.
//!
//! A plain line consists of blanks, comments, words of harmless characters, quoted text without expansions, redirects, and
//! `;`, `&&`, `||`, `|` and newlines between commands: `TOKEN` is that allow-list. In any other line the commands are found
//! with tree-sitter's bash grammar.
//!
//! Invariant: bash splits a plain line into the same commands and words. What is found in any other line may refuse it and
//! never allow it.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// One token of a plain line, and of any other. A word is pieces, of which the first does not begin a comment.
static TOKEN: LazyLock<[Regex; 2]> = LazyLock::new(|| {
    let plain = r#"[\w@%+=:,./^*?\[\]~!-]+ | '[^']*' | "(?:[^"$`\\]|\\[^"$`\\\n])*""#;
    let any = r#"'[^']*' | "(?:[^"\\]|\\.)*" | \\. | \$\{[^}]*\} | [$<>]\([^)]*\) | `[^`]*` | [^\s;&|<>]"#;
    [(plain, r"[\ \t]+", ""), (any, r"[^\S\n]+", "&")].map(|(piece, blanks, background)| {
        let token = format!(
            r"(?sx) \A (?: {blanks} | \#[^\n]* | && | \|\| | [;|\n{background}]
            | [0-9]*(?: >> | >& | > | < ) | &> | (?:{piece}) (?: \# | {piece} )* )"
        );
        Regex::new(&token).expect("the pattern is well formed")
    })
});

/// A variable with its name and its default, or braces that expand to several words.
static VARIABLE: LazyLock<Regex> = LazyLock::new(|| {
    let variable =
        r#"\$(?:(\w+)|\{(\w+)(?::?[-=+]["']?([^}"']*)["']?)?\})|\s\{([^{}\s]*,[^{}\s]*)\}"#;
    Regex::new(variable).expect("the pattern is well formed")
});

/// Words of the grammar, behind which a command may begin.
const RESERVED: &str =
    "! [[ case do done elif else esac fi for function if in select then until while";

/// What a command line runs.
#[derive(Debug, Default)]
pub struct Line {
    /// The line as written.
    pub text: String,
    /// The simple commands in the order of the text; in a line that is not plain, those that were found.
    pub commands: Vec<Command>,
    /// True if the line is not plain.
    pub unsupported: bool,
}

/// One simple command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Command {
    /// The name and its arguments.
    pub words: Vec<Word>,
    /// Its redirects, heredocs left out: the operator without the descriptor in front, and the file or the descriptor.
    pub redirects: Vec<(String, Word)>,
}

/// One word after quote removal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The text; expansions stay as written (`*.rs`, `$(date)`).
    pub text: String,
    /// True if the text contains no expansions.
    pub is_fixed: bool,
}

impl Line {
    /// Reads a command line; one that is not plain is unsupported.
    pub fn parse(source: &str) -> Self {
        let is_sound = |c: char| matches!(c, '\n' | '\t') || !c.is_control();
        let plain = cut(source, true).filter(|_| source.chars().all(is_sound));
        let mut line = Self {
            text: source.to_owned(),
            unsupported: plain.is_none(),
            commands: plain.unwrap_or_default(),
        };
        if line.unsupported {
            search(source, &mut line.commands);
        }
        line
    }
}

impl Command {
    /// The name of the program when it is certain, without a standard directory in front: `/bin/rm` is `rm`.
    pub fn name(&self) -> Option<&str> {
        let word = self.words.first().filter(|word| word.is_fixed)?;
        Some(program(&word.text))
    }

    /// The words behind the name.
    pub fn args(&self) -> &[Word] {
        self.words.get(1..).unwrap_or_default()
    }

    /// The words in one canonical spelling, which rules are matched against: `r''m  "a b"` is `rm 'a b'`.
    pub fn text(&self) -> String {
        let mut words: Vec<String> = self.words.iter().map(Word::shown).collect();
        if let (Some(first), Some(name)) = (words.first_mut(), self.name()) {
            *first = Word::fixed(name).shown();
        }
        words.join(" ")
    }

    /// Like [`Command::text`], with the redirects behind.
    pub fn full_text(&self) -> String {
        let shown = |(operator, target): &(String, Word)| format!(" {operator} {}", target.shown());
        let redirects: String = self.redirects.iter().map(shown).collect();
        (self.text() + &redirects).trim_start().to_owned()
    }

    /// What it names: its arguments, and the targets of its redirects.
    pub fn named(&self) -> impl Iterator<Item = &Word> {
        let targets = self.redirects.iter().map(|(_, target)| target);
        self.args().iter().chain(targets)
    }

    /// Whether its redirects write nothing.
    pub fn redirects_only_read(&self) -> bool {
        self.redirects.iter().all(|(operator, target)| match target.text.as_str() {
            _ if operator == "<" => true,
            "/dev/null" => target.is_fixed,
            text => operator == ">&" && matches!(text, "0" | "1" | "2" | "-"),
        })
    }
}

impl Word {
    /// A word of known text.
    pub fn fixed(text: impl Into<String>) -> Self {
        let text = text.into();
        let is_fixed = true;
        Self { text, is_fixed }
    }

    /// Removes the quotes.
    fn unquote(raw: &str) -> Self {
        let mut word = Self::fixed("");
        let mut quote = None;
        let mut chars = raw.chars().peekable();
        while let Some(c) = chars.next() {
            match (c, quote) {
                ('\'' | '"', None) => quote = Some(c),
                (c, Some(open)) if c == open => quote = None,
                ('\\', None) => word.text.extend(chars.next().filter(|next| *next != '\n')),
                ('\\', Some('"')) => {
                    let quoted = chars.next_if(|next| "$`\"\\".contains(*next));
                    word.text.push(quoted.unwrap_or(c));
                }
                _ => {
                    let expands = match quote {
                        None => "$`*?[{<(".contains(c) || (c == '~' && word.text.is_empty()),
                        Some(open) => open == '"' && "$`".contains(c),
                    };
                    word.is_fixed &= !expands;
                    word.text.push(c);
                }
            }
        }
        word
    }

    /// Whether the word is an option, or may become one: a file that `*` finds can be called `-o`.
    pub fn may_be_option(&self) -> bool {
        let opens = !self.is_fixed && self.text.starts_with(['*', '?', '[', '$', '`', '{']);
        opens || (self.text.starts_with('-') && self.text != "-")
    }

    /// The word as one would type it.
    pub fn shown(&self) -> String {
        let plain = |c: char| c.is_alphanumeric() || "_@%+=:,./-^".contains(c);
        if !self.is_fixed || (!self.text.is_empty() && self.text.chars().all(plain)) {
            return self.text.clone();
        }
        format!("'{}'", self.text.replace('\'', r"'\''"))
    }
}

/// The program behind a path: the last part when it lies in a directory of the system's programs. A path with `..` in it
/// may lead elsewhere through a link.
fn program(path: &str) -> &str {
    let system = ["/", "/usr/", "/usr/local/", "/opt/homebrew/"];
    let within = system.iter().filter_map(|system| path.strip_prefix(system));
    let mut names = within.filter_map(|it| it.strip_prefix("bin/").or(it.strip_prefix("sbin/")));
    names.find(|name| !name.contains('/')).unwrap_or(path)
}

/// Cuts a line into commands; a plain one is given up where anything else stands in it.
fn cut(source: &str, is_plain: bool) -> Option<Vec<Command>> {
    let token = &TOKEN[usize::from(!is_plain)];
    let mut commands = Vec::new();
    let mut command = Command::default();
    let mut redirect = None;
    // Behind `&&`, `||` and `|` a command must follow.
    let mut is_open = false;
    let mut at = 0;
    while at < source.len() {
        let token = token.find(&source[at..])?.as_str();
        at += token.len();
        let mut is_wrong = false;
        let operator = token.trim_start_matches(|c: char| c.is_ascii_digit());
        if operator.starts_with(['<', '>']) || operator == "&>" {
            is_wrong = redirect.replace(operator.to_owned()).is_some();
        } else if matches!(token, "&&" | "||" | ";" | "|" | "&" | "\n") {
            let is_empty = command == Command::default();
            is_wrong = redirect.is_some() || (is_empty && token != "\n");
            if !is_empty {
                is_open = !matches!(token, ";" | "\n");
                commands.push(std::mem::take(&mut command));
            }
        } else if !token.starts_with(|c: char| c == '#' || c.is_whitespace()) {
            let word = Word::unquote(token);
            let begins = redirect.is_none() && command.words.is_empty();
            let is_assignment = begins && word.text.contains('=');
            let is_reserved = begins && RESERVED.split(' ').any(|it| it == word.text);
            is_wrong = is_assignment || is_reserved;
            is_open = false;
            match redirect.take() {
                Some(operator) => command.redirects.push((operator, word)),
                None if is_assignment => {}
                None => command.words.push(word),
            }
        }
        if is_wrong && is_plain {
            return None;
        }
    }
    commands.extend(Some(command).filter(|last| *last != Command::default()));
    let is_whole = redirect.is_none() && !is_open;
    (is_whole || !is_plain).then_some(commands)
}

/// The commands that can be found in a line that is not plain.
fn search(source: &str, commands: &mut Vec<Command>) -> Option<()> {
    // Variables that the line itself sets: `x=rm; $x f` runs `rm f`.
    let mut variables = HashMap::from([("HOME", "/root")]);
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let tree = parser.parse(source, None)?;
    // Nested commands are read once per level. Beyond this budget the search stops; the line asks in any case.
    let mut budget: usize = 100_000;
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let text = &source[node.byte_range()];
        let body = node.child(0).filter(|body| body.kind() == "command");
        match node.kind() {
            "redirected_statement" if body.is_none() => {}
            "command" | "redirected_statement" | "file_redirect" => {
                budget = budget.checked_sub(text.len())?;
                let text = text.split("<<").next().unwrap_or_default();
                let text = VARIABLE.replace_all(text, |found: &Captures| value(found, &variables));
                commands.extend(cut(&text, false).into_iter().flatten());
            }
            "variable_assignment" => {
                let set = text.split_once('=');
                variables.extend(set.map(|(name, value)| (name, value.trim_matches(['"', '\'']))));
            }
            "function_definition" => commands.extend(fork_bomb(text)),
            _ => {}
        }
        if !cursor.goto_first_child() {
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return Some(());
                }
            }
        }
    }
}

/// The value of a variable as far as the line sets it, or the words that braces expand to.
fn value(found: &Captures, variables: &HashMap<&str, &str>) -> String {
    if let Some(words) = found.get(4) {
        return format!(" {}", words.as_str().replace(',', " "));
    }
    let name = found.get(1).or(found.get(2));
    let value = name.and_then(|name| variables.get(name.as_str()).copied());
    let default = found.get(3).map(|default| default.as_str());
    value.or(default).unwrap_or(&found[0]).to_owned()
}

/// A function that starts itself in the background, or twice in one pipe, as a command of its own: `NAME()`.
fn fork_bomb(function: &str) -> Option<Command> {
    let name = function.trim_start_matches("function ");
    let name = name.split(['(', '{', ' ']).next()?;
    let text = function.replace("&&", ";").replace("||", ";");
    let is_bomb = |pipe: &str| {
        let words = pipe.split(['|', '&', ' ', '\t', '(', ')']);
        let calls = words.filter(|word| *word == name).count();
        (calls > 1 && pipe.contains('|')) || (calls > 0 && pipe.contains('&'))
    };
    let is_bomb = !name.is_empty() && text.split([';', '\n', '{', '}']).any(is_bomb);
    is_bomb.then(|| Command {
        words: vec![Word::fixed(format!("{name}()"))],
        redirects: Vec::new(),
    })
}

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

/// A token of any line, and one that a plain line may have: blanks, a comment, an operator, a redirect, or a word.
static TOKEN: LazyLock<[Regex; 2]> = LazyLock::new(|| {
    let any = r#"(?sx) [^\S\n]+ | \#[^\n]* | &[&>]? | \|\|? | [;\n] | [0-9]*(?: >[>&]? | < )
        | (?: '[^']*' | "(?:[^"\\]|\\.)*" | \\. | \$\{[^}]*\} | [$<>]\([^)]*\) | `[^`]*` | [^\s;&|<>] )+"#;
    let plain = r#"(?sx)\A(?: [\ \t]+ | \#.* | &[&>] | \|\|? | [;\n] | [0-9]*(?: >[>&]? | < )
        | (?: '[^']*' | "(?:[^"$`\\]|\\[^"$`\\\n])*" | [\w@%+=:,./^*?\[\]~!\#-] )+ )\z"#;
    [any, plain].map(|token| Regex::new(token).expect("the pattern is well formed"))
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
        let (mut commands, is_plain) = cut(source);
        let unsupported = !is_plain || !source.chars().all(is_sound);
        if unsupported {
            commands.clear();
            search(source, &mut commands);
        }
        Self {
            text: source.to_owned(),
            commands,
            unsupported,
        }
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

    /// The text, with `_` for quoted glob characters, which match nothing but themselves.
    pub fn unglobbed(&self) -> String {
        if self.is_fixed { self.text.replace(['*', '?', '[', '{'], "_") } else { self.text.clone() }
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

/// Cuts a line into commands. Also returns whether it is plain.
fn cut(source: &str) -> (Vec<Command>, bool) {
    let [any, plain] = &*TOKEN;
    let (mut commands, mut is_plain) = (Vec::new(), true);
    let mut command = Command::default();
    let mut redirect = None;
    // Behind `&&`, `||` and `|` a command must follow.
    let mut is_open = false;
    for token in any.find_iter(source).map(|token| token.as_str()) {
        is_plain &= plain.is_match(token);
        let operator = token.trim_start_matches(|c: char| c.is_ascii_digit());
        if operator.starts_with(['<', '>']) || operator == "&>" {
            is_plain &= redirect.replace(operator.to_owned()).is_none();
        } else if matches!(token, "&&" | "||" | ";" | "|" | "&" | "\n") {
            let is_empty = command == Command::default();
            is_plain &= redirect.is_none() && (!is_empty || token == "\n");
            if !is_empty {
                is_open = !matches!(token, ";" | "\n");
                commands.push(std::mem::take(&mut command));
            }
        } else if !token.starts_with(|c: char| c == '#' || c.is_whitespace()) {
            let word = Word::unquote(token);
            let begins = redirect.is_none() && command.words.is_empty();
            let is_assignment = begins && word.text.contains('=');
            let is_reserved = begins && RESERVED.split(' ').any(|it| it == word.text);
            is_plain &= !is_assignment && !is_reserved;
            is_open = false;
            match redirect.take() {
                Some(operator) => command.redirects.push((operator, word)),
                None if is_assignment => {}
                None => command.words.push(word),
            }
        }
    }
    commands.extend(Some(command).filter(|last| *last != Command::default()));
    (commands, is_plain && redirect.is_none() && !is_open)
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
    let mut nodes = vec![tree.root_node()];
    while let Some(node) = nodes.pop() {
        let text = &source[node.byte_range()];
        let body = node.child(0).filter(|body| body.kind() == "command");
        match node.kind() {
            "redirected_statement" if body.is_none() => {}
            "command" | "redirected_statement" | "file_redirect" => {
                budget = budget.checked_sub(text.len())?;
                let text = text.split("<<").next().unwrap_or_default();
                let text = VARIABLE.replace_all(text, |found: &Captures| value(found, &variables));
                commands.extend(cut(&text).0);
            }
            "variable_assignment" => {
                let set = text.split_once('=');
                variables.extend(set.map(|(name, value)| (name, value.trim_matches(['"', '\'']))));
            }
            "function_definition" => {
                let name =
                    node.child_by_field_name("name").map_or("", |name| &source[name.byte_range()]);
                if is_fork_bomb(name, text) {
                    let words = vec![Word::fixed(format!("{name}()"))];
                    commands.push(Command {
                        words,
                        redirects: Vec::new(),
                    });
                }
            }
            _ => {}
        }
        let children: Vec<_> = node.children(&mut node.walk()).collect();
        nodes.extend(children.into_iter().rev());
    }
    Some(())
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

/// Whether a function starts itself in the background, or twice in one pipe.
fn is_fork_bomb(name: &str, function: &str) -> bool {
    let text = function.replace("&&", ";").replace("||", ";");
    text.split([';', '\n', '{', '}']).any(|pipe| {
        let words = pipe.split(['|', '&', ' ', '\t', '(', ')']);
        let calls = words.filter(|word| *word == name).count();
        (calls > 1 && pipe.contains('|')) || (calls > 0 && pipe.contains('&'))
    })
}

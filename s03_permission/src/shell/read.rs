//! From the tree of a command line to its commands and doubts.
//!
//! The kinds of nodes that are named here are the ones that are read: an allow-list. Invariant: every other kind leaves a
//! doubt, and the commands below it are found all the same, so that a deny rule or a refusal still meets them.

use std::collections::HashMap;

use tree_sitter::Node;

use super::{Command, Line, Redirect, Word};

/// How deep a tree may be: far above what people write, far below what overflows a stack.
const MAX_DEPTH: usize = 64;

/// Reads a line; see [`Line::parse`].
pub(super) fn read(source: &str) -> Line {
    let mut reader = Reader {
        source,
        line: Line::default(),
        variables: HashMap::new(),
        doubtful: 0,
        brace: None,
    };
    let mut parser = tree_sitter::Parser::new();
    let language = tree_sitter_bash::LANGUAGE.into();
    let tree = parser.set_language(&language).ok();
    let tree = tree.and_then(|()| parser.parse(source, None));
    match tree.as_ref().map(|tree| tree.root_node()) {
        Some(root) if !is_too_deep(root, 0) => {
            reader.statement(root);
            let outside = [&source[..root.start_byte()], &source[root.end_byte()..]];
            let is_whole = outside.iter().all(|text| text.chars().all(is_blank));
            let sound = |c: char| is_blank(c) || !c.is_control();
            let is_whole = is_whole && source.chars().all(sound);
            if reader.line.doubts.is_empty() && !(is_whole && is_cut_like_bash(root, source)) {
                reader.doubt(source);
            }
        }
        _ => reader.doubt(source),
    }
    reader.line
}

fn children(node: Node<'_>) -> Vec<Node<'_>> {
    node.children(&mut node.walk()).collect()
}

fn is_too_deep(node: Node, depth: usize) -> bool {
    let deeper = |child| is_too_deep(child, depth + 1);
    depth > MAX_DEPTH || children(node).into_iter().any(deeper)
}

/// A walk over the tree of one line.
struct Reader<'s> {
    source: &'s str,
    line: Line,
    /// What the line itself sets: `x=rm; $x f` is found to run `rm f`.
    variables: HashMap<&'s str, Word>,
    /// How many doubtful nodes stand around this one.
    doubtful: usize,
    /// Where the first unquoted brace of the current word stands.
    brace: Option<usize>,
}

impl<'s> Reader<'s> {
    fn text(&self, node: Node) -> &'s str {
        &self.source[node.byte_range()]
    }

    fn doubt(&mut self, part: &str) {
        let known = self.line.doubts.iter().any(|doubt| doubt == part);
        if self.doubtful == 0 && !known {
            self.line.doubts.push(part.to_owned());
        }
    }

    /// Adds the commands of a statement and of the statements in it. The kinds that are named here are what is read.
    fn statement(&mut self, node: Node) {
        match node.kind() {
            "program" | "list" | "pipeline" => {
                let joins = |child: &Node| matches!(child.kind(), "&&" | "||" | ";" | "|");
                let parts = children(node).into_iter();
                parts
                    .filter(|child| !joins(child))
                    .for_each(|child| self.statement(child));
            }
            "command" | "redirected_statement" => {
                let mut command = Command::default();
                self.fill(node, &mut command);
                if command != Command::default() {
                    self.line.commands.push(command);
                }
            }
            "comment" => {}
            _ => self.more_than_plain(node),
        }
    }

    /// A node that only the running shell understands: a doubt, and the commands that can be found in it.
    fn more_than_plain(&mut self, node: Node) {
        self.doubt(self.text(node));
        self.doubtful += 1;
        match (node.kind(), children(node).as_slice()) {
            ("variable_assignment", [name, _, value]) => {
                let value = self.word(*value);
                self.variables.insert(self.text(*name), value);
            }
            (kind, parts) => {
                if kind == "function_definition" {
                    self.function(node);
                }
                let named = parts.iter().filter(|part| part.is_named());
                named.for_each(|part| self.statement(*part));
            }
        }
        self.doubtful -= 1;
    }

    /// Collects the words and redirects of one simple command.
    fn fill(&mut self, node: Node, command: &mut Command) {
        let redirected = node.kind() == "redirected_statement";
        for child in children(node) {
            match child.kind() {
                "command" if redirected => self.fill(child, command),
                "file_redirect" => self.redirect(child, command),
                "variable_assignment" | "subshell" | "herestring_redirect" | "heredoc_redirect" => {
                    self.more_than_plain(child);
                }
                _ if redirected => self.statement(child),
                _ => {
                    let word = self.word(child);
                    command.words.push(word);
                }
            }
        }
    }

    fn redirect(&mut self, node: Node, command: &mut Command) {
        let mut operator = String::new();
        let mut words = Vec::new();
        for child in children(node) {
            match child.kind() {
                "file_descriptor" => {}
                kind if !child.is_named() => operator = kind.to_owned(),
                _ => words.push(self.word(child)),
            }
        }
        let mut words = words.into_iter();
        let target = words.next().unwrap_or_default();
        command.redirects.push(Redirect { operator, target });
        // The grammar takes the words behind the target for more targets; to bash they are arguments.
        command.words.extend(words);
    }

    /// Reads a word. One that is more than plain text leaves a doubt.
    fn word(&mut self, node: Node) -> Word {
        let mut word = Word::default();
        let around = self.brace.take();
        self.piece(node, &mut word);
        self.brace = around;
        word
    }

    fn piece(&mut self, node: Node, word: &mut Word) {
        let text = self.text(node);
        match node.kind() {
            "command_name" | "concatenation" => {
                let parts = children(node).into_iter();
                parts.for_each(|part| self.piece(part, word));
            }
            "word" | "number" if node.named_child_count() == 0 => self.bare(text, word),
            "raw_string" => word.push(&Word::fixed(text.trim_matches('\''))),
            "string" => self.string(node, word),
            "simple_expansion" | "expansion" => {
                let value = self.value(node);
                word.push(&value);
                self.more_than_plain(node);
            }
            _ => {
                word.push(&Word::unknown(text));
                self.more_than_plain(node);
            }
        }
    }

    /// Unquoted text: a backslash quotes, `*`, `?`, `[` and `~` open what only the shell knows, braces with a comma or two
    /// dots in them make several words.
    fn bare(&mut self, text: &str, word: &mut Word) {
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let dots = c == '.' && chars.peek() == Some(&'.');
            let special = "$`\"'();&|<>".contains(c) || c.is_whitespace();
            match c {
                '\\' => {
                    let quoted = chars.next().unwrap_or(c);
                    if quoted == '\n' {
                        self.doubt(text);
                    }
                    word.push(&Word::fixed(quoted));
                    continue;
                }
                '{' => self.brace = self.brace.or(Some(word.text.len())),
                _ if special => self.doubt(text),
                _ => {}
            }
            let opens = "*?[".contains(c) || (c == '~' && word.text.is_empty());
            match self.brace.filter(|_| c == ',' || dots) {
                Some(brace) => {
                    self.doubt(text);
                    word.known = word.known.min(brace);
                    word.text.push(c);
                }
                None if opens => word.push(&Word::unknown(c)),
                None => word.push(&Word::fixed(c)),
            }
        }
    }

    /// Text between double quotes, and the expansions in it. The tree leaves out blanks, so the text is cut from the source.
    fn string(&mut self, node: Node, word: &mut Word) {
        let mut from = node.start_byte() + 1;
        for child in children(node) {
            if child.is_named() && child.kind() != "string_content" {
                self.quoted(from, child.start_byte(), word);
                self.piece(child, word);
                from = child.end_byte();
            }
        }
        self.quoted(from, node.end_byte().saturating_sub(1), word);
    }

    /// Text between double quotes, where a backslash quotes four characters and stays in front of others.
    fn quoted(&mut self, from: usize, to: usize, word: &mut Word) {
        // A string that is not closed may end anywhere.
        let text = self.source.get(from..to).unwrap_or_default();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let special = |c: char| "$`\"\\".contains(c);
            let quoted = chars.next_if(|next| c == '\\' && special(*next));
            if quoted.is_none() && special(c) && c != '\\' {
                self.doubt(text);
            }
            word.push(&Word::fixed(quoted.unwrap_or(c)));
        }
    }

    /// What a variable holds, as far as the line itself says so: it sets it, or names a default (`${x:-/}`).
    fn value(&self, node: Node) -> Word {
        let parts = children(node);
        let name = parts.iter().find(|part| part.kind() == "variable_name");
        let name = name.map(|name| self.text(*name)).unwrap_or_default();
        let mut pairs = parts.windows(2);
        let default =
            pairs.find(|pair| matches!(pair[0].kind(), ":-" | "-" | ":=" | "=" | ":+" | "+"));
        match (self.variables.get(name), default) {
            (Some(value), _) => value.clone(),
            (None, _) if name == "HOME" => Word::unknown("~"),
            (None, Some(default)) => Word::fixed(self.text(default[1]).trim_matches(['"', '\''])),
            (None, None) => Word::unknown(self.text(node)),
        }
    }

    fn function(&mut self, node: Node) {
        let name = node.child_by_field_name("name");
        let name = name.map(|name| self.text(name)).unwrap_or_default();
        if !name.is_empty() && self.starts_itself(node, name) {
            self.line.fork_bomb.get_or_insert(name.to_owned());
        }
    }

    /// Whether a function starts the function in the background, or twice in one pipe.
    fn starts_itself(&self, node: Node, name: &str) -> bool {
        let parts = children(node);
        let is_call = |part: &Node| {
            let call = part.child_by_field_name("name");
            part.kind() == "command" && call.is_some_and(|call| self.text(call) == name)
        };
        let calls = parts.iter().filter(|part| is_call(part)).count();
        let in_background = |pair: &[Node]| is_call(&pair[0]) && pair[1].kind() == "&";
        (node.kind() == "pipeline" && calls > 1)
            || parts.windows(2).any(in_background)
            || parts.iter().any(|part| self.starts_itself(*part, name))
    }
}

/// Whether bash cuts a line without doubts where the tree cuts it. The grammar is made for editors: it reads on over a
/// newline in front of `|`, and takes other spaces than bash does for blanks.
fn is_cut_like_bash(node: Node, source: &str) -> bool {
    let parts = children(node);
    let is_token = |node: Node| !node.is_named();
    let is_comment = |node: Node| node.kind() == "comment";
    let apart = |pair: &[Node]| {
        let [before, after] = [pair[0], pair[1]];
        let between = &source[before.end_byte().min(after.start_byte())..after.start_byte()];
        // A backslash that joins two lines cuts words only behind a blank.
        let between = between.replace(" \\\n", " ");
        let newline = between.contains('\n');
        let opens_redirect = source[after.byte_range()].starts_with(['<', '>', '&']);
        between.chars().all(is_blank)
            && match node.kind() {
                "concatenation" => between.is_empty(),
                "program" | "list" | "pipeline" if newline => {
                    is_token(before)
                        || is_comment(before)
                        || (node.kind() == "program" && !is_token(after))
                }
                "program" | "list" | "pipeline" => {
                    is_token(before) || is_token(after) || is_comment(after)
                }
                "file_redirect" => !newline,
                _ => !newline && (!between.is_empty() || opens_redirect),
            }
    };
    let starts_like_a_comment = || {
        let before = source[..node.start_byte()].chars().next_back();
        before.is_none_or(|c| is_blank(c) || ";&|".contains(c))
    };
    !node.has_error()
        && (!is_comment(node) || starts_like_a_comment())
        && (node.kind() == "string"
            || parts.windows(2).all(apart)
                && parts.iter().all(|part| is_cut_like_bash(*part, source)))
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n')
}

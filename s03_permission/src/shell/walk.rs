//! From the tree of a script to the simple commands in it.
//!
//! Invariant: every statement of the tree is visited, within substitutions and functions too; a kind of node that is
//! not named here leaves a doubt.

use tree_sitter::Node;

use super::words::is_word;
use super::{Assignment, Command, Line, Redirect, Word};

/// A walk over one script.
pub(super) struct Walk<'l> {
    source: &'l str,
    line: &'l mut Line,
    nesting: usize,
    /// The command that runs this script, as it stood in the line.
    carrier: Option<&'l str>,
}

impl<'l> Walk<'l> {
    pub(super) fn new(
        source: &'l str,
        line: &'l mut Line,
        nesting: usize,
        carrier: Option<&'l str>,
    ) -> Self {
        Self {
            source,
            line,
            nesting,
            carrier,
        }
    }

    pub(super) fn source(&self) -> &'l str {
        self.source
    }

    pub(super) fn text(&self, node: Node) -> &'l str {
        &self.source[node.byte_range()]
    }

    pub(super) fn children<'t>(&self, node: Node<'t>) -> Vec<Node<'t>> {
        node.children(&mut node.walk()).collect()
    }

    pub(super) fn doubt(&mut self, why: String) {
        self.line.doubt(why);
    }

    /// Adds the commands of a statement, or of the statements in it.
    pub(super) fn statement(&mut self, node: Node) {
        match node.kind() {
            "compound_statement" if self.text(node).starts_with("((") => self.arithmetic(node),
            "program"
            | "list"
            | "pipeline"
            | "subshell"
            | "do_group"
            | "if_statement"
            | "elif_clause"
            | "else_clause"
            | "while_statement"
            | "negated_command"
            | "command_substitution"
            | "process_substitution"
            | "compound_statement"
            | "case_statement"
            | "case_item" => self.parts(node),
            "command"
            | "declaration_command"
            | "unset_command"
            | "test_command"
            | "variable_assignments"
            | "redirected_statement" => {
                let mut command = Command::default();
                self.fill(node, &mut command);
                self.finish(command);
            }
            "variable_assignment" => {
                let mut command = Command::default();
                self.assignment(node, &mut command);
                self.finish(command);
            }
            "for_statement" => self.for_statement(node),
            "function_definition" => self.function(node),
            "comment" => {}
            _ => {
                self.doubt(format!("`{}` is not understood", self.text(node)));
                self.parts(node);
            }
        }
    }

    /// Visits the children: statements, and words for the sake of their substitutions.
    fn parts(&mut self, node: Node) {
        let mut block = Command::default();
        for child in self.children(node).into_iter().filter(Node::is_named) {
            match child.kind() {
                // A redirect of the block itself; `$(<file)` has one too.
                "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {
                    self.redirect(child, &mut block)
                }
                kind if is_word(kind) && !kind.ends_with("_substitution") => drop(self.word(child)),
                _ => self.statement(child),
            }
        }
        self.finish(block);
    }

    /// Collects the words, assignments and redirects of one simple command.
    fn fill(&mut self, node: Node, command: &mut Command) {
        for child in self.children(node) {
            match child.kind() {
                "command"
                | "declaration_command"
                | "unset_command"
                | "test_command"
                | "variable_assignments"
                    if node.kind() == "redirected_statement"
                        || node.kind() == "variable_assignments" =>
                {
                    self.fill(child, command);
                }
                "variable_assignment" => self.assignment(child, command),
                "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {
                    self.redirect(child, command)
                }
                "command_name" => command.words.push(self.word(child)),
                "subshell" => {
                    self.doubt(format!("`{}` is not understood", self.text(node)));
                    self.statement(child);
                }
                kind if is_word(kind) => command.words.push(self.word(child)),
                _ if node.kind() == "test_command" => self.test_part(child, command),
                _ if child.is_named() => self.statement(child),
                // `export`, `[`, `==` and the like are words too.
                text => command.words.push(Word::fixed(text)),
            }
        }
    }

    /// The expression between brackets, as the words that bash's `[` gets.
    fn test_part(&mut self, node: Node, command: &mut Command) {
        const OPERATORS: &[&str] = &["[", "]", "[[", "]]", "=", "==", "!=", "!"];
        // Between single brackets these are redirects, pipes and subshells to bash.
        const DOUBLE_ONLY: &[&str] = &["&&", "||", "(", ")", "<", ">", "=~"];
        let double = command.words.first().is_some_and(|word| word.text == "[[");
        match node.kind() {
            "unary_expression" | "binary_expression" | "parenthesized_expression" => {
                for child in self.children(node) {
                    if is_word(child.kind()) {
                        command.words.push(self.word(child));
                    } else {
                        self.test_part(child, command);
                    }
                }
            }
            kind if OPERATORS.contains(&kind) || (double && DOUBLE_ONLY.contains(&kind)) => {
                command.words.push(Word::fixed(kind));
            }
            _ => {
                self.doubt(format!("`{}` is not understood in a test", self.text(node)));
                self.substitutions(node);
            }
        }
    }

    fn assignment(&mut self, node: Node, command: &mut Command) {
        let children = self.children(node);
        let name = children
            .first()
            .map_or("", |name| self.text(*name))
            .to_string();
        let letters = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let identifier = letters && !name.starts_with(|c: char| c.is_ascii_digit());
        if !identifier || children.iter().any(|child| child.kind() == "array") {
            self.doubt(format!(
                "the assignment `{}` may evaluate its text",
                self.text(node)
            ));
            self.substitutions(node);
        }
        let value = children
            .get(2)
            .filter(|child| is_word(child.kind()) && child.kind() != "array");
        let value = value.map(|value| self.word(*value)).unwrap_or_default();
        if command.words.is_empty() {
            command.assignments.push(Assignment { name, value });
        } else {
            // Behind `export` and the like it is an argument.
            command.words.push(Word {
                text: format!("{name}={}", value.text),
                known: name.len() + 1 + value.known,
                ..value
            });
        }
    }

    fn redirect(&mut self, node: Node, command: &mut Command) {
        if node.kind() == "heredoc_redirect" {
            return self.heredoc(node, command);
        }
        let mut redirect = Redirect {
            operator: String::new(),
            target: Word::default(),
        };
        let mut targets = 0;
        for child in self.children(node) {
            if child.kind() == "file_descriptor" {
                continue;
            }
            if !is_word(child.kind()) {
                redirect.operator = child.kind().to_string();
                continue;
            }
            let word = self.word(child);
            targets += 1;
            // The grammar takes the words behind the target for more targets; to bash they are arguments.
            if targets == 1 {
                redirect.target = word
            } else {
                command.words.push(word)
            }
        }
        command.redirects.push(redirect);
    }

    fn heredoc(&mut self, node: Node, command: &mut Command) {
        for child in self.children(node).into_iter().filter(Node::is_named) {
            match child.kind() {
                "heredoc_start" | "heredoc_end" | "file_descriptor" | "comment" => {}
                "heredoc_body" => self
                    .children(child)
                    .into_iter()
                    .filter(|part| is_word(part.kind()))
                    .for_each(|part| {
                        self.word(part);
                    }),
                "file_redirect" | "herestring_redirect" => self.redirect(child, command),
                kind if is_word(kind) => command.words.push(self.word(child)),
                _ => self.statement(child),
            }
        }
    }

    /// A loop sets its variable: `for PATH in …` changes what runs.
    fn for_statement(&mut self, node: Node) {
        let mut loops = Command::default();
        for child in self.children(node).into_iter().filter(Node::is_named) {
            match child.kind() {
                "variable_name" if loops.assignments.is_empty() => {
                    loops.assignments.push(Assignment {
                        name: self.text(child).to_string(),
                        value: Word::unknown(),
                    });
                }
                kind if is_word(kind) => drop(self.word(child)),
                _ => self.statement(child),
            }
        }
        self.finish(loops);
    }

    fn function(&mut self, node: Node) {
        let name = node
            .child_by_field_name("name")
            .map(|name| self.text(name))
            .unwrap_or_default();
        // Its name may be that of a program further on; that is not followed.
        self.doubt(format!("it defines the function `{name}`"));
        let mut block = Command::default();
        for child in self
            .children(node)
            .into_iter()
            .filter(Node::is_named)
            .skip(1)
        {
            match child.kind() {
                "file_redirect" | "herestring_redirect" => self.redirect(child, &mut block),
                _ => {
                    if !name.is_empty() && self.starts_itself(child, name) {
                        self.line.fork_bomb.get_or_insert(name.to_string());
                    }
                    self.statement(child);
                }
            }
        }
        self.finish(block);
    }

    /// Whether a function's body starts the function in the background, or twice in one pipe.
    fn starts_itself(&self, node: Node, name: &str) -> bool {
        let children = self.children(node);
        let is_call = |child: &Node| {
            let call = child
                .child_by_field_name("name")
                .filter(|_| child.kind() == "command");
            call.is_some_and(|call| self.text(call) == name)
        };
        let twice =
            node.kind() == "pipeline" && children.iter().filter(|child| is_call(child)).count() > 1;
        let behind = children
            .windows(2)
            .any(|pair| is_call(&pair[0]) && pair[1].kind() == "&");
        let within = || {
            children
                .iter()
                .any(|child| self.starts_itself(*child, name))
        };
        twice || behind || within()
    }

    /// Arithmetic evaluates the text of variables, substitutions included: only plain numbers pass.
    pub(super) fn arithmetic(&mut self, node: Node) {
        const PLAIN: &[&str] = &[
            "number",
            "unary_expression",
            "binary_expression",
            "parenthesized_expression",
        ];
        if !self.all_within(node, PLAIN) {
            self.doubt(format!(
                "`{}` evaluates what its variables hold",
                self.text(node)
            ));
            self.substitutions(node);
        }
    }

    fn all_within(&self, node: Node, kinds: &[&str]) -> bool {
        let named = self.children(node).into_iter().filter(Node::is_named);
        named
            .into_iter()
            .all(|child| kinds.contains(&child.kind()) && self.all_within(child, kinds))
    }

    /// Adds the commands of all substitutions at or below a node.
    pub(super) fn substitutions(&mut self, node: Node) {
        if matches!(node.kind(), "command_substitution" | "process_substitution") {
            return self.statement(node);
        }
        let children = self.children(node);
        children
            .into_iter()
            .for_each(|child| self.substitutions(child));
    }

    fn finish(&mut self, mut command: Command) {
        if command.words.is_empty()
            && command.assignments.is_empty()
            && command.redirects.is_empty()
        {
            return;
        }
        command.written = self.carrier.map_or_else(|| command.text(), str::to_string);
        self.line.look_through(command, self.nesting);
    }
}

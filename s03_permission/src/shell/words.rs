//! From the nodes of a word to its text.
//!
//! `r''m`, `"rm"`, `\rm` and `$'\x72m'` are one word; `$HOME`, `*.rs` and `$(date)` are known only when they run.
//!
//! Invariant: the first `known` bytes of a word are what bash makes of it, whatever the variables and files are.

use tree_sitter::Node;

use super::walk::Walk;
use super::{Word, quotes};

/// A word that grows piece by piece.
#[derive(Default)]
struct Growing {
    text: String,
    /// Where the first unknown piece begins.
    unknown: Option<usize>,
    /// Where the first unquoted brace stands.
    brace: Option<usize>,
    splits: bool,
}

impl Growing {
    fn unknown_from(&mut self, at: usize) {
        self.unknown = Some(self.unknown.map_or(at, |before| before.min(at)));
    }

    fn push_unknown(&mut self, text: &str, splits: bool) {
        self.unknown_from(self.text.len());
        self.splits |= splits;
        self.text += text;
    }

    /// Adds unquoted text: removes backslashes, notes globs, braces and a tilde.
    fn push_bare(&mut self, text: &str) {
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let at = self.text.len();
            match c {
                '\\' => match chars.next() {
                    None | Some('\n') => {}
                    Some(escaped) => self.text.push(escaped),
                },
                '*' | '?' | '[' => self.push_unknown(c.encode_utf8(&mut [0; 4]), false),
                '~' if at == 0 => self.push_unknown("~", false),
                '{' => {
                    self.brace.get_or_insert(at);
                    self.text.push(c);
                }
                ',' | '.' => {
                    let expands = c == ',' || chars.peek() == Some(&'.');
                    if let Some(brace) = self.brace.filter(|_| expands) {
                        self.unknown_from(brace);
                    }
                    self.text.push(c);
                }
                other => self.text.push(other),
            }
        }
    }

    fn finish(self) -> Word {
        Word {
            known: self.unknown.unwrap_or(self.text.len()),
            splits: self.splits,
            text: self.text,
        }
    }
}

/// Whether a node is a word or a part of one.
pub(super) fn is_word(kind: &str) -> bool {
    const WORDS: &[&str] = &[
        "word",
        "number",
        "string",
        "raw_string",
        "ansi_c_string",
        "translated_string",
        "concatenation",
        "simple_expansion",
        "expansion",
        "command_substitution",
        "process_substitution",
        "arithmetic_expansion",
        "brace_expression",
        "test_operator",
        "variable_name",
        "special_variable_name",
        "regex",
        "extglob_pattern",
        "array",
        "$",
    ];
    WORDS.contains(&kind)
}

impl Walk<'_> {
    /// Reads a word; the commands in its substitutions are added to the line.
    pub(super) fn word(&mut self, node: Node) -> Word {
        let mut word = Growing::default();
        self.piece(node, &mut word);
        word.finish()
    }

    fn piece(&mut self, node: Node, word: &mut Growing) {
        let text = self.text(node);
        match node.kind() {
            "concatenation" | "command_name" => {
                self.children(node)
                    .into_iter()
                    .for_each(|child| self.piece(child, word));
            }
            "number" if node.named_child_count() > 0 => self.unknown(node, word, true),
            "word" | "number" | "test_operator" | "variable_name" | "$" => word.push_bare(text),
            "raw_string" => word.text += text.trim_matches('\''),
            "ansi_c_string" => match quotes::ansi_c(text) {
                Some(decoded) => word.text += &decoded,
                None => self.unknown(node, word, false),
            },
            "string" => self.string(node, word),
            "simple_expansion" | "command_substitution" => self.unknown(node, word, true),
            "translated_string"
            | "process_substitution"
            | "brace_expression"
            | "regex"
            | "extglob_pattern" => {
                self.unknown(node, word, false);
            }
            "expansion" => self.expansion(node, word, true),
            "arithmetic_expansion" => {
                self.arithmetic(node);
                word.push_unknown(text, true);
            }
            _ => {
                self.doubt(format!("`{text}` is not understood"));
                self.unknown(node, word, true);
            }
        }
    }

    /// Adds a piece that only the running shell knows, and the commands that it runs for it.
    fn unknown(&mut self, node: Node, word: &mut Growing, splits: bool) {
        self.substitutions(node);
        word.push_unknown(self.text(node), splits);
    }

    fn string(&mut self, node: Node, word: &mut Growing) {
        let (mut at, end) = (node.start_byte() + 1, node.end_byte().saturating_sub(1));
        for child in self.children(node) {
            if !child.is_named() || matches!(child.kind(), "string_content") {
                continue;
            }
            self.quoted_text(at, child.start_byte(), word);
            match child.kind() {
                "expansion" => self.expansion(child, word, false),
                "arithmetic_expansion" => {
                    self.arithmetic(child);
                    word.push_unknown(self.text(child), false);
                }
                "simple_expansion" | "command_substitution" => self.unknown(child, word, false),
                _ => self.piece(child, word),
            }
            at = child.end_byte();
        }
        self.quoted_text(at, end, word);
    }

    fn quoted_text(&mut self, from: usize, to: usize, word: &mut Growing) {
        let text = self.source().get(from..to).unwrap_or_default();
        match quotes::double(text) {
            Some(decoded) => word.text += &decoded,
            None => {
                self.doubt(format!("`{text}` can be read in two ways"));
                word.push_unknown(text, true);
            }
        }
    }

    /// `${…}`: the forms that only read the variable pass; the others evaluate its text or set it.
    fn expansion(&mut self, node: Node, word: &mut Growing, splits: bool) {
        const READING: &[&str] = &[
            "${", "}", "#", "##", "%", "%%", ":-", "-", ":+", "+", "/", "//", ",", ",,", "^", "^^",
        ];
        let text = self.text(node);
        for child in self.children(node) {
            let reads = READING.contains(&child.kind())
                || (is_word(child.kind()) && child.kind() != "array");
            if !reads {
                self.doubt(format!("`{text}` may do more than read a variable"));
            } else if child.is_named() && !child.kind().ends_with("variable_name") {
                self.word(child);
            }
        }
        let inside = text.trim_start_matches("${").trim_end_matches('}');
        if inside
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_')
        {
            word.push_unknown(&format!("${inside}"), splits);
        } else {
            word.push_unknown(text, splits);
        }
    }
}

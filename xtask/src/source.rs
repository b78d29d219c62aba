//! A Rust file with its code, comments and string literals told apart.
//!
//! A rule about `println!` must not fire on a comment that names it, and a rule about words must not fire on code.
//! This is a scanner for well-formed code, not a parser: it knows strings, comments, character literals and braces.
//! Invariant: `code` and `comments` have the line breaks of the file, so line numbers agree.

use std::ops::Range;

/// A scanned file. Line numbers count from 0.
pub struct Source {
    /// The file with comments and the insides of literals blanked out.
    pub code: Vec<String>,
    /// The file with everything but comments blanked out.
    pub comments: Vec<String>,
    /// The string literals, in order.
    pub strings: Vec<Literal>,
}

/// A string literal.
#[derive(Debug, PartialEq)]
pub struct Literal {
    /// The line it starts on.
    pub line: usize,
    /// What stands between the quotes, escapes as written.
    pub text: String,
}

/// A function and where it stands.
#[derive(Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its lines, from `fn` to the closing brace.
    pub lines: Range<usize>,
}

impl Source {
    /// Scans a file.
    pub fn scan(text: &str) -> Self {
        let mut scanner = Scanner::default();
        let mut rest = text;
        while !rest.is_empty() {
            let (length, kind) = piece(rest, scanner.code.chars().next_back());
            scanner.take(&rest[..length], kind);
            rest = &rest[length..];
        }
        Self {
            code: lines(&scanner.code),
            comments: lines(&scanner.comments),
            strings: scanner.strings,
        }
    }

    /// The functions that have a body, also those within others.
    pub fn functions(&self) -> Vec<Function> {
        let mut found = Vec::new();
        for (line, code) in self.code.iter().enumerate() {
            let Some((start, name)) = function_name(code) else {
                continue;
            };
            if let Some(end) = self.block_end(line, start) {
                found.push(Function {
                    name: name.to_owned(),
                    lines: line..end + 1,
                });
            }
        }
        found
    }

    /// The lines of the items under `#[cfg(test)]`.
    pub fn tests(&self) -> Vec<Range<usize>> {
        let marked = self
            .code
            .iter()
            .enumerate()
            .filter(|(_, code)| code.trim() == "#[cfg(test)]");
        marked
            .map(|(line, _)| line..self.block_end(line + 1, 0).unwrap_or(line + 1) + 1)
            .collect()
    }

    /// The line on which the block closes that opens first after `column` of `line`; `None` when a `;` comes before it.
    fn block_end(&self, line: usize, column: usize) -> Option<usize> {
        let (mut braces, mut others) = (0usize, 0usize);
        for (number, code) in self.code.iter().enumerate().skip(line) {
            let skipped = if number == line { column } else { 0 };
            for byte in code.bytes().skip(skipped) {
                match byte {
                    // The braces of a pattern among the parameters open no block.
                    b'{' | b'}' if braces == 0 && others > 0 => {}
                    b'{' => braces += 1,
                    b'}' if braces <= 1 => return Some(number),
                    b'}' => braces -= 1,
                    b'(' | b'[' => others += 1,
                    b')' | b']' => others = others.saturating_sub(1),
                    b';' if braces == 0 && others == 0 => return None,
                    _ => {}
                }
            }
        }
        None
    }
}

/// Where `word` stands in `code` as a whole: not as a part of a longer name. A word may end in `!` or `(`.
pub fn find_word(code: &str, word: &str) -> Option<usize> {
    let part_of_name = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).map(|(at, _)| at).find(|&at| {
        let before = code[..at].chars().next_back().is_some_and(part_of_name);
        let after = code[at + word.len()..]
            .chars()
            .next()
            .is_some_and(part_of_name);
        let (opens, closes) = (word.starts_with(part_of_name), word.ends_with(part_of_name));
        let longer = (before && opens) || (after && closes);
        !longer
    })
}

/// The first function that a line of code declares: where its name stands, and the name.
fn function_name(code: &str) -> Option<(usize, &str)> {
    let start = find_word(code, "fn")? + 3;
    let rest = code.get(start..)?;
    let length = rest
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(rest.len());
    if length == 0 {
        None
    } else {
        Some((start, &rest[..length]))
    }
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

enum Kind {
    Code,
    Comment,
    /// A string literal whose inside is this part of the piece.
    Text(Range<usize>),
    Char,
}

#[derive(Default)]
struct Scanner {
    code: String,
    comments: String,
    strings: Vec<Literal>,
}

impl Scanner {
    fn take(&mut self, piece: &str, kind: Kind) {
        let (code, comment) = match kind {
            Kind::Code => (piece.to_owned(), blank(piece)),
            Kind::Comment => (blank(piece), piece.to_owned()),
            Kind::Char => (blank(piece), blank(piece)),
            Kind::Text(inside) => {
                let line = self.code.matches('\n').count();
                let text = &piece[inside.clone()];
                let code = [&piece[..inside.start], &blank(text), &piece[inside.end..]].concat();
                self.strings.push(Literal {
                    line,
                    text: text.to_owned(),
                });
                (code, blank(piece))
            }
        };
        self.code.push_str(&code);
        self.comments.push_str(&comment);
    }
}

/// As many spaces as `text` has characters, and its line breaks.
fn blank(text: &str) -> String {
    text.chars()
        .map(|c| if c == '\n' { c } else { ' ' })
        .collect()
}

/// The length and the kind of the piece that `rest` starts with. `before` is the character in front of it.
fn piece(rest: &str, before: Option<char>) -> (usize, Kind) {
    let starts_name = !before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let first = rest.chars().next().map_or(0, char::len_utf8);
    if rest.starts_with("//") {
        (rest.find('\n').unwrap_or(rest.len()), Kind::Comment)
    } else if rest.starts_with("/*") {
        (block_comment(rest), Kind::Comment)
    } else if let Some((length, inside)) = raw_string(rest).filter(|_| starts_name) {
        (length, Kind::Text(inside))
    } else if let Some(inside) = rest.strip_prefix('"') {
        let end = quoted(inside, '"') + 1;
        ((end + 1).min(rest.len()), Kind::Text(1..end))
    } else if rest.starts_with("'\\") {
        ((quoted(&rest[1..], '\'') + 2).min(rest.len()), Kind::Char)
    } else if rest.starts_with('\'') && rest.chars().nth(2) == Some('\'') {
        (rest.chars().take(3).map(char::len_utf8).sum(), Kind::Char)
    } else {
        (first, Kind::Code)
    }
}

/// The length of a block comment; they nest.
fn block_comment(rest: &str) -> usize {
    let mut depth = 0usize;
    let mut at = 0;
    while at < rest.len() {
        let tail = &rest[at..];
        if tail.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if tail.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += tail.chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// A raw string at the start of `rest`: its length, and where its inside stands.
fn raw_string(rest: &str) -> Option<(usize, Range<usize>)> {
    let marked = rest
        .strip_prefix(['b', 'c'])
        .unwrap_or(rest)
        .strip_prefix('r')?;
    let hashes = marked.len() - marked.trim_start_matches('#').len();
    let inside = marked[hashes..].strip_prefix('"')?;
    let start = rest.len() - inside.len();
    let closing = format!("\"{}", "#".repeat(hashes));
    let length = inside.find(&closing).unwrap_or(inside.len());
    Some((
        (start + length + closing.len()).min(rest.len()),
        start..start + length,
    ))
}

/// The length of a quoted text up to its closing quote, escapes skipped.
fn quoted(inside: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in inside.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at,
            _ => {}
        }
    }
    inside.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_strings_are_no_code() {
        let source = Source::scan(
            "let a = \"späwn // no\"; // sleep\nlet b = r#\"say \"hi\"\"#; /* x /* y */ */ c\n",
        );

        assert_eq!(
            source.code,
            [
                "let a = \"           \";         ",
                "let b = r#\"        \"#;                 c"
            ]
        );
        assert_eq!(source.comments[0].trim(), "// sleep");
        assert_eq!(source.comments[1].trim(), "/* x /* y */ */");
        let literal = |line, text: &str| Literal {
            line,
            text: text.to_owned(),
        };
        assert_eq!(
            source.strings,
            [literal(0, "späwn // no"), literal(1, "say \"hi\"")]
        );
    }

    #[test]
    fn quotes_escapes_and_lifetimes_do_not_confuse_it() {
        let text = "f('\"', '\\'', \"\\\"\", br\"\\\", 'x'); fn g<'a>(s: &'a str) {}\n// über\nfn h() {}\n";
        let source = Source::scan(text);

        let names: Vec<_> = source
            .functions()
            .into_iter()
            .map(|function| function.name)
            .collect();
        assert_eq!(names, ["g", "h"]);
        assert_eq!(source.strings.len(), 2);
        assert_eq!(source.code.len(), 3);
    }

    #[test]
    fn a_function_ends_at_its_closing_brace() {
        let text = "trait T {\n    fn declared(a: [u8; 3]);\n    fn given(\n        a: u8,\n    ) -> u8 {\n        if a > 1 {\n            2\n        } else { 3 }\n    }\n}\n";

        let functions = Source::scan(text).functions();

        assert_eq!(
            functions,
            [Function {
                name: "given".to_owned(),
                lines: 2..9
            }]
        );
    }

    #[test]
    fn a_pattern_among_the_parameters_is_no_body() {
        let text = "fn output(PostTool { output, .. }: PostTool) -> Says {\n    check(|it| {\n        it\n    })\n}\n";

        assert_eq!(Source::scan(text).functions()[0].lines, 0..5);
    }

    #[test]
    fn tests_reach_from_the_attribute_to_the_end_of_their_module() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n";

        assert_eq!(Source::scan(text).tests().first(), Some(&(1..5)));
    }

    #[test]
    fn a_word_is_found_as_a_whole_only() {
        assert_eq!(find_word("tokio::spawn(x)", "spawn"), Some(7));
        assert_eq!(find_word("spawn_teammate(x)", "spawn"), None);
        assert_eq!(find_word("eprintln!()", "println!"), None);
        assert_eq!(find_word("a.unsleep(); sleep(1)", "sleep("), Some(13));
    }
}

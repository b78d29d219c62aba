//! A text as words and shapes: what stands in quotes, names a file, counts, or is a plain word.
//!
//! Shapes make the table small: a row says `{path}` where any path may stand. Invariant: a token knows its place in the
//! source, so a slot is always the user's own text.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex_lite::Regex;

named! {
    /// What a token looks like: a file or a folder (Path), text in quotation marks or in backticks (Code), an id (Key: `WEB-1`,
    /// `0001-x7`, `cron_a1`), `slugify(text: str)` (Signature); anything else, such as a comma or a dash, is a Mark.
    Shape: Word Number Path Quoted Code Key Signature Mark
}

#[derive(Clone, Debug)]
pub struct Token {
    /// Its text, without quotation marks.
    pub text: String,
    pub low: String,
    /// The word without its ending, for comparing.
    pub stem: String,
    pub shape: Shape,
    /// Whether it carries no meaning of its own.
    pub is_filler: bool,
    pub start: usize,
    pub end: usize,
}

impl Token {
    pub fn is(&self, words: &str) -> bool {
        matches!(self.shape, Shape::Word | Shape::Number | Shape::Mark) && has(words, &self.low)
    }

    /// Whether it stands in quotation marks or backticks.
    pub fn is_quoted(&self) -> bool {
        matches!(self.shape, Shape::Quoted | Shape::Code)
    }
}

pub static SETS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let lines = include_str!("patterns.txt").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(" = ")).collect()
});

/// A list of `patterns.txt`, by its name.
pub fn set(name: &str) -> &'static str {
    SETS.get(name).copied().unwrap_or_else(|| panic!("patterns.txt has no list `{name}`"))
}

/// What stands behind this key in a list of `key:value`.
pub fn entry(list: &str, key: &str) -> Option<&'static str> {
    set(list).split(' ').find_map(|one| one.strip_prefix(key)?.strip_prefix(':'))
}

/// Whether a list of words has this one.
pub fn has(words: &str, word: &str) -> bool {
    words.as_bytes().split(|byte| *byte == b' ').any(|one| one == word.as_bytes())
}

/// What stands behind `name: ` on a line of its own.
pub fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

/// Each of these once, in order.
pub fn unique<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut kept = Vec::new();
    all.for_each(|one| kept.extend(Some(one).filter(|one| !kept.contains(one))));
    kept
}

pub fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let mut token =
            quoted(text, at).or_else(|| signature(text, at)).unwrap_or_else(|| word(text, at));
        // What is left of `word.` is a full stop and no folder.
        if token.text.bytes().all(|b| b == b'.')
            && found.last().is_some_and(|last: &Token| last.end == at)
        {
            token.shape = Shape::Mark;
        }
        at = token.end;
        found.push(token);
    }
    found
}

fn token(text: &str, shape: Shape, start: usize, end: usize) -> Token {
    let low = text.to_lowercase();
    let stem = if shape == Shape::Word { stem(&low) } else { low.clone() };
    let is_filler = shape == Shape::Word && has(set("fillers"), &low);
    Token {
        text: text.to_owned(),
        low,
        stem,
        shape,
        is_filler,
        start,
        end,
    }
}

/// Text in quotation marks: up to the last mark that ends a word, so that an apostrophe inside stays inside.
fn quoted(text: &str, at: usize) -> Option<Token> {
    static QUOTED: LazyLock<Regex> = LazyLock::new(|| {
        let marks = "(?s)^(?:`(.*?)`|\"(.*?)\"|'(.*?)'|“(.*?)”|«(.*?)»|„(.*?)“)([^0-9A-Za-z]|$)";
        Regex::new(marks).expect("it is one")
    });
    let found = QUOTED.captures(&text[at..])?;
    let (shape, inner) = match found.get(1) {
        Some(code) => (Shape::Code, code),
        None => (Shape::Quoted, (2..7).find_map(|group| found.get(group))?),
    };
    let close = text[at + inner.end()..].chars().next()?.len_utf8();
    Some(token(inner.as_str(), shape, at, at + inner.end() + close))
}

/// `name(arguments)`.
fn signature(text: &str, at: usize) -> Option<Token> {
    static SIGNATURE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^[A-Za-z][A-Za-z0-9_]*\([^)]*\)").expect("it is one"));
    let found = SIGNATURE.find(&text[at..])?;
    Some(token(found.as_str(), Shape::Signature, at, at + found.end()))
}

fn word(text: &str, at: usize) -> Token {
    let rest = &text[at..];
    let is_break = |c: char| {
        c.is_whitespace()
            || matches!(c, ',' | ';' | '"' | '`' | '(' | ')' | '“' | '”' | '—' | '…' | '!' | '?')
    };
    let len = rest.find(is_break).unwrap_or(rest.len());
    if len == 0 {
        let end = rest.chars().next().map_or(1, char::len_utf8);
        return token(&rest[..end], Shape::Mark, at, at + end);
    }
    let raw = &rest[..len];
    let cut = raw.trim_end_matches(['.', ':', '\'']);
    // `.` and `..` are folders; `--` is a dash; the full stop of `p.m.` ends no sentence.
    let is_whole = cut.is_empty() || has(set("abbreviations"), &raw.to_lowercase());
    let cut = if is_whole { raw } else { cut };
    if cut.len() > 1 && cut.ends_with("'s") && !cut.contains('/') {
        let name = &cut[..cut.len() - 2];
        return token(name, shape(name), at, at + cut.len());
    }
    token(cut, shape(cut), at, at + cut.len())
}

/// The shape of a word: the first line of `patterns.txt` that fits.
fn shape(word: &str) -> Shape {
    static SHAPES: LazyLock<Vec<(Shape, Regex)>> = LazyLock::new(|| {
        let line = |line: &str| {
            let (name, pattern) = line.strip_prefix("shape ")?.split_once(" = ")?;
            Some((Shape::read(name)?, Regex::new(&format!("^({pattern})$")).ok()?))
        };
        include_str!("patterns.txt").lines().filter_map(line).collect()
    });
    if word.bytes().all(|b| b.is_ascii_lowercase()) && !has(set("file-names"), word) {
        return Shape::Word;
    }
    let is_word = word.chars().any(char::is_alphanumeric);
    let known = SHAPES.iter().find(|(_, pattern)| pattern.is_match(word)).map(|(shape, _)| *shape);
    known.unwrap_or(if is_word { Shape::Word } else { Shape::Mark })
}

/// A word without its ending: `files`, `filing`, `filed` → `fil`.
pub fn stem(word: &str) -> String {
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return format!("{stem}y");
    }
    let is_plural = word.len() > 3 && !["ss", "us", "is"].iter().any(|end| word.ends_with(end));
    let word = word.strip_suffix('s').filter(|_| is_plural).unwrap_or(word);
    let cut =
        ["ing", "ed"].iter().find_map(|end| word.strip_suffix(end)).filter(|stem| stem.len() > 2);
    let is_twice = |stem: &str| matches!(stem.as_bytes(), [.., a, b] if a == b && b.is_ascii_lowercase() && !b"lsz".contains(b));
    let word = cut.map_or(word, |stem| if is_twice(stem) { &stem[..stem.len() - 1] } else { stem });
    word.strip_suffix('e').filter(|stem| stem.len() > 2).unwrap_or(word).to_owned()
}

/// The words of a text, each without its ending.
pub fn stems(text: &str) -> Vec<String> {
    tokens(text).into_iter().map(|token| token.stem).collect()
}

/// Those of these whose text has all of the stems.
pub fn having<'a, T>(wanted: &[String], all: &'a [T], text: impl Fn(&T) -> String) -> Vec<&'a T> {
    let has_all = |one: &&T| {
        let own = stems(&text(one));
        wanted.iter().all(|stem| own.contains(stem))
    };
    all.iter().filter(has_all).collect()
}

/// A count in digits or words.
pub fn number(word: &str) -> Option<u32> {
    let known =
        set("numbers").split_whitespace().position(|known| known == word).map(|at| at as u32);
    word.parse().ok().or(known).or_else(|| entry("counts", word)?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_told_apart() {
        let text = "Run `ls -l` on src/a.py, README.md and s08_compact with slugify(text: str) \"a, b\" in 3 of WEB-1; bob's *.rs don't";
        let shapes: Vec<(String, Shape)> =
            tokens(text).into_iter().map(|token| (token.text, token.shape)).collect();
        let expected = [
            ("Run", Shape::Word),
            ("ls -l", Shape::Code),
            ("on", Shape::Word),
            ("src/a.py", Shape::Path),
            (",", Shape::Mark),
            ("README.md", Shape::Path),
            ("and", Shape::Word),
            ("s08_compact", Shape::Path),
            ("with", Shape::Word),
            ("slugify(text: str)", Shape::Signature),
            ("a, b", Shape::Quoted),
            ("in", Shape::Word),
            ("3", Shape::Number),
            ("of", Shape::Word),
            ("WEB-1", Shape::Key),
            (";", Shape::Mark),
            ("bob", Shape::Word),
            ("*.rs", Shape::Path),
            ("don't", Shape::Word),
        ];
        assert_eq!(shapes, expected.map(|(text, shape)| (text.to_owned(), shape)));
    }

    #[test]
    fn endings_do_not_matter() {
        for words in [
            ["create", "creating", "created"],
            ["run", "running", "runs"],
            ["reply", "replies", "reply"],
        ] {
            assert_eq!(stem(words[0]), stem(words[1]));
            assert_eq!(stem(words[0]), stem(words[2]));
        }
    }
}

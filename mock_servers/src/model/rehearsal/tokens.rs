//! Cuts a request into words and quotations.
//!
//! What stands in quotes, backticks or a code fence is one token, so that nothing later can split it or mistake its
//! words for the user's own. Invariant: every token knows where it stands in the text, and quotations are never altered.

use super::vocabulary::Word;
use super::words;

/// The most tokens of a request that are looked at; a pasted book is no request.
const MAX_TOKENS: usize = 400;

/// What stands between a token and the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Break {
    /// Only space.
    None,
    /// A comma: the sentence goes on.
    Comma,
    /// A full stop, a question mark or an exclamation mark.
    Stop,
    /// A semicolon, which also stands between two commands.
    Semicolon,
    /// The end of a line, or the number of a list item.
    Line,
}

/// A word without its punctuation, or the inside of a quotation.
#[derive(Clone, Copy, Debug)]
pub struct Token<'a> {
    /// The word, or what stands between the quotation marks.
    pub text: &'a str,
    /// Whether it was quoted.
    pub quoted: bool,
    /// Where it begins in the request, in bytes, with its punctuation.
    pub start: usize,
    /// Where it ends in the request, in bytes, with its punctuation.
    pub end: usize,
    /// What stands before it.
    pub before: Break,
    /// The number of the word; a quotation has none.
    pub word: Option<Word>,
}

impl Token<'_> {
    /// Whether this is the given word, unquoted, in any case.
    pub fn is(&self, word: &str) -> bool {
        !self.quoted && self.text.eq_ignore_ascii_case(word)
    }

    /// Whether it carries nothing.
    pub fn is_filler(&self) -> bool {
        self.word.is_some_and(Word::is_filler)
    }

    /// Whether this is one of the given words, unquoted, in any case.
    pub fn is_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(word))
    }
}

/// Cuts a text into its tokens.
pub fn tokenize(text: &str) -> Vec<Token<'_>> {
    let mut reader = Reader {
        text,
        at: 0,
        before: Break::None,
        line_start: true,
        items: 0,
        tokens: Vec::new(),
    };
    while reader.tokens.len() < MAX_TOKENS && reader.skip_space() {
        if !reader.list_marker() && !reader.quotation() {
            reader.word();
        }
    }
    reader.tokens
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    before: Break,
    line_start: bool,
    /// The number of the last list item, to tell `2)` in a line from a number.
    items: u32,
    tokens: Vec<Token<'a>>,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Goes to the next visible character; false at the end.
    fn skip_space(&mut self) -> bool {
        let rest = self.rest();
        let space = rest.len() - rest.trim_start().len();
        if rest[..space].contains('\n') {
            self.before = Break::Line;
            self.line_start = true;
        }
        self.at += space;
        self.at < self.text.len()
    }

    /// Skips `-`, `*`, `•`, `1.`, `2)` or `(3)` in front of a list item.
    fn list_marker(&mut self) -> bool {
        let rest = self.rest();
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let marker = &rest[..end];
        let number = marker
            .trim_start_matches('(')
            .strip_suffix(['.', ')'])
            .and_then(|digits| digits.parse().ok());
        let is_next = number
            .is_some_and(|number: u16| self.line_start || u32::from(number) == self.items + 1);
        let is_bullet = self.line_start && matches!(marker, "-" | "*" | "•");
        if end == rest.len() || !(is_next || is_bullet) {
            return false;
        }
        self.items = number.map_or(0, u32::from);
        self.before = Break::Line;
        self.line_start = false;
        self.at += end;
        true
    }

    fn quotation(&mut self) -> bool {
        let rest = self.rest();
        let open = rest.strip_prefix('(').unwrap_or(rest);
        let skipped = rest.len() - open.len();
        for (opening, closings) in words::QUOTES {
            let Some(inside) = open.strip_prefix(opening) else {
                continue;
            };
            if let Some((length, closing)) = closing_quote(inside, closings) {
                let text = if *opening == "```" {
                    fence_body(&inside[..length])
                } else {
                    &inside[..length]
                };
                let end = self.at + skipped + opening.len() + length + closing;
                self.push(Token {
                    text,
                    quoted: true,
                    start: self.at + skipped,
                    end,
                    before: self.before,
                    word: None,
                });
                self.after(end);
                return true;
            }
        }
        false
    }

    fn word(&mut self) {
        let rest = self.rest();
        let end = self.at + rest.find(char::is_whitespace).unwrap_or(rest.len());
        let raw = &self.text[self.at..end];
        let text = match raw {
            "." | ".." | "*" => raw,
            _ => raw
                .trim_start_matches(['(', '[', '{'])
                .trim_end_matches(words::PUNCTUATION),
        };
        if text.is_empty() {
            return self.after_punctuation(raw, end);
        }
        let token = Token {
            text,
            quoted: false,
            start: self.at,
            end,
            before: self.before,
            word: None,
        };
        match words::CONTRACTIONS
            .iter()
            .find_map(|mark| text.strip_suffix(mark))
        {
            Some(head) if !head.is_empty() => {
                self.push(Token {
                    text: head,
                    ..token
                });
                self.push(Token {
                    text: "is",
                    before: Break::None,
                    ..token
                });
            }
            _ => self.push(token),
        }
        let tail = text.as_ptr() as usize - raw.as_ptr() as usize + text.len();
        self.after_punctuation(&raw[tail..], end);
    }

    fn push(&mut self, token: Token<'a>) {
        let word = Some(token.text)
            .filter(|_| !token.quoted)
            .and_then(Word::of);
        self.tokens.push(Token { word, ..token });
        self.before = Break::None;
        self.line_start = false;
    }

    /// Goes on behind a quotation: punctuation that touches it belongs to it.
    fn after(&mut self, end: usize) {
        let rest = &self.text[end..];
        let tail = rest.len() - rest.trim_start_matches(words::PUNCTUATION).len();
        self.after_punctuation(&rest[..tail], end + tail);
    }

    fn after_punctuation(&mut self, marks: &str, end: usize) {
        let strength = if marks.contains(';') {
            Break::Semicolon
        } else if marks.contains(['.', '!', '?']) {
            Break::Stop
        } else if marks.contains(',') {
            Break::Comma
        } else {
            Break::None
        };
        self.before = self.before.max(strength);
        self.line_start = false;
        self.at = end;
    }
}

/// How long the quotation is, and how long its closing mark.
fn closing_quote(inside: &str, closings: &[&str]) -> Option<(usize, usize)> {
    let closes = |at: usize, mark: &str| {
        // An apostrophe within a word closes nothing.
        mark == "```" || !inside[at + mark.len()..].starts_with(char::is_alphanumeric)
    };
    closings
        .iter()
        .filter_map(|mark| {
            inside
                .match_indices(mark)
                .find(|(at, _)| closes(*at, mark))
                .map(|(at, _)| (at, mark.len()))
        })
        .min()
        .filter(|(length, _)| *length > 0)
}

/// A code fence without the language on its first line and without its last line break.
fn fence_body(inside: &str) -> &str {
    match inside.split_once('\n') {
        Some((language, body)) if !language.trim().contains(' ') => {
            body.strip_suffix('\n').unwrap_or(body)
        }
        _ => inside,
    }
}

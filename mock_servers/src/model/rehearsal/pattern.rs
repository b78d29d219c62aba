//! The language of the table's patterns, and how one is matched against the words of a step.
//!
//! ```text
//! create|make     one of these words, in any case
//! *               any words, or none
//! ^  $            the step begins, ends here
//! {path}          a slot; {from:path} names it otherwise than its kind
//! ```
//!
//! Words that carry nothing (`the`, `please`, …) need not be mentioned. Regular expressions would say the same, but
//! nobody reads sixty of them, and in a debug build they cost more than the rest of a turn.
//! Invariant: matching is bounded; a long request costs no more than its first words.

use super::jobs;
use super::team::people::PEOPLE;
use super::tokens::Token;
use super::words;

/// The most tokens of a step a pattern is tried on.
const REACH: usize = 60;

/// What a slot accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Something that looks like a file or a directory.
    Path,
    /// Any one word or quotation.
    Word,
    /// A word for something named before: `it`, `them`.
    It,
    /// A number, in digits or written out.
    Number,
    /// A quotation.
    Quote,
    /// A quotation, or all words up to the next piece of the pattern.
    Text,
    /// The same, but not beginning with `the`, `a` or the like: `write a poem to x.txt` is no text for x.txt.
    Words,
    /// A command: a quotation, or a program with everything behind it.
    Command,
    /// A program with what stands behind it, up to the next piece of the pattern.
    Program,
    /// A kind of file: `Python`, `.rs`, `*.md`.
    Files,
    /// A path, or the bare name of a directory.
    Place,
    /// A path that names no directory.
    File,
    /// A file that holds a program, or settings of one: the words of a request are no content for it.
    Code,
    /// A kind of short writing: `haiku`.
    Piece,
    /// A word for somebody a job is handed to.
    Subagent,
    /// The name of somebody.
    Name,
    /// A teammate's name, or a word for teammates; whether there is one of that name the finder knows.
    Mate,
}

/// One piece of a pattern.
#[derive(Clone, Debug)]
enum Piece {
    Start,
    End,
    Gap,
    Words(Vec<&'static str>),
    Slot(&'static str, Kind),
}

/// A parsed pattern.
#[derive(Clone, Debug)]
pub struct Pattern(Vec<Piece>);

/// What a slot took: the tokens `from..to`.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// The slot.
    pub name: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// Its first token.
    pub from: usize,
    /// The token behind its last.
    pub to: usize,
}

impl Pattern {
    /// Parses a pattern of the table. A kind that does not exist is a mistake in the table, which a test finds.
    pub fn parse(text: &'static str) -> Self {
        Self(text.split(' ').map(parse_piece).collect())
    }

    /// The words it can begin with; none when it begins with a slot.
    pub fn first_words(&self) -> &[&'static str] {
        match &self.0[..] {
            [Piece::Words(words), ..] | [Piece::Start, Piece::Words(words), ..] => words,
            _ => &[],
        }
    }

    /// Matches with the first piece on the token at `start`.
    pub fn match_at(&self, tokens: &[Token], start: usize) -> Option<Vec<Taken>> {
        let mut taken = Vec::new();
        let tokens = Tokens {
            all: tokens,
            reach: tokens.len().min(REACH),
            start,
        };
        tokens.matches(&self.0, start, &mut taken).then_some(taken)
    }

    /// Matches with the first piece on any token from `from` on.
    pub fn find(&self, tokens: &[Token], from: usize) -> Option<Vec<Taken>> {
        (from..tokens.len().min(REACH)).find_map(|start| self.match_at(tokens, start))
    }
}

fn parse_piece(text: &'static str) -> Piece {
    if text == "*" {
        return Piece::Gap;
    }
    if text == "^" {
        return Piece::Start;
    }
    if text == "$" {
        return Piece::End;
    }
    match text
        .strip_prefix('{')
        .and_then(|slot| slot.strip_suffix('}'))
    {
        Some(slot) => {
            let (name, kind) = slot.split_once(':').unwrap_or((slot, slot));
            Piece::Slot(
                name,
                parse_kind(kind).unwrap_or_else(|| panic!("no slot kind `{kind}` in `{text}`")),
            )
        }
        None => Piece::Words(text.split('|').collect()),
    }
}

fn parse_kind(name: &str) -> Option<Kind> {
    Some(match name {
        "path" => Kind::Path,
        "word" => Kind::Word,
        "it" => Kind::It,
        "number" => Kind::Number,
        "quote" => Kind::Quote,
        "text" => Kind::Text,
        "words" => Kind::Words,
        "command" => Kind::Command,
        "program" => Kind::Program,
        "files" => Kind::Files,
        "place" => Kind::Place,
        "file" => Kind::File,
        "code" => Kind::Code,
        "piece" => Kind::Piece,
        "subagent" => Kind::Subagent,
        "name" => Kind::Name,
        "mate" => Kind::Mate,
        _ => return None,
    })
}

struct Tokens<'a, 'b> {
    all: &'a [Token<'b>],
    reach: usize,
    start: usize,
}

impl Tokens<'_, '_> {
    fn matches(&self, pieces: &[Piece], at: usize, taken: &mut Vec<Taken>) -> bool {
        let Some((piece, rest)) = pieces.split_first() else {
            return true;
        };
        match piece {
            Piece::Start => at == 0 && self.matches(rest, at, taken),
            Piece::End => at == self.all.len(),
            Piece::Gap => (at..=self.reach).any(|next| self.matches(rest, next, taken)),
            Piece::Words(words) => self
                .hits(at, |token| token.is_any(words))
                .is_some_and(|hit| self.matches(rest, hit + 1, taken)),
            Piece::Slot(name, kind) => self.slot(name, *kind, at, rest, taken),
        }
    }

    /// The first token from `at` on that fits, when only fillers stand before it. The first piece skips nothing:
    /// where a match starts decides between patterns.
    fn hits(&self, at: usize, fits: impl Fn(&Token) -> bool) -> Option<usize> {
        for index in at..self.reach {
            let token = &self.all[index];
            if fits(token) {
                return Some(index);
            }
            if at == self.start || !token.is_any(words::FILLERS) {
                return None;
            }
        }
        None
    }

    fn slot(
        &self,
        name: &'static str,
        kind: Kind,
        at: usize,
        rest: &[Piece],
        taken: &mut Vec<Taken>,
    ) -> bool {
        let fits: fn(&Token) -> bool = match kind {
            Kind::Text => return self.text(name, at, rest, taken),
            Kind::Words
                if self.all.get(at).is_some_and(|token| {
                    token.is_any(words::FILLERS) || token.is_any(words::PRONOUNS)
                }) =>
            {
                return false;
            }
            Kind::Words => return self.text(name, at, rest, taken),
            Kind::Command => return self.command(name, at, rest, taken),
            Kind::Program if !self.is_program(at) => return false,
            Kind::Program => return self.text(name, at, rest, taken),
            Kind::Path => is_path,
            Kind::Word => |token| token.quoted || !token.is_any(words::FILLERS),
            Kind::It => |token| token.is_any(words::PRONOUNS),
            Kind::Number => |token| number(token).is_some(),
            Kind::Quote => |token| token.quoted,
            Kind::Files => |token| files(token.text).is_some(),
            Kind::Place => is_place,
            Kind::File => |token| is_path(token) && !is_place(token),
            Kind::Code => |token| is_path(token) && is_code(token.text),
            Kind::Piece => |token| piece(token.text).is_some(),
            Kind::Subagent => |token| token.is_any(jobs::SUBAGENTS),
            Kind::Name => |token| !token.quoted && token.is_any(PEOPLE),
            Kind::Mate => |token| !token.quoted && !token.is_any(words::FILLERS),
        };
        let Some(hit) = self.hits(at, fits) else {
            return false;
        };
        self.take(
            Taken {
                name,
                kind,
                from: hit,
                to: hit + 1,
            },
            rest,
            taken,
        )
    }

    fn text(&self, name: &'static str, at: usize, rest: &[Piece], taken: &mut Vec<Taken>) -> bool {
        if at >= self.reach {
            return false;
        }
        let shortest = at + 1;
        if rest.is_empty() {
            let to = if self.all[at].quoted {
                shortest
            } else {
                self.all.len()
            };
            return self.take(
                Taken {
                    name,
                    kind: Kind::Text,
                    from: at,
                    to,
                },
                rest,
                taken,
            );
        }
        (shortest..=self.reach).any(|to| {
            self.take(
                Taken {
                    name,
                    kind: Kind::Text,
                    from: at,
                    to,
                },
                rest,
                taken,
            )
        })
    }

    fn command(
        &self,
        name: &'static str,
        at: usize,
        rest: &[Piece],
        taken: &mut Vec<Taken>,
    ) -> bool {
        let Some(first) = self.all.get(at) else {
            return false;
        };
        let behind_a_verb = at > self.start;
        let to = match (first.quoted, self.is_program(at)) {
            (true, _) if behind_a_verb || self.all.len() == 1 => at + 1,
            (false, true) => self.all.len(),
            _ => return false,
        };
        self.take(
            Taken {
                name,
                kind: Kind::Command,
                from: at,
                to,
            },
            rest,
            taken,
        )
    }

    /// Whether a command begins here.
    fn is_program(&self, at: usize) -> bool {
        let behind_a_verb = at > self.start;
        self.all.get(at).is_some_and(|first| {
            first.is_any(words::PROGRAMS)
                || first.text.starts_with("./")
                || behind_a_verb && first.is_any(words::ENGLISH_PROGRAMS)
        })
    }

    fn take(&self, slot: Taken, rest: &[Piece], taken: &mut Vec<Taken>) -> bool {
        taken.push(slot);
        let fits = self.matches(rest, slot.to, taken);
        if !fits {
            taken.pop();
        }
        fits
    }
}

/// Whether a token looks like a file or a directory.
pub fn is_path(token: &Token) -> bool {
    let text = token.text;
    let plain = |text: &str| {
        !text.is_empty() && text.len() < 256 && !text.contains(['\n', '"', '<', '>', '|', '*'])
    };
    if !plain(text)
        || text.contains("://")
        || token.is_any(words::NO_PATHS)
        || files(text).is_some() && text.starts_with('.')
    {
        return false;
    }
    if !token.quoted && (matches!(text, "." | ".." | "~") || known_file(text).is_some()) {
        return true;
    }
    let name = text.rsplit('/').next().unwrap_or(text);
    let spaced = text.contains(' ');
    has_extension(name) || text.contains('/') && !spaced
}

fn has_extension(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, ext)| {
        let word =
            (1..=12).contains(&ext.len()) && ext.starts_with(|c: char| c.is_ascii_alphabetic());
        let alone = stem.is_empty() && ext.len() > 2;
        word && ext
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
            && (!stem.is_empty() && !stem.ends_with(' ') || alone)
    })
}

/// A directory: a path without extension, or a bare word that is no word for `here`.
fn is_place(token: &Token) -> bool {
    let bare = |token: &Token| {
        let idle = [words::FILLERS, words::HERE, words::PRONOUNS];
        !idle.iter().any(|words| token.is_any(words)) && files(token.text).is_none()
    };
    let name = token.text.trim_end_matches('/');
    let is_file =
        has_extension(name.rsplit('/').next().unwrap_or(name)) || known_file(name).is_some();
    token.text.ends_with('/') || !is_file && (is_path(token) || bare(token))
}

fn is_code(path: &str) -> bool {
    let ext = path.rsplit_once('.').map_or("", |(_, ext)| ext);
    words::CODE.contains(&ext)
}

/// A short piece of writing of this kind.
pub fn piece(kind: &str) -> Option<&'static str> {
    let mut pieces = words::PIECES.iter();
    let piece = pieces.find(|(known, _)| kind.eq_ignore_ascii_case(known));
    piece.map(|(_, text)| *text)
}

/// The file a token names.
pub fn named_file<'a>(token: &Token<'a>) -> &'a str {
    known_file(token.text).unwrap_or(token.text)
}

/// The file a name without extension stands for.
pub fn known_file(word: &str) -> Option<&'static str> {
    words::KNOWN_FILES
        .iter()
        .find(|(known, _)| word.eq_ignore_ascii_case(known))
        .map(|(_, file)| *file)
}

/// The number a token stands for, in digits.
pub fn number<'a>(token: &Token<'a>) -> Option<&'a str> {
    if token.text.len() < 7 && token.text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(token.text);
    }
    words::NUMBERS
        .iter()
        .find(|(word, _)| token.is(word))
        .map(|(_, digits)| *digits)
}

/// The pattern and the label of a kind of file: `python`, `.rs`, `*.md`.
pub fn files(word: &str) -> Option<(String, String)> {
    let ext = word.strip_prefix("*.").or_else(|| word.strip_prefix('.'));
    let known = words::KINDS
        .iter()
        .find(|(name, _, _)| ext.unwrap_or(word).eq_ignore_ascii_case(name));
    match (known, ext) {
        (Some((_, pattern, label)), _) => Some((pattern.to_string(), label.to_string())),
        (None, Some(ext)) if word.starts_with('*') => {
            Some((format!("*.{ext}"), format!("*.{ext} files")))
        }
        (None, _) => None,
    }
}

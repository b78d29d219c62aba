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

mod kinds;

pub use kinds::{files, is_key, is_path, named_file, number, piece};

use kinds::{is_code, is_place};

use super::jobs;
use super::servers::Servers;
use super::team::people::PEOPLE;
use super::tokens::Token;
use super::vocabulary::Word;
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
    /// The name of an MCP server; whether there is one the finder knows.
    Server,
    /// The key of an issue: `TEA-12`.
    Key,
}

/// One piece of a pattern.
#[derive(Clone, Debug)]
enum Piece {
    Start,
    End,
    Gap,
    Words(Vec<Word>),
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
    pub fn first_words(&self) -> &[Word] {
        match &self.0[..] {
            [Piece::Words(words), ..] | [Piece::Start, Piece::Words(words), ..] => words,
            _ => &[],
        }
    }

    /// Matches with the first piece on the token at `start`; `servers` says which words name a server.
    pub fn match_at(
        &self,
        tokens: &[Token],
        start: usize,
        servers: &Servers,
    ) -> Option<Vec<Taken>> {
        let mut taken = Vec::new();
        let tokens = Tokens {
            all: tokens,
            reach: tokens.len().min(REACH),
            start,
            servers,
        };
        tokens.matches(&self.0, start, &mut taken).then_some(taken)
    }

    /// Matches with the first piece on any token from `from` on.
    pub fn find(&self, tokens: &[Token], from: usize, servers: &Servers) -> Option<Vec<Taken>> {
        (from..tokens.len().min(REACH)).find_map(|start| self.match_at(tokens, start, servers))
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
        None => Piece::Words(text.split('|').filter_map(Word::of).collect()),
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
        "server" => Kind::Server,
        "key" => Kind::Key,
        _ => return None,
    })
}

struct Tokens<'a, 'b> {
    all: &'a [Token<'b>],
    reach: usize,
    start: usize,
    servers: &'a Servers,
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
                .hits(at, |token| {
                    token.word.is_some_and(|word| words.contains(&word))
                })
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
            if at == self.start || !token.is_filler() {
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
                if self
                    .all
                    .get(at)
                    .is_some_and(|token| token.is_filler() || token.is_any(words::PRONOUNS)) =>
            {
                return false;
            }
            Kind::Words => return self.text(name, at, rest, taken),
            Kind::Command => return self.command(name, at, rest, taken),
            Kind::Program if !self.is_program(at) => return false,
            Kind::Program => return self.text(name, at, rest, taken),
            Kind::Path => is_path,
            Kind::Word => |token| token.quoted || !token.is_filler(),
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
            Kind::Key => |token| is_key(token.text),
            Kind::Mate | Kind::Server => |token| !token.quoted && !token.is_filler(),
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
        if slot.kind == Kind::Server && self.servers.named(self.all[slot.from].text).is_none() {
            return false;
        }
        taken.push(slot);
        let fits = self.matches(rest, slot.to, taken);
        if !fits {
            taken.pop();
        }
        fits
    }
}

//! A request cut into clauses, and patterns over the words of a clause: `patterns.txt` has one a line.
//!
//! Hard joints (`then`, a full stop, a semicolon, a dash) always cut; `and` and commas cut when a verb follows. A piece of a
//! pattern is a word, some words of which one stands there, or a slot; a filler between two pieces is passed over, and any other
//! word that no piece takes is the end of the match. Invariants: every token is in exactly one clause, so nothing of a request can
//! fall out between two of them; the first line that matches is taken, and a slot is the user's own text.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::table;
use crate::words::{SETS, Shape, Token, number, set, tokens};

/// How a clause is joined to the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// Both may be done at once.
    And,
    /// It comes after.
    Then,
}

#[derive(Clone, Debug)]
pub struct Clause {
    /// Its tokens; places count from the beginning of `source`.
    pub tokens: Vec<Token>,
    /// The text that the tokens were cut from.
    pub source: String,
    /// Whether it began with `could you`: then a question mark asks for nothing.
    pub is_polite: bool,
}

/// Whether a token is the first of a line below another.
pub fn opens_line(text: &str, all: &[Token], at: usize) -> bool {
    at > 0 && text[all[at - 1].end..all[at].start].contains('\n')
}

/// The tokens of a sentence, cut at its hard joints.
pub fn segments(text: &str) -> Vec<Vec<Token>> {
    let mut found: Vec<Vec<Token>> = vec![Vec::new()];
    for token in tokens(text) {
        let open = found.last_mut().expect("there is one from the start");
        if !token.is("then — – -- - . ; ! ? …") {
            open.push(token);
            continue;
        }
        let last = open.iter().rposition(|token| !token.is(", and")).map_or(0, |last| last + 1);
        open.truncate(last);
        open.extend(Some(token).filter(|token| token.is("?")));
        found.push(Vec::new());
    }
    found.retain(|segment| !segment.is_empty());
    found
}

/// Where the clause that begins at `from` ends, and where the next one begins.
pub fn clause_end(tokens: &[Token], from: usize) -> (usize, usize) {
    let asks = tokens[from].is(set("@wh")) || tokens.last().is_some_and(|last| last.text == "?");
    for at in from + 1..tokens.len() {
        let token = &tokens[at];
        if token.is("while") && says(&tokens[at..], "background") {
            return (at, at);
        }
        let next = (at + 1..tokens.len()).find(|next| !tokens[*next].is(set("skipped")));
        let Some(next) = next.filter(|_| token.is(", and")) else { continue };
        let (verb, after) = (&tokens[next], tokens.get(next + 1));
        // `claim and work` is one thing: the verb stands alone.
        let is_alone = after.is_none_or(|after| after.shape == Shape::Mark || after.is("and"));
        let begins = table::is_verb(&verb.low) && verb.shape == Shape::Word && !is_alone
            || verb.is(set("@wh")) && asks
            || verb.is("only but don't never")
            || verb.is("do") && after.is_some_and(|not| not.is("not"));
        // So is `review the files and fix them`.
        let is_one = verb.is("fix mend correct discard")
            || verb.is("report") && after.is_some_and(|after| after.is("back"));
        let has_content = tokens[from..at].iter().filter(|token| !is_filler(token)).count() > 1;
        if begins && !is_one && has_content {
            return (at, next);
        }
    }
    (tokens.len(), tokens.len())
}

/// Whether a token carries no meaning of its own.
pub fn is_filler(token: &Token) -> bool {
    token.shape == Shape::Mark || token.is_filler
}

impl Clause {
    pub fn of(source: &str) -> Self {
        Self::new(source, tokens(source))
    }

    pub fn new(source: &str, tokens: Vec<Token>) -> Self {
        let (source, is_polite) = (source.to_owned(), false);
        let mut clause = Self {
            tokens,
            source,
            is_polite,
        };
        clause.drop_courtesy();
        clause
    }

    pub fn text(&self) -> &str {
        self.between(0, self.tokens.len())
    }

    /// The user's words from one token to another.
    pub fn between(&self, from: usize, to: usize) -> &str {
        self.said(self.tokens.get(from..to.min(self.tokens.len())).unwrap_or_default())
    }

    /// The user's words from the first of these tokens to the last.
    fn said(&self, some: &[Token]) -> &str {
        let (Some(first), Some(last)) = (some.first(), some.last()) else { return "" };
        self.source[first.start..last.end].trim()
    }

    pub fn says(&self, words: &str) -> bool {
        says(&self.tokens, words)
    }

    /// `could you please`, `I want you to`: politeness before an order.
    fn drop_courtesy(&mut self) {
        while let Some(found) = find_at("polite", self, 0, PLAIN)
            && found.end < self.tokens.len()
        {
            let (end, is_polite) = (found.end, found.label == "you");
            self.tokens.drain(..end);
            self.is_polite |= is_polite;
        }
    }

    /// Whether it asks and does not order.
    pub fn is_question(&self) -> bool {
        let asks = find_at("asks", self, 0, PLAIN).is_some_and(|found| found.label.is_empty());
        // `ask bob: is it done?` asks bob.
        let is_for_other = || self.tokens[0].is("ask") && self.says(":");
        asks || self.says("?") && !self.is_polite && !is_for_other()
    }
}

pub fn is_full_stop(all: &[Token], at: usize) -> bool {
    all[at].is(". ! ?") && all.get(at + 1).is_none_or(|next| next.start > all[at].end)
}

/// Where the first sentence of a text ends: at its full stop, or at a new line.
pub fn sentence_end(text: &str) -> usize {
    let all = tokens(text);
    let end = (0..all.len()).find_map(|at| match &all[at] {
        token if opens_line(text, &all, at) => Some(token.start),
        token => is_full_stop(&all, at).then_some(token.end),
    });
    end.unwrap_or(text.len())
}

enum Piece {
    /// One of these words.
    Words(String),
    /// A slot: its name and its kind.
    Slot(String, String),
}

struct Pattern {
    label: &'static str,
    pieces: Vec<Piece>,
}

/// Slots of a kind that only the caller knows: where one that begins at this token ends.
pub type Kind<'k> = &'k dyn Fn(&str, &[Token], usize) -> Option<usize>;

pub const PLAIN: Kind = &|_, _, _| None;

static RULES: LazyLock<HashMap<&str, Vec<Pattern>>> = LazyLock::new(|| {
    let mut rules: HashMap<&str, Vec<Pattern>> = HashMap::new();
    let lines = include_str!("patterns.txt").lines();
    let is_pattern = |line: &&str| !line.starts_with('#') && !line.contains(" = ");
    for (head, pattern) in lines.filter(is_pattern).filter_map(|line| line.split_once(": ")) {
        let (rule, label) = head.split_once(' ').unwrap_or((head, ""));
        for words in expanded(pattern) {
            let pieces = words.split_whitespace().map(piece).collect();
            rules.entry(rule).or_default().push(Pattern { label, pieces });
        }
    }
    rules
});

/// A pattern with and without what may be left out.
fn expanded(pattern: &str) -> Vec<String> {
    let Some((before, rest)) = pattern.split_once('[') else { return vec![pattern.to_owned()] };
    let (inner, after) = rest.split_once(']').expect("a bracket is closed");
    [inner, ""].iter().flat_map(|part| expanded(&format!("{before}{part}{after}"))).collect()
}

fn piece(word: &str) -> Piece {
    if let Some(slot) = word.strip_prefix('{').and_then(|word| word.strip_suffix('}')) {
        let (name, kind) = slot.split_once(':').unwrap_or((slot, slot));
        return Piece::Slot(name.to_owned(), kind.to_owned());
    }
    let words = word.split('|').map(|word| if word.starts_with('@') { set(word) } else { word });
    Piece::Words(words.collect::<Vec<_>>().join(" "))
}

/// A pattern that matched, and what its slots hold.
pub struct Found<'c> {
    /// What stands between the name of the rule and the colon.
    pub label: &'static str,
    /// The token behind the last.
    pub end: usize,
    clause: &'c Clause,
    slots: Vec<(&'static str, &'c [Token])>,
}

impl<'c> Found<'c> {
    /// The tokens of a slot; none when the pattern has no such slot.
    pub fn tokens(&self, name: &str) -> &'c [Token] {
        self.slots.iter().find(|(slot, _)| *slot == name).map_or(&[], |(_, some)| some)
    }

    pub fn first(&self, name: &str) -> Option<&'c Token> {
        self.tokens(name).first()
    }

    pub fn number(&self, name: &str) -> Option<u32> {
        self.first(name).and_then(|token| number(&token.low))
    }

    /// The text of a slot, without quotation marks when it is a quotation.
    pub fn text(&self, name: &str) -> &'c str {
        match self.tokens(name) {
            [one] if one.is_quoted() => &one.text,
            some => self.clause.said(some),
        }
    }
}

/// The first pattern of a rule that is the whole clause.
pub fn find<'c>(rule: &str, clause: &'c Clause, kind: Kind) -> Option<Found<'c>> {
    matched(rule, clause, (0, false), kind)
}

/// The first pattern of a rule that begins at this token, wherever it ends.
pub fn find_at<'c>(rule: &str, clause: &'c Clause, at: usize, kind: Kind) -> Option<Found<'c>> {
    matched(rule, clause, (at, true), kind)
}

fn matched<'c>(
    rule: &str,
    clause: &'c Clause,
    (at, is_open): (usize, bool),
    kind: Kind,
) -> Option<Found<'c>> {
    // The words that this rule passes over like fillers.
    let skips = SETS.get(format!("skip {rule}").as_str()).copied().unwrap_or_default();
    RULES[rule].iter().find_map(|pattern| {
        let mut matcher = Matcher {
            tokens: &clause.tokens,
            kind,
            is_open,
            skips,
            slots: Vec::new(),
        };
        // A pattern with an open end begins where it was looked for, and with no filler.
        let begin = if is_open { Matcher::piece } else { Matcher::rest };
        let end = begin(&mut matcher, &pattern.pieces, at)?;
        let (label, slots) = (pattern.label, matcher.slots);
        Some(Found {
            label,
            end,
            clause,
            slots,
        })
    })
}

struct Matcher<'c, 'k> {
    tokens: &'c [Token],
    kind: Kind<'k>,
    is_open: bool,
    skips: &'static str,
    slots: Vec<(&'static str, &'c [Token])>,
}

impl Matcher<'_, '_> {
    fn skips(&self, token: &Token) -> bool {
        is_filler(token) || !self.skips.is_empty() && token.is(self.skips)
    }

    /// Matches pieces from here on, passing over fillers; where they end.
    fn rest(&mut self, pieces: &'static [Piece], at: usize) -> Option<usize> {
        if pieces.is_empty() {
            let is_end = self.is_open || self.tokens[at..].iter().all(|token| self.skips(token));
            return is_end.then_some(at);
        }
        let skips = self.tokens.get(at).is_some_and(|token| self.skips(token));
        self.piece(pieces, at).or_else(|| if skips { self.rest(pieces, at + 1) } else { None })
    }

    fn piece(&mut self, pieces: &'static [Piece], at: usize) -> Option<usize> {
        let (first, more) = pieces.split_first()?;
        let token = self.tokens.get(at)?;
        let (name, kind) = match first {
            Piece::Words(words) => {
                return if token.is(words) { self.rest(more, at + 1) } else { None };
            }
            Piece::Slot(name, kind) => (name, kind),
        };
        let ends = match kind.as_str() {
            // The whole of what is left, but for a mark behind it; else the shortest text that lets the rest match.
            "text" if more.is_empty() => {
                let end = self.tokens.iter().rposition(|token| !token.is(". , ; : ! ? …"))? + 1;
                if end <= at {
                    return None;
                }
                end..=end
            }
            "text" => at + 1..=self.tokens.len(),
            kind => {
                let own = (self.kind)(kind, self.tokens, at);
                let end = own.or_else(|| is_kind(kind, token).then_some(at + 1))?;
                end..=end
            }
        };
        for end in ends {
            self.slots.push((name, &self.tokens[at..end]));
            // A filler behind a text is a part of it.
            let is_whole = kind == "text" && !more.is_empty();
            let went = if is_whole { self.piece(more, end) } else { self.rest(more, end) };
            if went.is_some() {
                return went;
            }
            self.slots.pop();
        }
        None
    }
}

fn is_kind(kind: &str, token: &Token) -> bool {
    match kind {
        "path" => token.shape == Shape::Path,
        "quoted" => token.is_quoted(),
        "code" => token.shape == Shape::Code,
        "key" => token.shape == Shape::Key,
        "signature" => token.shape == Shape::Signature,
        "number" => number(&token.low).is_some(),
        "count" => token.is("a an") || number(&token.low).is_some(),
        "star" => token.text.contains('*') && is_kind("field", token),
        "field" => token.text.bytes().all(|b| b.is_ascii_digit() || b"*/-".contains(&b)),
        "word" => token.shape == Shape::Word && !is_filler(token),
        kind => kind.starts_with('@') && token.is(set(kind)),
    }
}

/// Whether one of these tokens is one of these words.
pub fn says(tokens: &[Token], words: &str) -> bool {
    tokens.iter().any(|token| token.is(words))
}

//! A request cut into clauses, and what a clause holds: files, kinds, folders, numbers, names.
//!
//! Hard joints (`then`, a full stop, a semicolon, a dash) always cut; `and` and commas cut when a verb follows. Invariant:
//! every token is in exactly one clause, so nothing of a request can fall out between two of them.

use crate::rank;
use crate::words::{FILLERS, Shape, Token, has, tokens};

/// How a clause is joined to the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// Both may be done at once.
    And,
    /// It comes after.
    Then,
}

/// A part of a request that asks for one thing.
#[derive(Clone, Debug)]
pub struct Clause {
    /// Its tokens; places count from the beginning of `source`.
    pub tokens: Vec<Token>,
    /// The text that the tokens were cut from.
    pub source: String,
    /// How it is joined to the one before.
    pub join: Join,
    /// Whether it began with `could you`: then a question mark asks for nothing.
    pub is_polite: bool,
}

/// A sentence: what ends in a full stop or with its line, cut at its hard joints.
pub type Segment = (Vec<Token>, Join);

const WH: &str = "what which who how where when why whose";
const SKIPPED: &str =
    "also please while waiting meanwhile , and next finally afterwards after that now to then just you";

/// The segments of a text.
pub fn segments(text: &str) -> Vec<Segment> {
    let all = tokens(text);
    let mut found: Vec<Segment> = Vec::new();
    let (mut open, mut join) = (Vec::new(), Join::Then);
    let mut at = 0;
    while at < all.len() {
        let token = &all[at];
        let new_line = at > 0 && text[all[at - 1].end..token.start].contains('\n');
        // The number of a list is no word of the request.
        let is_item = (open.is_empty() || new_line)
            && token.shape == Shape::Number
            && all.get(at + 1).is_some_and(|next| matches!(next.text.as_str(), "." | ")"));
        let is_end = token.shape == Shape::Mark && matches!(token.text.as_str(), "." | "!" | "?" | "…");
        let is_dash =
            token.shape == Shape::Mark && matches!(token.text.as_str(), "—" | "–" | "--" | "-") && !open.is_empty();
        let is_then = token.is("then") && !open.is_empty();
        if new_line || is_item || is_end || is_dash || is_then {
            while matches!(open.last(), Some(last) if Token::is(last, ", and")) {
                open.pop();
            }
            if is_end && token.text == "?" {
                open.push(token.clone());
            }
            if !open.is_empty() {
                found.push((std::mem::take(&mut open), join));
            }
            join = Join::Then;
        }
        match (is_item, is_end || is_dash || is_then) {
            (true, _) => at += 1,
            (false, true) => {}
            (false, false) => open.push(token.clone()),
        }
        at += 1;
    }
    if !open.is_empty() {
        found.push((open, join));
    }
    found
}

/// Where the clause that begins at `from` ends, and where the next one begins.
pub fn clause_end(tokens: &[Token], from: usize) -> (usize, usize) {
    for at in from + 1..tokens.len() {
        let token = &tokens[at];
        let is_aside = token.is("while")
            && tokens[at..].iter().any(|token| token.is("background"))
            && !tokens[from..at].iter().any(|token| token.is("background"));
        if is_aside {
            return (at, at);
        }
        if token.is(";") && at + 1 < tokens.len() {
            return (at, at + 1);
        }
        let asks = tokens.last().is_some_and(|last| last.text == "?");
        let is_colon = token.is(":") && tokens.get(at + 1).is_some_and(|next| next.is(WH));
        if !token.is(", and") && !is_colon {
            continue;
        }
        let next = (at + 1..tokens.len()).find(|next| !tokens[*next].is(SKIPPED));
        let Some(next) = next else { continue };
        // `claim and work`: a verb that stands alone belongs to what is before it.
        let is_alone = tokens.get(next + 1).is_none_or(|after| after.shape == Shape::Mark || after.is("and"));
        // `review the files and fix them` is one thing.
        if tokens[next].is("fix mend correct discard")
            || tokens[next].is("report") && tokens.get(next + 1).is_some_and(|after| after.is("back"))
        {
            continue;
        }
        let begins = (rank::is_verb(&tokens[next].low) && tokens[next].shape == Shape::Word && !is_alone)
            || (tokens[next].is(WH) && (asks || is_colon))
            || tokens[next].is("only but don't never")
            || tokens[next].is("do") && tokens.get(next + 1).is_some_and(|not| not.is("not"));
        let has_content =
            tokens[from..at].iter().filter(|token| token.shape != Shape::Mark && !is_filler(token)).count() > 1
                || (tokens[from..at].len() == 1
                    && ["hello", "hi", "hey", "ok", "okay", "thanks", "great"].contains(&tokens[from].low.as_str()));
        if begins && (has_content || is_colon) {
            return (at, next);
        }
    }
    (tokens.len(), tokens.len())
}

/// Whether a token carries no meaning of its own.
pub fn is_filler(token: &Token) -> bool {
    token.shape == Shape::Mark || token.shape == Shape::Word && has(FILLERS, &token.low)
}

impl Clause {
    /// A clause of these tokens.
    pub fn new(source: &str, tokens: &[Token], join: Join) -> Self {
        let mut clause = Self { tokens: tokens.to_vec(), source: source.to_owned(), join, is_polite: false };
        clause.drop_courtesy();
        clause
    }

    /// A clause that is a whole text.
    pub fn of(source: &str) -> Self {
        Self::new(source, &tokens(source), Join::Then)
    }

    /// The user's words, from the first token to the last.
    pub fn text(&self) -> &str {
        self.between(0, self.tokens.len())
    }

    /// The user's words from one token to another.
    pub fn between(&self, from: usize, to: usize) -> &str {
        let some = self.tokens.get(from..to.min(self.tokens.len())).unwrap_or_default();
        let start = some.iter().map(|token| token.start).min();
        let end = some.iter().map(|token| token.end).max();
        start.zip(end).map_or("", |(start, end)| self.source[start..end].trim())
    }

    /// The place of the first token that is one of these words.
    pub fn find(&self, words: &str) -> Option<usize> {
        self.tokens.iter().position(|token| token.is(words))
    }

    /// Whether one of these words is said.
    pub fn says(&self, words: &str) -> bool {
        self.find(words).is_some()
    }

    /// `could you please`, `I want you to`: politeness before an order.
    fn drop_courtesy(&mut self) {
        const POLITE: [&[&str]; 21] = [
            &["after", "that"],
            &["meanwhile"],
            &["please"],
            &["could", "you"],
            &["can", "you"],
            &["would", "you"],
            &["will", "you"],
            &["i", "want", "you", "to"],
            &["i'd", "like", "you", "to"],
            &["i", "would", "like", "you", "to"],
            &["i", "need", "you", "to"],
            &["i'd", "like", "to"],
            &["let", "me", "know"],
            &["try", "to"],
            &["attempt", "to"],
            &["help", "me", "to"],
            &["help", "me"],
            &["let's"],
            &["now"],
            &["ok", ","],
            &["kindly"],
        ];
        let drop_joints = |tokens: &mut Vec<Token>| {
            while tokens.len() > 1 && tokens[0].is(", and to also then finally next just afterwards but") {
                tokens.remove(0);
            }
        };
        drop_joints(&mut self.tokens);
        while let Some(len) = POLITE
            .iter()
            .find(|words| {
                words.len() < self.tokens.len() && words.iter().zip(&self.tokens).all(|(word, token)| token.is(word))
            })
            .map(|words| words.len())
        {
            self.is_polite |= self.tokens[..len].iter().any(|token| token.is("you"));
            self.tokens.drain(..len);
            drop_joints(&mut self.tokens);
        }
        // `in the background, run X`: what comes first may as well come last.
        if self.tokens.len() > 4 && self.tokens[0].is("in") && self.tokens[2].is("background") {
            let mut front: Vec<Token> = self.tokens.drain(..3).collect();
            drop_joints(&mut self.tokens);
            self.tokens.append(&mut front);
        }
        let tries = self.tokens.len() > 1 && self.tokens[0].is("try attempt") && self.tokens[1].low.ends_with("ing");
        if tries {
            self.tokens.remove(0);
        }
    }

    /// Whether it asks and does not order.
    pub fn is_question(&self) -> bool {
        const AUX: &str =
            "is are was were does did do has have am should may might shall must isn't don't didn't could can";
        let Some(first) = self.tokens.first() else { return false };
        // `do you …` asks, `do a …` orders.
        let second_is_you = self.tokens.get(1).is_some_and(|next| next.is("i you we it he she they"));
        first.is(WH)
            || (first.is(AUX) && (second_is_you || !first.is("do have don't")))
            || (self.says("?") && !self.is_polite)
    }
}
/// Where the first sentence of a text ends: at its full stop, or at a new line.
pub fn sentence_end(text: &str) -> usize {
    let all = tokens(text);
    for (at, token) in all.iter().enumerate() {
        let new_line = at > 0 && text[all[at - 1].end..token.start].contains('\n');
        let is_item = at > 0
            && all[at - 1].shape == Shape::Number
            && (at == 1 || text[all[at - 2].end..all[at - 1].start].contains('\n'));
        let is_end = token.shape == Shape::Mark
            && matches!(token.text.as_str(), "." | "!" | "?")
            && all.get(at + 1).is_none_or(|next| next.start > token.end)
            && !is_item;
        if new_line {
            return token.start;
        }
        if is_end {
            return token.end;
        }
    }
    text.len()
}

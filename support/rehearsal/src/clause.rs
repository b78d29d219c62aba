//! A request cut into clauses, and what a clause holds: files, kinds, folders, numbers, names.
//!
//! Hard joints (`then`, a full stop, a semicolon, a dash) always cut; `and` and commas cut when a verb follows. Invariant:
//! every token is in exactly one clause, so nothing of a request can fall out between two of them.

use crate::table;
use crate::words::{Shape, Token, set, tokens};

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
    pub join: Join,
    /// Whether it began with `could you`: then a question mark asks for nothing.
    pub is_polite: bool,
}

fn opens_line(text: &str, all: &[Token], at: usize) -> bool {
    at > 0 && text[all[at - 1].end..all[at].start].contains('\n')
}

/// The tokens of a sentence, cut at its hard joints.
pub fn segments(text: &str) -> Vec<Vec<Token>> {
    let mut found: Vec<Vec<Token>> = vec![Vec::new()];
    for token in tokens(text) {
        let open = found.last_mut().expect("there is one from the start");
        if !token.is("then — – -- - . ! ? …") {
            open.push(token);
            continue;
        }
        while open.last().is_some_and(|last| last.is(", and")) {
            open.pop();
        }
        open.extend(Some(token).filter(|token| token.is("?")));
        found.push(Vec::new());
    }
    found.retain(|segment| !segment.is_empty());
    found
}

/// Where the clause that begins at `from` ends, and where the next one begins.
pub fn clause_end(tokens: &[Token], from: usize) -> (usize, usize) {
    let says = |some: &[Token], words: &str| some.iter().any(|token| token.is(words));
    let asks = tokens.last().is_some_and(|last| last.text == "?");
    for at in from + 1..tokens.len() {
        let token = &tokens[at];
        if token.is("while")
            && says(&tokens[at..], "background")
            && !says(&tokens[from..at], "background")
        {
            return (at, at);
        }
        if token.is(";") && at + 1 < tokens.len() {
            return (at, at + 1);
        }
        let is_colon = token.is(":") && tokens.get(at + 1).is_some_and(|next| next.is(set("wh")));
        let next = (at + 1..tokens.len()).find(|next| !tokens[*next].is(set("skipped")));
        let Some(next) = next.filter(|_| is_colon || token.is(", and")) else { continue };
        let (verb, after) = (&tokens[next], tokens.get(next + 1));
        // `review the files and fix them` is one thing; so is `claim and work`, where the verb stands alone.
        let is_one = verb.is("fix mend correct discard")
            || verb.is("report") && after.is_some_and(|after| after.is("back"));
        let is_alone = after.is_none_or(|after| after.shape == Shape::Mark || after.is("and"));
        let begins = table::is_verb(&verb.low) && verb.shape == Shape::Word && !is_alone
            || verb.is(set("wh")) && (asks || is_colon)
            || verb.is("only but don't never")
            || verb.is("do") && after.is_some_and(|not| not.is("not"));
        let before = &tokens[from..at];
        let is_greeting = before.len() == 1 && before[0].is("hello hi hey ok okay thanks great");
        let has_content =
            is_greeting || before.iter().filter(|token| !is_filler(token)).count() > 1;
        if begins && !is_one && (has_content || is_colon) {
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
    pub fn new(source: &str, tokens: &[Token], join: Join) -> Self {
        let mut clause = Self::cut(source, tokens.to_vec(), join);
        clause.drop_courtesy();
        clause
    }

    pub fn of(source: &str) -> Self {
        Self::new(source, &tokens(source), Join::Then)
    }

    /// The same, with the politeness in front.
    pub fn whole(source: &str) -> Self {
        Self::cut(source, tokens(source), Join::Then)
    }

    fn cut(source: &str, tokens: Vec<Token>, join: Join) -> Self {
        let source = source.to_owned();
        Self {
            tokens,
            source,
            join,
            is_polite: false,
        }
    }

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

    pub fn find(&self, words: &str) -> Option<usize> {
        self.tokens.iter().position(|token| token.is(words))
    }

    pub fn says(&self, words: &str) -> bool {
        self.find(words).is_some()
    }

    /// `could you please`, `I want you to`: politeness before an order.
    fn drop_courtesy(&mut self) {
        loop {
            let joints = self.tokens.iter().take_while(|token| {
                token.is(", and to also then finally next just afterwards but")
            });
            self.tokens.drain(..joints.count().min(self.tokens.len().saturating_sub(1)));
            let is_said = |polite: &&str| {
                let words = polite.split(' ');
                words.clone().count() < self.tokens.len()
                    && words.zip(&self.tokens).all(|(word, token)| token.is(word))
            };
            let Some(polite) = set("polite").split('|').find(is_said) else { break };
            self.is_polite |= polite.contains("you");
            self.tokens.drain(..polite.split(' ').count());
        }
    }

    /// Whether it asks and does not order.
    pub fn is_question(&self) -> bool {
        let Some(first) = self.tokens.first() else { return false };
        // `do you …` asks, `do a …` orders.
        let second_is_you =
            self.tokens.get(1).is_some_and(|next| next.is("i you we it he she they"));
        // Whoever likes something orders nothing.
        first.is(set("wh"))
            || first.is("i") && self.tokens.get(1).is_some_and(|next| next.is("like love hate"))
            || (first.is(set("aux")) && (second_is_you || !first.is("do have don't")))
            // `ask bob: is it done?` asks bob.
            || (self.says("?") && !self.is_polite && !(first.is("ask") && self.says(":")))
    }
}

pub fn is_full_stop(all: &[Token], at: usize) -> bool {
    all[at].is(". ! ?") && all.get(at + 1).is_none_or(|next| next.start > all[at].end)
}

/// Where the first sentence of a text ends: at its full stop, or at a new line.
pub fn sentence_end(text: &str) -> usize {
    let all = tokens(text);
    for (at, token) in all.iter().enumerate() {
        if opens_line(text, &all, at) {
            return token.start;
        }
        if is_full_stop(&all, at) {
            return token.end;
        }
    }
    text.len()
}

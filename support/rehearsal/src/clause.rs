//! A request cut into clauses, and what a clause holds: files, kinds, folders, numbers, names.
//!
//! Hard joints (`then`, a full stop, a semicolon, a dash) always cut; `and` and commas cut when a verb follows. Invariant:
//! every token is in exactly one clause, so nothing of a request can fall out between two of them.

use crate::rank;
use crate::table::{Row, Slot};
use crate::words::{FILLERS, Shape, Token, has, number, tokens};

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
}

/// A sentence: what ends in a full stop or with its line, cut at its hard joints.
pub type Segment = (Vec<Token>, Join);

const WH: &str = "what which who how where when why whose";
const SKIPPED: &str = "also please while waiting meanwhile , and next finally afterwards after that now to then just you";

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
        let is_item = (open.is_empty() || new_line) && token.shape == Shape::Number && all.get(at + 1).is_some_and(|next| matches!(next.text.as_str(), "." | ")"));
        let is_end = token.shape == Shape::Mark && matches!(token.text.as_str(), "." | "!" | "?" | "…");
        let is_dash = token.shape == Shape::Mark && matches!(token.text.as_str(), "—" | "–" | "--" | "-") && !open.is_empty();
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
        let is_aside = token.is("while") && tokens[at..].iter().any(|token| token.is("background")) && !tokens[from..at].iter().any(|token| token.is("background"));
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
        if tokens[next].is("fix mend correct discard") || tokens[next].is("report") && tokens.get(next + 1).is_some_and(|after| after.is("back")) {
            continue;
        }
        let begins = (rank::is_verb(&tokens[next].low) && tokens[next].shape == Shape::Word && !is_alone) || (tokens[next].is(WH) && (asks || is_colon)) || tokens[next].is("only but don't never");
        let has_content = tokens[from..at].iter().filter(|token| token.shape != Shape::Mark && !is_filler(token)).count() > 1
            || (tokens[from..at].len() == 1 && ["hello", "hi", "hey", "ok", "okay", "thanks", "great"].contains(&tokens[from].low.as_str()));
        if begins && (has_content || is_colon) {
            return (at, next);
        }
    }
    (tokens.len(), tokens.len())
}

/// Whether a token carries no meaning of its own.
pub fn is_filler(token: &Token) -> bool {
    token.shape == Shape::Mark || has(FILLERS, &token.low)
}

/// What the slots of a row were filled with.
#[derive(Clone, Debug, Default)]
pub struct Slots {
    /// Files.
    pub paths: Vec<String>,
    /// A folder.
    pub dir: Option<String>,
    /// The ending of a kind of files: `py`; or a pattern.
    pub kind: Option<String>,
    /// Texts in quotation marks or backticks.
    pub quoted: Vec<String>,
    /// A number.
    pub number: Option<u32>,
    /// An id.
    pub key: Option<String>,
    /// Names of teammates; pronouns stay what they are.
    pub names: Vec<String>,
    /// What stands behind a marker.
    pub rest: String,
}

/// A row held against a clause.
#[derive(Debug)]
pub struct Fit {
    /// The filled slots.
    pub slots: Slots,
    /// What nobody accounts for, in the user's words.
    pub left: Vec<String>,
    /// Whether a slot that is needed is empty.
    pub is_missing: bool,
}

/// The ending of a kind of files.
pub fn ending(word: &str) -> Option<&'static str> {
    const KINDS: [(&str, &str); 19] = [
        ("python", "py"), ("rust", "rs"), ("markdown", "md"), ("toml", "toml"), ("json", "json"), ("yaml", "yaml"), ("javascript", "js"), ("typescript", "ts"), ("text", "txt"),
        ("sql", "sql"), ("html", "html"), ("css", "css"), ("shell", "sh"), ("bash", "sh"), ("go", "go"), ("java", "java"), ("log", "log"), ("csv", "csv"), ("txt", "txt"),
    ];
    KINDS.iter().find(|(name, _)| *name == word).map(|(_, ending)| *ending)
}

impl Clause {
    /// A clause of these tokens.
    pub fn new(source: &str, tokens: &[Token], join: Join) -> Self {
        let mut clause = Self { tokens: tokens.to_vec(), source: source.to_owned(), join };
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
        const POLITE: [&[&str]; 19] = [
            &["after", "that"], &["meanwhile"], &["please"], &["could", "you"], &["can", "you"], &["would", "you"], &["will", "you"], &["i", "want", "you", "to"], &["i'd", "like", "you", "to"], &["i", "would", "like", "you", "to"],
            &["i", "need", "you", "to"], &["try", "to"], &["attempt", "to"], &["help", "me", "to"], &["help", "me"], &["let's"], &["now"], &["ok", ","], &["kindly"],
        ];
        let drop_joints = |tokens: &mut Vec<Token>| {
            while tokens.len() > 1 && tokens[0].is(", and to also then finally next just afterwards but") {
                tokens.remove(0);
            }
        };
        drop_joints(&mut self.tokens);
        while let Some(len) = POLITE.iter().find(|words| words.len() < self.tokens.len() && words.iter().zip(&self.tokens).all(|(word, token)| token.is(word))).map(|words| words.len()) {
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
        const AUX: &str = "is are was were does did do has have am should may might shall must isn't don't didn't could can";
        let Some(first) = self.tokens.first() else { return false };
        // `do you …` asks, `do a …` orders.
        let second_is_you = self.tokens.get(1).is_some_and(|next| next.is("i you we it he she they"));
        let is_order = rank::is_verb(&first.low) && !first.is("do have");
        first.is(WH) || (first.is(AUX) && (second_is_you || !first.is("do have don't"))) || (self.says("?") && !is_order)
    }

    /// Holds a row against this clause.
    pub fn fit(&self, index: usize, names: &[String]) -> Fit {
        let row = rank::row(index);
        let mut used = vec![false; self.tokens.len()];
        let mut slots = Slots::default();
        let takes = |slot: &Slot| row.needs.contains(slot) || row.may.contains(slot);
        if takes(&Slot::Kind) {
            self.take_kind(&mut slots, &mut used);
        }
        self.take_dir(takes(&Slot::Dir), &mut slots, &mut used);
        let files = [Slot::Path, Slot::Paths, Slot::Pair];
        for (at, token) in self.tokens.iter().enumerate().filter(|(at, _)| !used[*at]).collect::<Vec<_>>() {
            let taken = match token.shape {
                Shape::Path if files.iter().any(takes) => {
                    slots.paths.push(file(&token.text));
                    true
                }
                Shape::Quoted | Shape::Code if takes(&Slot::Quoted) => {
                    slots.quoted.push(token.text.clone());
                    true
                }
                Shape::Quoted | Shape::Code if files.iter().any(takes) && !token.text.contains(char::is_whitespace) => {
                    slots.paths.push(file(&token.text));
                    true
                }
                Shape::Key if takes(&Slot::Key) && slots.key.is_none() => {
                    slots.key = Some(token.text.clone());
                    true
                }
                Shape::Number | Shape::Word if takes(&Slot::Number) && slots.number.is_none() && number(&token.low).is_some() => {
                    slots.number = number(&token.low);
                    true
                }
                Shape::Word if takes(&Slot::Names) && (names.contains(&token.low) || self.may_be_name(at)) => {
                    slots.names.push(token.low.clone());
                    true
                }
                _ => false,
            };
            used[at] = used[at] || taken;
        }
        self.take_rest(row, &mut slots, &mut used);
        let left = (0..self.tokens.len()).filter(|at| !used[*at] && !is_filler(&self.tokens[*at]) && !rank::knows(index, &self.tokens[*at]));
        let left = left.map(|at| self.between(at, at + 1).to_owned()).collect();
        Fit { is_missing: !row.needs.iter().all(|slot| slots.has(slot)), slots, left }
    }

    /// Whether a word may be the name of somebody: no row knows it, and it is said where a name is said.
    pub fn may_be_name(&self, at: usize) -> bool {
        let token = &self.tokens[at];
        let is_free = token.shape == Shape::Word && !token.is("everybody everyone somebody someone anybody anyone nobody people team") && !rank::is_known(token) && !is_filler(token) && token.low.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
        let before = at.checked_sub(1).map(|before| &self.tokens[before]);
        let is_there = before.is_none_or(|before| before.is("ask tell for from of to did has let have dismiss approve reject and shut fire called named send with request make ,"));
        let is_possessive = self.source[token.start..token.end].ends_with("'s");
        is_free && (is_there || is_possessive)
    }

    fn take_kind(&self, slots: &mut Slots, used: &mut [bool]) {
        for (at, token) in self.tokens.iter().enumerate() {
            let pattern = token.shape == Shape::Path && token.text.contains('*');
            let dotted = token.text.strip_prefix('.').filter(|rest| token.shape != Shape::Mark && !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_alphanumeric()));
            let is_kind = self.tokens.get(at + 1).is_some_and(|next| next.is("file files code script scripts module modules program programs source sources package"));
            let found = if pattern { Some(token.text.as_str()) } else { dotted.or_else(|| ending(&token.low).filter(|_| is_kind)) };
            if let (Some(found), None) = (found, &slots.kind) {
                slots.kind = Some(found.to_owned());
                used[at] = true;
            }
        }
    }

    /// The folder, and the words that only say `here`.
    fn take_dir(&self, wanted: bool, slots: &mut Slots, used: &mut [bool]) {
        const PLACES: &str = "directory folder workspace project repo repository dir codebase";
        for at in 0..self.tokens.len() {
            let token = &self.tokens[at];
            let before = at.checked_sub(1).map(|before| &self.tokens[before]);
            let after = self.tokens.get(at + 1);
            if token.is(PLACES) {
                used[at] = true;
                let named = after.is_some_and(|next| next.is("called named"));
                let place = at + if named { 2 } else { 1 };
                let is_last = self.tokens.get(place + 1).is_none_or(|next| next.shape == Shape::Mark);
                if wanted && let Some(name) = self.tokens.get(place).filter(|next| is_dir_name(next, named || is_last)) {
                    slots.dir.get_or_insert(name.text.clone());
                    used[at..=place].iter_mut().for_each(|used| *used = true);
                } else if wanted && let Some(before) = before.filter(|before| is_dir_name(before, false) && !before.is("current working whole")) {
                    slots.dir.get_or_insert(before.text.clone());
                    used[at - 1] = true;
                }
            } else if token.is("current working") && after.is_some_and(|next| next.is(PLACES)) {
                used[at] = true;
            } else if wanted && slots.dir.is_none() && before.is_some_and(|before| before.is("in under inside of below within from")) {
                let is_folder = token.shape == Shape::Path && (token.text.ends_with('/') || !token.text.rsplit('/').next().unwrap_or_default().contains('.') || token.text == ".");
                // A plain word in this place is a folder, too, unless it means something else.
                let is_sure = before.is_some_and(|before| before.is("under inside below within"));
                let is_word = token.shape == Shape::Word && !is_filler(token) && (is_sure || !rank::is_known(token)) && after.is_none_or(|next| next.shape == Shape::Mark || next.is("and with which that containing"));
                if (is_folder && !token.text.contains('*')) || is_word {
                    slots.dir = Some(token.text.trim_end_matches('/').to_owned());
                    used[at] = true;
                }
            } else if wanted && slots.dir.is_none() && token.shape == Shape::Path && token.text.ends_with('/') {
                slots.dir = Some(token.text.trim_end_matches('/').to_owned());
                used[at] = true;
            }
        }
    }

    fn take_rest(&self, row: &Row, slots: &mut Slots, used: &mut [bool]) {
        for slot in row.needs.iter().chain(row.may) {
            let Slot::After(markers) = slot else { continue };
            let Some(at) = self.find(markers) else { continue };
            let end = self.tokens.iter().rposition(|token| token.shape != Shape::Mark).map_or(0, |last| last + 1);
            slots.rest = self.between(at + 1, end.max(at + 1)).to_owned();
            used[at..].iter_mut().for_each(|used| *used = true);
        }
    }
}

impl Slots {
    fn has(&self, slot: &Slot) -> bool {
        match slot {
            Slot::Path => self.paths.len() == 1,
            Slot::Pair => self.paths.len() == 2,
            Slot::Paths => !self.paths.is_empty(),
            Slot::Dir => self.dir.is_some(),
            Slot::Kind => self.kind.is_some(),
            Slot::Quoted => !self.quoted.is_empty(),
            Slot::Number => self.number.is_some(),
            Slot::Key => self.key.is_some(),
            Slot::Names => !self.names.is_empty(),
            Slot::After(_) => !self.rest.is_empty(),
        }
    }
}

fn is_dir_name(token: &Token, may_be_verb: bool) -> bool {
    let is_word = token.shape == Shape::Word && !is_filler(token) && !token.is("current working listing and called named structure") && (may_be_verb || !rank::is_verb(&token.low));
    token.shape == Shape::Path || token.shape == Shape::Quoted || token.shape == Shape::Code || is_word
}

/// A file as it is meant.
pub fn file(word: &str) -> String {
    match word.to_lowercase().as_str() {
        "readme" => "README.md".to_owned(),
        _ => word.to_owned(),
    }
}

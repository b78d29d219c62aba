//! What a clause holds for a row: files, kinds, folders, numbers, names, and what is left.
//!
//! Coverage is worked out here: a token is taken by a slot, known to the row, a filler, or left. Invariant: a token is in
//! one slot at most, and what is left is the user's own word.

use crate::clause::{Clause, is_filler};
use crate::rank;
use crate::table::{Row, Slot};
use crate::words::{Shape, Token, number};

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

impl Clause {
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
                Shape::Number | Shape::Word
                    if takes(&Slot::Number) && slots.number.is_none() && number(&token.low).is_some() =>
                {
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
        let left = (0..self.tokens.len())
            .filter(|at| !used[*at] && !is_filler(&self.tokens[*at]) && !rank::knows(index, &self.tokens[*at]));
        let left = left.map(|at| self.between(at, at + 1).to_owned()).collect();
        Fit { is_missing: !row.needs.iter().all(|slot| slots.has(slot)), slots, left }
    }

    /// Whether a word may be the name of somebody: no row knows it, and it is said where a name is said.
    pub fn may_be_name(&self, at: usize) -> bool {
        let token = &self.tokens[at];
        let is_free = token.shape == Shape::Word
            && !token.is("everybody everyone somebody someone anybody anyone nobody people team")
            && !rank::is_known(token)
            && !is_filler(token)
            && token.low.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
        let before = at.checked_sub(1).map(|before| &self.tokens[before]);
        let is_there = before.is_none_or(|before| before.is("ask tell for from of to did has let have dismiss approve reject and shut fire called named send with request make ,"));
        let is_possessive = self.source[token.start..token.end].ends_with("'s");
        is_free && (is_there || is_possessive)
    }

    fn take_kind(&self, slots: &mut Slots, used: &mut [bool]) {
        for (at, token) in self.tokens.iter().enumerate() {
            let pattern = token.shape == Shape::Path && token.text.contains('*');
            let dotted = token.text.strip_prefix('.').filter(|rest| {
                token.shape != Shape::Mark && !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_alphanumeric())
            });
            let is_kind = self.tokens.get(at + 1).is_some_and(|next| {
                next.is("file files code script scripts module modules program programs source sources package")
            });
            let found = if pattern {
                Some(token.text.as_str())
            } else {
                dotted.or_else(|| ending(&token.low).filter(|_| is_kind))
            };
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
                if wanted && let Some(name) = self.tokens.get(place).filter(|next| is_dir_name(next, named || is_last))
                {
                    slots.dir.get_or_insert(name.text.clone());
                    used[at..=place].iter_mut().for_each(|used| *used = true);
                } else if wanted
                    && let Some(before) =
                        before.filter(|before| is_dir_name(before, false) && !before.is("current working whole"))
                {
                    slots.dir.get_or_insert(before.text.clone());
                    used[at - 1] = true;
                }
            } else if token.is("current working") && after.is_some_and(|next| next.is(PLACES)) {
                used[at] = true;
            } else if wanted
                && slots.dir.is_none()
                && before.is_some_and(|before| before.is("in under inside of below within from"))
            {
                let is_folder = token.shape == Shape::Path
                    && (token.text.ends_with('/')
                        || !token.text.rsplit('/').next().unwrap_or_default().contains('.')
                        || token.text == ".");
                // A plain word in this place is a folder, too, unless it means something else.
                let is_sure = before.is_some_and(|before| before.is("under inside below within"));
                let is_word = token.shape == Shape::Word
                    && !is_filler(token)
                    && (is_sure || !rank::is_known(token))
                    && after.is_none_or(|next| next.shape == Shape::Mark || next.is("and with which that containing"));
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
    let is_word = token.shape == Shape::Word
        && !is_filler(token)
        && !token.is("current working listing and called named structure")
        && (may_be_verb || !rank::is_verb(&token.low));
    token.shape == Shape::Path || token.shape == Shape::Quoted || token.shape == Shape::Code || is_word
}

/// A file as it is meant.
pub fn file(word: &str) -> String {
    match word.to_lowercase().as_str() {
        "readme" => "README.md".to_owned(),
        _ => word.to_owned(),
    }
}

/// The ending of a kind of files.
pub fn ending(word: &str) -> Option<&'static str> {
    const KINDS: [(&str, &str); 19] = [
        ("python", "py"),
        ("rust", "rs"),
        ("markdown", "md"),
        ("toml", "toml"),
        ("json", "json"),
        ("yaml", "yaml"),
        ("javascript", "js"),
        ("typescript", "ts"),
        ("text", "txt"),
        ("sql", "sql"),
        ("html", "html"),
        ("css", "css"),
        ("shell", "sh"),
        ("bash", "sh"),
        ("go", "go"),
        ("java", "java"),
        ("log", "log"),
        ("csv", "csv"),
        ("txt", "txt"),
    ];
    KINDS.iter().find(|(name, _)| *name == word).map(|(_, ending)| *ending)
}

//! What a clause holds for a row: files, kinds, folders, numbers, names, and what is left.
//!
//! Coverage is worked out here: a token is taken by a slot, known to the row, a filler, or left. Invariant: a token is in
//! one slot at most, and what is left is the user's own word.

use std::sync::LazyLock;

use regex_lite::{Captures, Regex};
use serde_json::{Value, json};

use crate::clause::{self, Clause, is_filler};
use crate::table::{self, ROWS, Row, Slot};
use crate::tools::Can;
use crate::words::{Shape, Token, entry, number, set};

/// What the slots of a row were filled with.
#[derive(Clone, Debug, Default)]
pub struct Slots {
    pub paths: Vec<String>,
    pub dir: Option<String>,
    /// The ending of a kind of files: `py`; or a pattern.
    pub kind: Option<String>,
    /// Texts in quotation marks or backticks.
    pub quoted: Vec<String>,
    pub number: Option<u32>,
    pub key: Option<String>,
    pub names: Vec<String>,
    /// What stands behind a marker.
    pub rest: String,
    pub said: String,
}

impl Clause {
    /// Holds a row against this clause: its slots, and what nobody accounts for.
    pub fn fit(&self, index: usize, names: &[String]) -> (Slots, Vec<String>) {
        let row = &ROWS[index];
        let mut used = vec![false; self.tokens.len()];
        let mut slots = Slots::of(self.text());
        let takes = |slot: &Slot| row.needs.contains(slot) || row.may.contains(slot);
        if takes(&Slot::Kind) {
            self.take_kind(&mut slots, &mut used);
        }
        self.take_dir(takes(&Slot::Dir), &mut slots, &mut used);
        let most = [(Slot::Path, 1), (Slot::Pair, 2), (Slot::Paths, usize::MAX)];
        let most_paths = most.iter().find(|(slot, _)| takes(slot)).map_or(0, |(_, most)| *most);
        for (at, token) in self.tokens.iter().enumerate() {
            let is_file =
                token.is_quoted() && (token.text.contains(['.', '/']) || self.says("file files"));
            if used[at] {
                continue;
            }
            let count =
                number(&token.low).filter(|_| matches!(token.shape, Shape::Number | Shape::Word));
            used[at] = true;
            if token.is_quoted() && takes(&Slot::Quoted) && slots.quoted.is_empty() {
                slots.quoted.push(token.text.clone());
            } else if slots.paths.len() < most_paths && (token.shape == Shape::Path || is_file) {
                slots.paths.push(file(&token.text));
            } else if token.shape == Shape::Key && takes(&Slot::Key) && slots.key.is_none() {
                slots.key = Some(token.text.clone());
            } else if takes(&Slot::Number) && slots.number.is_none() && count.is_some() {
                slots.number = count;
            } else if takes(&Slot::Names) && (names.contains(&token.low) || self.may_be_name(at)) {
                slots.names.push(token.low.clone());
            } else if takes(&Slot::Name)
                && slots.rest.is_empty()
                && token.shape != Shape::Mark
                && !is_filler(token)
                && !table::knows(index, token)
            {
                slots.rest.clone_from(&token.text);
            } else {
                used[at] = false;
            }
        }
        if let Some(at) = self.tokens.iter().position(|token| token.is(row.after)) {
            let last = self.tokens.iter().rposition(|token| token.shape != Shape::Mark);
            slots.rest = self.between(at + 1, last.map_or(at, |last| last.max(at)) + 1).to_owned();
            used[at..].fill(true);
        }
        let is_left = |at: &usize| {
            !used[*at] && !is_filler(&self.tokens[*at]) && !table::knows(index, &self.tokens[*at])
        };
        let left = (0..self.tokens.len()).filter(is_left);
        let left = left.map(|at| self.between(at, at + 1).to_owned()).collect();
        (slots, left)
    }

    /// Whether a word may be the name of somebody: it is said where a name is said.
    pub fn may_be_name(&self, at: usize) -> bool {
        can_be_name(&self.tokens[at]) && (at == 0 || self.tokens[at - 1].is(set("before-names")))
    }

    fn take_kind(&self, slots: &mut Slots, used: &mut [bool]) {
        let kind = |at: usize| {
            let (token, next) = (&self.tokens[at], self.tokens.get(at + 1));
            let is_ending = |rest: &&str| rest.bytes().all(|b| b.is_ascii_alphanumeric());
            let dotted = token.text.strip_prefix('.').filter(is_ending);
            let pattern = Some(token.text.as_str()).filter(|text| text.contains('*'));
            let named = entry("endings", &token.low);
            let named = named.filter(|_| next.is_some_and(|next| next.is(set("kinds-of"))));
            pattern.or(dotted).filter(|_| token.shape == Shape::Path).or(named)
        };
        if let Some((at, kind)) = (0..used.len()).find_map(|at| Some((at, kind(at)?))) {
            slots.kind = Some(kind.to_owned());
            used[at] = true;
        }
    }

    /// The folder, and the words that only say `here`.
    fn take_dir(&self, wanted: bool, slots: &mut Slots, used: &mut [bool]) {
        let kind = |kind: &str, tokens: &[Token], at: usize| {
            let (token, next) = (&tokens[at], tokens.get(at + 1));
            let is_last =
                next.is_none_or(|next| next.shape == Shape::Mark || next.is(set("dir-ends")));
            let fits = match (kind, token.shape) {
                (_, Shape::Word) if is_filler(token) => false,
                ("name", Shape::Word) => is_last || !table::is_verb(&token.low),
                ("below", Shape::Word) => is_last,
                // A plain word in this place is a folder, too, unless it means something else.
                ("before", Shape::Word) => {
                    next.is_some_and(|next| next.is(set("@places")))
                        && !table::is_verb(&token.low)
                        && !token.is("current whole")
                }
                ("inside", Shape::Word) => is_last && !table::is_known(token),
                (_, Shape::Path) => {
                    let name = token.text.rsplit('/').next().unwrap_or_default();
                    !token.text.contains('*') && (!name.contains('.') || token.text == ".")
                }
                (_, shape) => kind != "inside" && matches!(shape, Shape::Quoted | Shape::Code),
            };
            fits.then_some(at + 1)
        };
        for at in 0..self.tokens.len() {
            used[at] |= self.tokens[at].is(set("@places"));
            let found = clause::find_at("dir", self, at, &kind);
            if let Some(found) = found.filter(|_| wanted && slots.dir.is_none()) {
                slots.dir = Some(found.text("dir").trim_end_matches('/').to_owned());
                used[at..found.end].fill(true);
            }
        }
    }
}

impl Slots {
    pub fn of(said: &str) -> Self {
        let said = said.to_owned();
        Self {
            said,
            ..Self::default()
        }
    }

    /// Whether all is there that a row needs.
    pub fn are_enough_for(&self, row: &Row) -> bool {
        row.needs.iter().all(|slot| match slot {
            Slot::Path | Slot::Paths => !self.paths.is_empty(),
            Slot::Pair => self.paths.len() == 2,
            Slot::Dir => self.dir.is_some(),
            Slot::Kind => self.kind.is_some(),
            Slot::Quoted => !self.quoted.is_empty(),
            Slot::Number => self.number.is_some(),
            Slot::Key => self.key.is_some(),
            Slot::Names => !self.names.is_empty(),
            Slot::After | Slot::Name => !self.rest.is_empty(),
        })
    }

    /// A template whose places are filled in, quoted for the shell.
    pub fn filled(&self, template: &str) -> String {
        static PLACE: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(r"\{([a-z]+)\}").expect("it is one"));
        let path = |at: usize| self.paths.get(at).map(String::as_str);
        let (dir, quoted) = (self.dir.as_deref(), self.quoted.first().map(String::as_str));
        let kind = self.kind.as_ref().filter(|kind| !kind.contains('*'));
        let value = |place: &Captures| match &place[1] {
            "paths" => self.paths.iter().map(|path| shell(path)).collect::<Vec<_>>().join(" "),
            "path" => shell(path(0).unwrap_or_default().trim_end_matches('/')),
            "to" => shell(path(1).unwrap_or_default()),
            "dir" => dir.map(shell).unwrap_or_default(),
            "place" => shell(path(0).or(dir).unwrap_or(".")),
            "kind" => kind.map(|kind| format!(" --include='*.{kind}'")).unwrap_or_default(),
            "number" => self.number.unwrap_or_default().to_string(),
            "quoted" => in_quotes(quoted.unwrap_or_default()),
            "rest" => in_quotes(&self.rest),
            _ => place[0].to_owned(),
        };
        PLACE.replace_all(template, value).into_owned()
    }

    /// The tool and the arguments of a template such as `MakeTree name={rest} task_id={key}`; an empty one is left out.
    pub fn call(&self, template: &str) -> Option<(Can, Value)> {
        let mut words = template.split(' ');
        let can = Can::read(words.next()?)?;
        let key = self.key.as_deref().unwrap_or_default();
        let value = |value: &str| match value {
            "true" => json!(true),
            value => json!(value.replace("{rest}", &self.rest).replace("{key}", key)),
        };
        let args = words.filter_map(|word| word.split_once('='));
        let args = args.map(|(name, text)| (name.to_owned(), value(text)));
        Some((can, args.filter(|(_, value)| value != "").collect::<serde_json::Map<_, _>>().into()))
    }

    /// The pattern of a kind of files below a folder.
    pub fn pattern(&self) -> String {
        let name = match self.kind.as_deref() {
            Some(kind) if kind.contains('*') => kind.to_owned(),
            Some(kind) => format!("*.{kind}"),
            None => "*".to_owned(),
        };
        let dir = self.dir.as_deref().filter(|dir| *dir != ".");
        let folder = dir.map_or(String::new(), |dir| format!("{dir}/"));
        if name.contains('/') { name } else { format!("{folder}**/{name}") }
    }
}

/// A word in the quotes of the shell.
pub fn in_quotes(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A word for the shell.
pub fn shell(word: &str) -> String {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"_-./*@:+,".contains(&b);
    let is_bare = !word.is_empty() && word.bytes().all(is_plain) && !word.starts_with('-');
    if is_bare { word.to_owned() } else { in_quotes(word) }
}

/// Whether a word can be a name at all: no row knows it, and it means nobody else.
pub fn can_be_name(token: &Token) -> bool {
    token.shape == Shape::Word
        && token.low.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && !token.is(set("anybody"))
        && !token.is(set("roles"))
        && !is_filler(token)
        && !table::is_known(token)
        && number(&token.low).is_none()
}

/// The last file that is named here.
pub fn named_file(tokens: &[Token]) -> Option<String> {
    let is_name = |text: &str| text.contains('.') && text.contains(char::is_alphanumeric);
    let is_file = |token: &&Token| {
        token.shape == Shape::Path && !token.text.contains('*') && is_name(&token.text)
    };
    tokens.iter().rfind(is_file).map(|token| token.text.clone())
}

/// A file as it is meant.
pub fn file(word: &str) -> String {
    if word.eq_ignore_ascii_case("readme") { "README.md".to_owned() } else { word.to_owned() }
}

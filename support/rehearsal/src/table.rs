//! What it can rehearse, as data: `intents.txt` has a paragraph an intent; and which of them are near a request.
//!
//! A request goes to the row whose examples are nearest, by BM25 over their words and shapes. That is only a guess: the row
//! then has to account for every word that carries a meaning, by its own words, by a slot or by a filler. Invariants: a
//! paragraph that cannot be read stops the first test that asks for anything; the same words give the same order.

use std::collections::{HashMap, HashSet};
use std::sync::{LazyLock, OnceLock};

use crate::tools::Can;
use crate::words::{Shape, Token, field, has, set, stem, tokens};

named! {
    /// What a row has to find in the request, or may: a file, two, any number, a folder, a kind of files, a quotation, a number,
    /// an id, names of teammates, the one word that nobody else accounts for, or what stands behind one of `after`.
    Slot: Path Pair Paths Dir Kind Quoted Number Key Names Name After
}

named! {
    /// What a row makes of its slots, as `act` does it: a command, a text, a call, or what has a name of its own.
    Make:
    Shell Say Tool Read About ReadAll Find Exists Framework Verify
    Mend Package Long ShowLong WriteSkill
    Abilities Skills LoadSkill Tools Remember Recall SoFar
    Board Claim Complete WorkBoard CancelCron
    Inbox Leave AskPlan OwnPlan Answer Report WaitForThem
    Worktrees
}

#[derive(Debug)]
pub struct Row {
    /// How it is called in `what can you do?`: ready to type.
    pub offer: &'static str,
    /// Whether it only looks: asked for or ordered. What acts must be ordered, with a verb of its own.
    pub looks: bool,
    /// What is made of it, and the template behind its name.
    pub make: Make,
    pub template: &'static str,
    /// One of these tools must be on offer.
    pub tools: Vec<Can>,
    /// What must be found.
    pub needs: Vec<Slot>,
    /// What may be found beside.
    pub may: Vec<Slot>,
    /// The words of which one stands before what `After` means.
    pub after: &'static str,
    /// One of these words must be said, and one of `says`; empty for a row that its slots tell apart.
    pub verbs: &'static str,
    /// The same once more: what the verb is about.
    pub says: &'static str,
    pub examples: Vec<&'static str>,
}

pub static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let all = include_str!("intents.txt").split("\n\n").filter(|text| !text.starts_with('#'));
    let read = |text: &'static str| {
        row(text.trim()).unwrap_or_else(|| panic!("intents.txt cannot be read at:\n{text}"))
    };
    all.map(read).collect()
});

/// The row that makes this.
pub fn of(make: Make) -> &'static Row {
    ROWS.iter().find(|row| row.make == make).unwrap_or(&ROWS[0])
}

/// Reads a paragraph; nothing when a name in it is unknown.
fn row(text: &'static str) -> Option<Row> {
    let field = |name: &str| field(text, name);
    let looks = field("looks");
    let words = |name: &str| field(name).unwrap_or_default();
    let (make, template) = field("make")?.split_once(' ').unwrap_or((field("make")?, ""));
    let named = |name: &str| words(name).split(", ").filter(|slot| !slot.is_empty());
    let slots = |name: &str| {
        named(name).map(|slot| Slot::read(slot.split(' ').next()?)).collect::<Option<Vec<_>>>()
    };
    let after = named("needs").chain(named("may")).find_map(|slot| slot.strip_prefix("After "));
    let (_, examples) = text.split_once("\nexamples: ")?;
    Some(Row {
        offer: looks.or_else(|| field("acts"))?,
        looks: looks.is_some(),
        make: Make::read(make)?,
        template,
        tools: words("tools").split_whitespace().map(Can::read).collect::<Option<_>>()?,
        needs: slots("needs")?,
        may: slots("may")?,
        after: after.unwrap_or_default(),
        verbs: words("verbs"),
        says: words("says"),
        examples: examples.split('|').map(str::trim).collect(),
    })
}

const K1: f32 = 1.2;
const B: f32 = 0.5;

struct Index {
    /// For each word, the rows that have it and how much it says of each.
    rows: HashMap<String, Vec<(usize, f32)>>,
    vocabularies: Vec<HashSet<String>>,
}

/// The word or shape by which a token is looked up.
fn term(token: &Token) -> String {
    match token.shape {
        Shape::Word => token.stem.clone(),
        Shape::Path => "{path}".into(),
        Shape::Quoted | Shape::Code => "{quoted}".into(),
        Shape::Number => "{number}".into(),
        Shape::Key => "{key}".into(),
        Shape::Signature | Shape::Mark => String::new(),
    }
}

fn index() -> &'static Index {
    static INDEX: OnceLock<Index> = OnceLock::new();
    INDEX.get_or_init(|| {
        let (mut rows, mut vocabularies) = (HashMap::<_, Vec<_>>::new(), Vec::new());
        let mut lengths: Vec<f32> = Vec::new();
        for (at, row) in ROWS.iter().enumerate() {
            let mut counts: HashMap<String, f32> = HashMap::new();
            for example in &row.examples {
                let words = example.split([' ', '\n', ',', ':', '(', ')']);
                for word in words.filter(|word| !word.is_empty()) {
                    let word = word.strip_suffix("'s").unwrap_or(word).to_lowercase();
                    let term = if word.starts_with('{') { word.clone() } else { stem(&word) };
                    *counts.entry(term).or_default() += 1.0;
                }
            }
            let own = row.says.split(' ').chain(row.verbs.split(' ')).map(stem);
            vocabularies.push(counts.keys().cloned().chain(own).collect());
            lengths.push(counts.values().sum());
            counts
                .into_iter()
                .for_each(|(term, count)| rows.entry(term).or_default().push((at, count)));
        }
        let average = lengths.iter().sum::<f32>() / lengths.len() as f32;
        for own in rows.values_mut() {
            let (all, some) = (ROWS.len() as f32, own.len() as f32);
            let rarity = (1.0 + (all - some + 0.5) / (some + 0.5)).ln();
            for (row, count) in own {
                let length = 1.0 - B + B * lengths[*row] / average;
                *count *= rarity * (K1 + 1.0) / (*count + K1 * length);
            }
        }
        Index { rows, vocabularies }
    })
}

/// The rows that are nearly as close as the nearest: what is worth offering.
pub fn close(tokens: &[Token]) -> Vec<usize> {
    let mut content = tokens.to_vec();
    content.retain(|token| token.shape == Shape::Word && !token.is_filler);
    let all = nearest(&content);
    let least = all.first().map_or(0.0, |(_, best)| best * 0.6).max(2.5);
    all.into_iter().take_while(|(_, score)| *score >= least).map(|(row, _)| row).collect()
}

/// The rows and how near they are, the nearest first; those that share nothing with the request are left out.
pub fn nearest(tokens: &[Token]) -> Vec<(usize, f32)> {
    let index = index();
    let mut scores = vec![0.0_f32; ROWS.len()];
    let mut seen: Vec<String> = Vec::new();
    for token in tokens {
        let term = term(token);
        let Some(rows) = index.rows.get(&term).filter(|_| !seen.contains(&term)) else { continue };
        // A filler says little about what is wanted.
        let weight = if token.is_filler { 0.2 } else { 1.0 };
        rows.iter().for_each(|(row, says)| scores[*row] += weight * says);
        seen.push(term);
    }
    let mut order: Vec<(usize, f32)> =
        scores.into_iter().enumerate().filter(|(_, score)| *score > 0.0).collect();
    order.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    order
}

/// Whether a row knows this word. What is quoted is nobody's word.
pub fn knows(row: usize, token: &Token) -> bool {
    let vocabulary = &index().vocabularies[row];
    !matches!(token.shape, Shape::Quoted | Shape::Code | Shape::Signature)
        && (vocabulary.contains(&token.stem)
            || token.shape != Shape::Word && vocabulary.contains(&stem(&token.low)))
}

/// Whether any row knows this word: then it is no name.
pub fn is_known(token: &Token) -> bool {
    index().rows.contains_key(&token.stem)
}

/// Whether a word is a verb with which a clause may begin.
pub fn is_verb(low: &str) -> bool {
    static VERBS: OnceLock<HashSet<String>> = OnceLock::new();
    let all = VERBS.get_or_init(|| {
        let examples = ROWS.iter().flat_map(|row| &row.examples);
        let firsts = examples.filter_map(|example| example.split([' ', ',', ':']).next());
        let is_none = |word: &str| {
            has(set("no-verbs"), word) || has(set("fillers"), word) || word.starts_with('{')
        };
        let verbs = firsts.filter(|word| !is_none(word)).chain(set("frame-verbs").split(' '));
        verbs.map(str::to_owned).collect()
    });
    all.contains(low)
}

/// The tokens of a text without marks.
pub fn content(text: &str) -> Vec<Token> {
    let mut all = tokens(text);
    all.retain(|token| token.shape != Shape::Mark && !token.is_filler);
    all
}

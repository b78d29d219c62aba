//! Finds the row of the table that a few words ask for.
//!
//! The patterns are parsed once and kept by the word they begin with, so that a long table costs no more than a short
//! one. Invariant: of the rows that fit, the one whose match starts first is meant; of those, the first in the table.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::intents;
use super::offer::Offer;
use super::pattern::{Kind, Pattern, Taken};
use super::steps::served;
use super::table::Intent;
use super::team::hiring;
use super::tokens::Token;
use super::vocabulary::Word;

/// How many words of a step are looked at for where a match may start.
const REACH: usize = 60;

/// The row these words ask for, and what its slots took.
pub fn find(tokens: &[Token], offer: Offer) -> Option<(&'static Intent, Vec<Taken>)> {
    let (row, mut taken) =
        (0..tokens.len().min(REACH)).find_map(|start| fitting(tokens, start, offer))?;
    let (intent, also) = &INDEX.rows[row];
    for pattern in also {
        let more = pattern.find(tokens, 0, offer.servers).unwrap_or_default();
        if !more
            .iter()
            .any(|slot| taken.iter().any(|other| clash(slot, other)))
        {
            taken.extend(more);
        }
    }
    Some((intent, taken))
}

/// The row whose match starts at the first of these words.
pub fn at_once(tokens: &[Token], offer: Offer) -> Option<&'static Intent> {
    if tokens.is_empty() {
        return None;
    }
    let (row, _) = fitting(tokens, 0, offer)?;
    Some(INDEX.rows[row].0)
}

/// Whether a row fits with its match starting at the first of these words.
pub fn fits_at_once(tokens: &[Token], offer: Offer) -> bool {
    !tokens.is_empty() && fitting(tokens, 0, offer).is_some()
}

/// The row these words begin with, when all the rest of the sentence belongs to.
pub fn takes_the_rest(tokens: &[Token], offer: Offer) -> Option<&'static Intent> {
    at_once(tokens, offer).filter(|intent| intent.whole)
}

fn clash(slot: &Taken, other: &Taken) -> bool {
    let overlap = slot.from < other.to && other.from < slot.to;
    slot.name == other.name || overlap && other.kind != Kind::Text
}

fn fitting(tokens: &[Token], start: usize, offer: Offer) -> Option<(usize, Vec<Taken>)> {
    let by_word = tokens[start].word.and_then(|word| INDEX.by_word.get(&word));
    let mut candidates = by_word.unwrap_or(&INDEX.others).iter();
    candidates.find_map(|candidate| {
        let (row, pattern) = &INDEX.patterns[*candidate];
        let taken = pattern.match_at(tokens, start, offer.servers)?;
        let intent = INDEX.rows[*row].0;
        if !offer.knows(intent) || !served::is_for_it(intent, tokens, &taken) {
            return None;
        }
        let is_there = |slot: &Taken| hiring::is_one_of(tokens[slot.from].text, offer.team);
        let mates = taken.iter().filter(|slot| slot.kind == Kind::Mate);
        mates.into_iter().all(is_there).then_some((*row, taken))
    })
}

/// The patterns of the table, by the word they begin with.
#[derive(Default)]
struct Index {
    rows: Vec<(&'static Intent, Vec<Pattern>)>,
    patterns: Vec<(usize, Pattern)>,
    /// The patterns that may fit where this word stands, in the order of the table.
    by_word: HashMap<Word, Vec<usize>>,
    /// The same for any other word.
    others: Vec<usize>,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut index = Index::default();
    for intent in intents::all() {
        for pattern in intent.says.iter().copied().map(Pattern::parse) {
            let place = index.patterns.len();
            match pattern.first_words() {
                [] => index.others.push(place),
                words => words
                    .iter()
                    .for_each(|word| index.by_word.entry(*word).or_default().push(place)),
            }
            index.patterns.push((index.rows.len(), pattern));
        }
        index.rows.push((
            intent,
            intent.also.iter().copied().map(Pattern::parse).collect(),
        ));
    }
    for places in index.by_word.values_mut() {
        places.extend(&index.others);
        places.sort_unstable();
        places.dedup();
    }
    index
});

//! Where one step ends and the next begins.
//!
//! A sentence may hold several steps, and a step several things (`read a.md and b.md`). So the end of a sentence ends a
//! step for certain, but a comma or an `and` does so only where the words behind it ask for something by themselves.
//! Invariant: every token belongs to exactly one step.

use super::lookup;
use super::tokens::{Break, Token};
use super::words;

/// The words of one step.
#[derive(Debug)]
pub struct Fragment<'a> {
    /// The words, without those that only join, greet or lead to a question.
    pub tokens: Vec<Token<'a>>,
    /// Whether it was asked for after the step before, not beside it.
    pub waits: bool,
}

/// Cuts a request into steps.
pub fn fragments<'a>(tokens: &[Token<'a>]) -> Vec<Fragment<'a>> {
    let mut found = Vec::new();
    let mut from = 0;
    let mut verb = None;
    for at in 1..=tokens.len() {
        let cut = if at == tokens.len() {
            Some(None)
        } else {
            cut(tokens, from, at)
        };
        if let Some(next_verb) = cut {
            found.extend(fragment(&tokens[from..at], verb));
            (from, verb) = (at, next_verb);
        }
    }
    found
}

/// Whether a step begins at `at`; with the verb it shares with the step before, if it has none of its own.
fn cut<'a>(tokens: &[Token<'a>], from: usize, at: usize) -> Option<Option<Token<'a>>> {
    let token = &tokens[at];
    if is_lone_quotation(tokens, at) {
        // It belongs to what announced it, unless that is a quotation itself: a list of commands.
        return tokens[from].quoted.then_some(None);
    }
    // A small letter behind a full stop may go on with the sentence: `e.g. this`.
    let goes_on = token.before == Break::Stop && token.text.starts_with(char::is_lowercase);
    let ends = token.before >= Break::Stop && !goes_on;
    // `run make in the background and …`: here the command ends, and the `and` is not the shell's.
    let behind_command = tokens[at - 1].is("background") && joint(token).is_some();
    if ends || behind_command || token.is("then") {
        return Some(None);
    }
    if token.before == Break::None && joint(token).is_none() {
        return None;
    }
    let rest = without_head(sentence_from(&tokens[at..]));
    if lookup::fits_at_once(rest) {
        return Some(None);
    }
    // `create a directory x and a file y`: the verb holds for both.
    let verb = *without_head(&tokens[from..at]).first()?;
    let noun = rest.iter().find(|token| !token.is_any(words::FILLERS))?;
    let shared: Vec<Token> = std::iter::once(verb).chain(rest.iter().copied()).collect();
    (noun.is_any(words::OBJECTS) && lookup::fits_at_once(&shared)).then_some(Some(verb))
}

fn fragment<'a>(tokens: &[Token<'a>], verb: Option<Token<'a>>) -> Option<Fragment<'a>> {
    let waits = tokens.iter().map_while(joint).any(|waits| waits);
    let words = verb.into_iter().chain(without_head(tokens).iter().copied());
    let tokens: Vec<Token> = words.collect();
    (!tokens.is_empty()).then_some(Fragment { tokens, waits })
}

/// The tokens up to the end of their sentence.
fn sentence_from<'t, 'a>(tokens: &'t [Token<'a>]) -> &'t [Token<'a>] {
    let end = (1..tokens.len()).find(|at| tokens[*at].before >= Break::Stop);
    &tokens[..end.unwrap_or(tokens.len())]
}

/// A quotation in a line or sentence of its own.
fn is_lone_quotation(tokens: &[Token], at: usize) -> bool {
    let ends = tokens
        .get(at + 1)
        .is_none_or(|next| next.before >= Break::Stop);
    tokens[at].quoted && tokens[at].before >= Break::Stop && ends
}

fn joint(token: &Token) -> Option<bool> {
    words::JOINTS
        .iter()
        .find(|(word, _)| token.is(word))
        .map(|(_, waits)| *waits)
}

/// The words without those at the head that only join, greet or lead to a question.
fn without_head<'t, 'a>(tokens: &'t [Token<'a>]) -> &'t [Token<'a>] {
    let polite = |token: &&Token| joint(token).is_some() || token.is_any(words::POLITE);
    let tokens = &tokens[tokens.iter().take_while(polite).count()..];
    let leads = tokens
        .iter()
        .take_while(|token| token.is_any(words::LEADS))
        .count();
    match tokens.get(leads) {
        Some(token) if token.is_any(words::QUESTIONS) => &tokens[leads..],
        _ => tokens,
    }
}

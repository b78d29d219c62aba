//! Words that go on with the step before: `then do it`, `put it into lib.py`.
//!
//! Invariant: they mean nothing without a step before them.

use super::pattern;
use super::steps::{FOLLOW, PLAN, Plan};
use super::tokens::Token;
use super::turn::Turn;
use super::words;

/// What the user says to have a plan carried out.
const START: &[&[&str]] = &[
    &["do"],
    &["carry", "out"],
    &["execute"],
    &["start"],
    &["begin"],
    &["go", "ahead"],
    &["work", "through"],
    &["work", "on"],
    &["implement"],
    &["follow"],
    &["get", "work"],
    &["get", "started"],
];

/// The request as it is meant, when it only goes on with an earlier one: `go ahead`, `follow its instructions`.
pub fn meant(plan: &Plan, turn: &Turn) -> Option<String> {
    if turn.resumed && plan.is_only(PLAN) {
        let asked = turn.requests.join("\n");
        let asked = asked.trim_end_matches(words::PUNCTUATION);
        return Some(format!("{asked}, then do it"));
    }
    let input = plan
        .is_only(FOLLOW)
        .then(|| turn.last_input("load_skill"))??;
    let skill = input.get("name")?.as_str()?;
    Some(format!(
        "load the {skill} skill and follow its instructions"
    ))
}

/// Whether these words ask for what was planned to be done, and for nothing else.
pub fn starts_work(tokens: &[Token]) -> bool {
    let says = |token: &&Token| {
        !token.is_any(words::PRONOUNS)
            && !token.is_any(words::FILLERS)
            && !token.is_any(&["list", "plan", "steps", "items"])
    };
    let said: Vec<&Token> = tokens.iter().filter(says).collect();
    let is = |words: &&[&str]| {
        words.len() == said.len() && words.iter().zip(&said).all(|(word, token)| token.is(word))
    };
    START.iter().any(is)
}

/// The file that what was made before shall go into: `put it into lib.py`.
pub fn target(tokens: &[Token]) -> Option<String> {
    let [verb, what, into, path] = tokens else {
        return None;
    };
    let fits = verb.is_any(&["put", "write", "save", "store"])
        && what.is_any(words::PRONOUNS)
        && into.is_any(&["to", "into", "in", "as", "under"])
        && pattern::is_path(path);
    fits.then(|| pattern::named_file(path).to_owned())
}

//! What the user told: noted in an answer, and told again when asked.
//!
//! Sources are the index in the system prompt, the notes a harness recalled, and the user's words in this conversation.
//! Invariant: it tells nothing that none of them says.

use super::asked;
use super::facts::{Fact, facts};
use super::likeness::{alike, shared, words};
use super::recap::one_line;
use super::turn::Turn;

/// So many requests are repeated.
const MOST_ASKED: usize = 20;

/// The value of a slot that the conversation itself fills.
pub fn slot(name: &str, turn: &Turn) -> Option<String> {
    let no_number = "I cannot say: of the beginning of our conversation I have only a summary.";
    Some(match name {
        "history" => turn
            .answer_before()
            .unwrap_or("I have not done anything yet.")
            .to_owned(),
        "noted" => noted(turn),
        "recalled" => recalled(turn),
        "forgetting" => forgetting(turn),
        "requests" => turn.number().map_or(no_number.to_owned(), |number| {
            format!("This is your request number {number} in this conversation.")
        }),
        "asked_first" => asked_for("first", turn.first_request()),
        "asked_before" => asked_for("before that", turn.request_before()),
        "asked" => all_asked(&turn.requests_before()),
        _ => return None,
    })
}

/// What the user asked for earlier.
fn asked_for(when: &str, request: Option<String>) -> String {
    match request {
        Some(request) => format!("You asked {when}: “{}”", one_line(&request)),
        None => "This is the first thing you ask me in this conversation.".to_owned(),
    }
}

/// All that the user asked for, the last of it when it is much.
fn all_asked(requests: &[String]) -> String {
    let from = requests.len().saturating_sub(MOST_ASKED);
    let lines = requests[from..]
        .iter()
        .map(|request| format!("- “{request}”"));
    match requests {
        [] => asked_for("before", None),
        [only] => format!("You asked: “{only}”"),
        _ if from == 0 => format!("You asked:\n{}", lines.collect::<Vec<_>>().join("\n")),
        _ => {
            let lines = lines.collect::<Vec<_>>().join("\n");
            format!("You asked {from} times for other things, and then:\n{lines}")
        }
    }
}

/// What it says about a request that told it something.
fn noted(turn: &Turn) -> String {
    let facts = facts(&turn.requests.join("\n"));
    if facts.is_empty() {
        return "All right, I keep it in mind in this conversation.".to_owned();
    }
    let told: Vec<String> = facts
        .iter()
        .map(|fact| to_the_user(&fact.description))
        .collect();
    format!(
        "Noted: {}. I keep to it in this conversation.",
        told.join("; ")
    )
}

/// What it says when it shall forget: it forgets nothing by itself, but a file can be deleted.
fn forgetting(turn: &Turn) -> String {
    let asked = words(&turn.requests.join("\n"));
    let file = |line: &'_ str| Some(line.split_once("](")?.1.split_once(')')?.0.to_owned());
    let entries = || asked::index(turn.system);
    let fitting = entries().find(|line| shared(&asked, &words(line)) > 0);
    match fitting.and_then(file) {
        Some(file) => format!(
            "I cannot forget by myself: what was noted is a file. Say `run rm .harness/memory/{file}`, and in the next \
             session I do not know it any more."
        ),
        None if entries().next().is_some() => "I cannot forget by myself: each memory is a file in .harness/memory. Ask \
             what I know about you, then tell me which file to delete."
            .to_owned(),
        None => "I cannot take back what was said in this conversation; in a new one I do not know it, unless it was \
             noted in .harness/memory."
            .to_owned(),
    }
}

/// What it knows, as far as the request asks for it.
fn recalled(turn: &Turn) -> String {
    let known = known(turn);
    let asked = words(&turn.requests.join("\n"));
    let fitting = |line: &&String| shared(&asked, &words(line)) > 0;
    let about: Vec<&String> = known.iter().filter(fitting).collect();
    let told = if about.is_empty() {
        known.iter().collect()
    } else {
        about
    };
    match &told[..] {
        [] => "I know nothing of that: you have not told me in this conversation, and I was given no memory of it.".to_owned(),
        [only] => format!("This I know from you: {}.", to_the_user(only)),
        several => {
            let lines: Vec<String> = several.iter().map(|line| format!("- {}", to_the_user(line))).collect();
            format!("This I know from you:\n{}", lines.join("\n"))
        }
    }
}

/// Everything it was told, each thing once; what the user said last wins.
fn known(turn: &Turn) -> Vec<String> {
    let mut known: Vec<String> = Vec::new();
    let mut learn = |line: &str| {
        let line = line.trim().trim_end_matches('.').to_owned();
        if !line.is_empty() && !known.iter().any(|other| alike(other, &line)) {
            known.push(line);
        }
    };
    let said: Vec<Fact> = facts(&turn.said_by_user().collect::<Vec<_>>().join("\n"));
    said.iter().for_each(|fact| learn(&fact.description));
    let outdated = |line: &str| said.iter().any(|fact| fact.replaces(line));
    for line in turn.recalled().flat_map(str::lines) {
        let about = line
            .strip_prefix("## ")
            .and_then(|head| Some(head.split_once(": ")?.1));
        if let Some(about) = about.filter(|about| !outdated(about)) {
            learn(about);
        }
    }
    for line in asked::index(turn.system) {
        let about = line.split_once(" — ").map_or(line, |(_, about)| about);
        if !outdated(about) {
            learn(about);
        }
    }
    known
}

/// `The user prefers tabs` in words to the user.
fn to_the_user(line: &str) -> String {
    let verbs = [
        "prefer", "like", "love", "hate", "dislike", "use", "work", "live", "want",
    ];
    if let Some(rest) = line.strip_prefix("The user ") {
        let (verb, object) = rest.split_once(' ').unwrap_or((rest, ""));
        if let Some(verb) = verb.strip_suffix('s').filter(|verb| verbs.contains(verb)) {
            return format!("you {verb} {object}");
        }
    }
    if let Some(rest) = line.strip_prefix("The user's ") {
        return format!("your {rest}");
    }
    match line.strip_prefix("The user said: ") {
        Some(said) => format!("“{said}”"),
        None => line.to_owned(),
    }
}

//! Teammates in a request: who is hired, who is told what.
//!
//! Invariant: a name comes after `called` or `named`, right behind the verb, after a comma or an `and` beside other names;
//! a word that the table knows, or that has an article or a number in front, is never one.

use crate::clause::{Clause, is_filler};
use crate::pattern;
use crate::rank;
use crate::words::{Shape, Token, number};

/// What a teammate is to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Job {
    /// The user's words.
    Text(String),
    /// Tasks of the board, whichever are free.
    Board,
    /// One of the tasks of this request each.
    Assigned,
    /// To wait for mail.
    Wait,
}

/// Who is hired.
#[derive(Debug, Default)]
pub struct Hiring {
    /// Their names.
    pub names: Vec<String>,
    /// What they are.
    pub role: String,
    /// What they are to do, if this clause says so.
    pub job: Option<Job>,
    /// What nobody accounts for.
    pub left: Option<String>,
}

const HIRES: &str = "spawn hire recruit engage employ enlist";
/// Persons that are no role.
const ANYBODY: &str = "teammate teammates people person persons somebody someone mate mates member members everyone \
    everybody nobody anyone anybody team others";
const ROLES: &str = "developer developers dev devs tester testers engineer engineers reviewer reviewers agent agents \
    worker workers colleague colleagues helper helpers writer writers designer assistant specialist";
const PRONOUNS: &str = "both each they them everybody everyone her him she he";
/// What ends the words of a role.
const ENDS: &str = "to who called named and with as for";

fn is_person(token: &Token) -> bool {
    token.is(ANYBODY) || token.is(ROLES)
}

/// Whether a word can be a name at all.
fn can_be_name(token: &Token) -> bool {
    let is_letter = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    token.shape == Shape::Word
        && (2..=32).contains(&token.low.len())
        && token.low.bytes().all(is_letter)
        && !is_person(token)
        && !is_filler(token)
        && !rank::is_known(token)
        && number(&token.low).is_none()
}

/// Where a list of names ends that begins here, with commas or `and` between them.
fn names_end(tokens: &[Token], at: usize, is_name: impl Fn(&Token) -> bool) -> Option<usize> {
    let (mut end, mut next) = (at, at);
    while tokens.get(next).is_some_and(&is_name) && (next == at || next > end) {
        end = next + 1;
        next = end + tokens[end..].iter().take_while(|token| token.is(", and &")).count();
    }
    (end > at).then_some(end)
}

fn names(tokens: &[Token]) -> Vec<String> {
    let names = tokens.iter().filter(|token| !token.is(", and &"));
    names.map(|token| token.low.clone()).collect()
}

/// Reads a clause that hires; `None` when it does not.
pub fn hiring(clause: &Clause) -> Option<Hiring> {
    let kind = |kind: &str, tokens: &[Token], at: usize| {
        let words = tokens[at..].iter().take_while(|token| token.shape == Shape::Word && !token.is(ENDS)).count();
        let is_noun = at > 0 && tokens[at - 1].is("the a an our my your this that");
        match kind {
            "names" if !is_noun => names_end(tokens, at, can_be_name),
            // What is called so is a name, whatever the word.
            "named" if tokens[at].shape != Shape::Mark => {
                let joints = tokens[at + 1..].iter().take_while(|token| token.is(", and &")).count();
                let more = names_end(tokens, at + 1 + joints, can_be_name).filter(|_| joints > 0);
                more.or(Some(at + 1))
            }
            "role" => (words > 0).then_some(at + words),
            "persons" => (at..at + words).find(|at| is_person(&tokens[*at])).map(|at| at + 1),
            _ => None,
        }
    };
    let Some(found) = pattern::find("hire", clause, &kind) else {
        let unknown = clause.tokens.iter().skip(1).find(|token| !is_filler(token) && !is_person(token));
        let left = unknown.map(|token| token.text.clone());
        return clause.tokens.first()?.is(HIRES).then(|| Hiring { left, ..Hiring::default() });
    };
    let names = names(found.tokens("names"));
    let role = found.text("role");
    let role = ["a ", "an ", "the ", "our "].iter().find_map(|article| role.strip_prefix(article)).unwrap_or(role);
    let role = match found.tokens("role").last() {
        Some(last) if !last.is(ANYBODY) => role.trim_end_matches('s').to_owned(),
        _ => "developer".to_owned(),
    };
    let count = found.tokens("count").first().and_then(|token| number(&token.low));
    let is_count = found.label == "nobody" || count.is_none_or(|count| count as usize == names.len());
    let (job, what) = (found.tokens("job"), found.text("job"));
    let is_board = pattern::says(job, "them tasks board themselves auto-claim");
    let is_board = is_board && job.iter().all(|token| token.shape != Shape::Path);
    // `for a refactoring task` is a job, `for the moon` is none.
    let is_job = found.label != "task" || pattern::says(job, "task job");
    let left = if is_count { Some(what).filter(|_| !is_job) } else { Some(clause.text()) };
    let job = match found.label {
        _ if job.is_empty() => None,
        "task" => Some(Job::Text(format!("Do {what}."))),
        _ if is_board => Some(Job::Board),
        _ => Some(Job::Text(sentence(what))),
    };
    Some(Hiring { names, role, job, left: left.map(str::to_owned) })
}

/// Who is told what.
#[derive(Debug)]
pub struct Telling {
    /// Whom; empty means those who were hired last.
    pub names: Vec<String>,
    /// What: an order, or a fact.
    pub what: String,
    /// Whether it is an order.
    pub is_order: bool,
    /// Whether a task of the board is handed out.
    pub is_task: bool,
    /// Whether all are meant who are there: `both`, `everybody`.
    pub is_all: bool,
}

/// Reads `ask alice to …`, `tell bob that …`, `she should …`, `give each a task`; `None` when it is none of these.
pub fn telling(clause: &Clause, known: &[String]) -> Option<Telling> {
    let kind = |kind: &str, tokens: &[Token], at: usize| {
        let is = |at: usize, words: &str| tokens.get(at).is_some_and(|token| token.is(words));
        let is_noun = at > 0 && is(at - 1, "the a an our my your this that");
        match kind {
            "whom" | "mate" if is(at, PRONOUNS) => {
                Some(at + if is(at + 1, "of") && is(at + 2, PRONOUNS) { 3 } else { 1 })
            }
            "mate" => known.contains(&tokens[at].low).then_some(at + 1),
            "whom" if !is_noun => names_end(tokens, at, |token| known.contains(&token.low) || can_be_name(token)),
            _ => None,
        }
    };
    let found = pattern::find("tell", clause, &kind)?;
    let whom = found.tokens("whom");
    let is_named = !whom.first()?.is(PRONOUNS);
    let is_task = found.label == "hand" || found.label == "task";
    let what = found.text("what");
    if found.label == "task" && !pattern::says(found.tokens("what"), "task tasks") {
        return None;
    }
    let is_quoted = matches!(found.tokens("what"), [one] if one.shape == Shape::Quoted);
    Some(Telling {
        names: if is_named { names(whom) } else { Vec::new() },
        what: if is_quoted { what.to_owned() } else { sentence(what.strip_prefix("please ").unwrap_or(what)) },
        is_order: found.label != "fact",
        is_task,
        is_all: whom[0].is("both each they them everybody everyone"),
    })
}

/// Words as a sentence.
pub fn sentence(words: &str) -> String {
    let words = words.trim().trim_end_matches(['.', ',']);
    let mut letters = words.chars();
    let Some(first) = letters.next() else { return String::new() };
    let end = if words.ends_with(['!', '?', '"', '`']) { "" } else { "." };
    format!("{}{}{end}", first.to_uppercase(), letters.as_str())
}

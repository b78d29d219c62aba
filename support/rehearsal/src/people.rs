//! Teammates in a request: who is hired, who is told what.
//!
//! Invariant: a name comes after `called` or `named`, right behind the verb, after a comma or an `and` beside other names;
//! a word that the table knows, or that has an article or a number in front, is never one.

use crate::clause::{Clause, is_filler};
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
#[derive(Debug, PartialEq)]
pub struct Hiring {
    /// Their names.
    pub names: Vec<String>,
    /// What they are.
    pub role: String,
    /// What they are to do, if this clause says so.
    pub job: Option<Job>,
    /// What nobody accounts for.
    pub left: Vec<String>,
}

const HIRES: &str = "spawn hire recruit engage employ enlist";
const PERSONS: &str = "teammate teammates people person persons developer developers dev devs tester testers engineer \
    engineers reviewer reviewers agent agents worker workers colleague colleagues helper helpers \
    somebody someone mate mates members member writer writers designer assistant specialist \
    everyone everybody nobody anyone anybody team others";

fn is_person(token: &Token) -> bool {
    token.is(PERSONS)
}

/// Reads a clause that hires; `None` when it does not.
pub fn hiring(clause: &Clause) -> Option<Hiring> {
    let tokens = &clause.tokens;
    let first = tokens.first()?;
    let is_start = first.is("start add create get bring launch")
        && tokens.iter().take(5).any(|token| token.is("teammate teammates"));
    if !first.is(HIRES) && !is_start {
        return None;
    }
    let mut used = vec![false; tokens.len()];
    used[0] = true;
    let names = names(clause, &mut used);
    let job = job_of(clause, &mut used);
    let role = role_of(clause, &mut used);
    let count = tokens
        .iter()
        .enumerate()
        .find_map(|(at, token)| if used[at] { None } else { number(&token.low).map(|count| (at, count)) });
    let mut left: Vec<String> = Vec::new();
    if let Some((at, count)) = count {
        used[at] = true;
        if count as usize != names.len() && !token_is_article(&tokens[at]) {
            left.push(clause.between(at, (at + 2).min(tokens.len())).to_owned());
        }
    }
    let is_known = |at: usize| {
        used[at]
            || is_filler(&tokens[at])
            || is_person(&tokens[at])
            || tokens[at].is("called named new team who up and")
    };
    left.extend((0..tokens.len()).filter(|at| !is_known(*at)).map(|at| tokens[at].text.clone()));
    Some(Hiring { names, role, job, left })
}

fn token_is_article(token: &Token) -> bool {
    token.is("one a an")
}

/// Whether a word can be a name at all.
fn can_be_name(token: &Token) -> bool {
    let has_letters = (2..=32).contains(&token.low.len())
        && token.low.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    token.shape == Shape::Word
        && has_letters
        && !is_person(token)
        && !is_filler(token)
        && !rank::is_known(token)
        && number(&token.low).is_none()
}

fn names(clause: &Clause, used: &mut [bool]) -> Vec<String> {
    let tokens = &clause.tokens;
    let mut found = Vec::new();
    let called = tokens.iter().position(|token| token.is("called named")).map(|at| at + 1);
    let behind_verb = (tokens.len() > 1 && can_be_name(&tokens[1])).then_some(1);
    // `two people, dave and erin`: names in apposition to persons.
    let apposed = tokens.iter().enumerate().skip(1).find_map(|(at, token)| {
        let next = at + if tokens.get(at + 1)?.is(", :") { 2 } else { 1 };
        (is_person(token) && tokens.get(next).is_some_and(can_be_name)).then_some(next)
    });
    let is_noun = |at: usize| at > 0 && tokens[at - 1].is("the a an our my your this that");
    let capital = tokens
        .iter()
        .enumerate()
        .skip(1)
        .find(|(at, token)| can_be_name(token) && token.text.starts_with(|c: char| c.is_uppercase()) && !is_noun(*at))
        .map(|(at, _)| at);
    let Some(mut at) = called.or(behind_verb).or(apposed).or(capital) else { return found };
    while at < tokens.len() {
        let is_one = can_be_name(&tokens[at]) || (called == Some(at) && tokens[at].shape != Shape::Mark);
        if !is_one {
            break;
        }
        found.push(tokens[at].low.clone());
        used[at] = true;
        let mut next = at + 1;
        while tokens.get(next).is_some_and(|token| token.is(", and &")) {
            next += 1;
        }
        if next == at + 1 || !tokens.get(next).is_some_and(can_be_name) {
            break;
        }
        at = next;
    }
    found
}

/// `as a backend developer`, `a backend dev named alice`, `for the backend`.
fn role_of(clause: &Clause, used: &mut [bool]) -> String {
    let tokens = &clause.tokens;
    let until = |from: usize, used: &[bool]| {
        (from..tokens.len())
            .find(|at| used[*at] || tokens[*at].shape == Shape::Mark || tokens[*at].is("to who named called and with"))
            .unwrap_or(tokens.len())
    };
    let take = |from: usize, to: usize, used: &mut [bool]| {
        let from = (from..to).find(|at| !tokens[*at].is("a an the our my one")).unwrap_or(to);
        used[from..to].iter_mut().for_each(|used| *used = true);
        clause.between(from, to).to_owned()
    };
    if let Some(at) = tokens.iter().position(|token| token.is("as")).filter(|at| !used[*at]) {
        let to = until(at + 1, used);
        return take(at + 1, to, used);
    }
    if let Some(at) = tokens.iter().position(|token| token.is("for")).filter(|at| !used[*at]) {
        let to = until(at + 1, used);
        let area = take(at + 1, to, used);
        return format!("{area} developer");
    }
    let person = (1..tokens.len()).find(|at| {
        is_person(&tokens[*at])
            && !used[*at]
            && !tokens[*at].is("teammate teammates people person persons somebody someone members member")
    });
    let Some(at) = person else { return "developer".to_owned() };
    let from = (1..at)
        .rev()
        .take_while(|before| {
            tokens[*before].shape == Shape::Word
                && !tokens[*before].is("a an the as")
                && number(&tokens[*before].low).is_none()
                && !used[*before]
        })
        .last()
        .unwrap_or(at);
    used[from..=at].iter_mut().for_each(|used| *used = true);
    clause.between(from, at + 1).trim_end_matches('s').to_owned()
}

/// `to refactor hello.py`, `for a refactoring task`, `who claim and do them by themselves`.
fn job_of(clause: &Clause, used: &mut [bool]) -> Option<Job> {
    let tokens = &clause.tokens;
    let is_board = |from: usize| {
        tokens[from..].iter().any(|token| token.is("them tasks board themselves auto-claim"))
            && !tokens[from..].iter().any(|token| token.shape == Shape::Path)
    };
    let task = tokens.iter().position(|token| token.is("for with"));
    if let Some(at) = task.filter(|at| tokens[*at..].iter().any(|token| token.is("task job"))) {
        used[at..].iter_mut().for_each(|used| *used = true);
        return Some(Job::Text(format!("Do {}.", clause.between(at + 1, tokens.len()))));
    }
    let at = tokens
        .iter()
        .position(|token| token.is("to who"))
        .filter(|at| *at > 1 && tokens.get(at + 1).is_some_and(|next| !next.is("the a")))?;
    used[at..].iter_mut().for_each(|used| *used = true);
    if is_board(at) {
        return Some(Job::Board);
    }
    Some(Job::Text(sentence(clause.between(at + 1, tokens.len()))))
}

/// Who is told what.
#[derive(Debug, PartialEq)]
pub struct Telling {
    /// Whom; empty means those who were hired last.
    pub names: Vec<String>,
    /// What: an order, or a fact.
    pub what: String,
    /// Whether it is an order.
    pub is_order: bool,
    /// Whether a task of the board is handed out.
    pub is_task: bool,
}

const PRONOUNS: &str = "her him them both each she he they everybody everyone";

/// Reads `ask alice to …`, `tell bob that …`, `she should …`, `give each a task`; `None` when it is none of these.
pub fn telling(clause: &Clause, known: &[String]) -> Option<Telling> {
    let tokens = &clause.tokens;
    let first = tokens.first()?;
    let is_subject = first.is("she he they both") || known.contains(&first.low);
    let mut at = 0;
    if is_subject && tokens.len() > 2 {
        let modal = tokens[1].is("should must shall will has have can needs need");
        if !modal {
            return None;
        }
        at = if tokens[2].is("to") { 3 } else { 2 };
        let names = if known.contains(&first.low) { vec![first.low.clone()] } else { Vec::new() };
        return told(clause, names, at, true);
    }
    if !first.is("ask tell have let get make instruct order give hand assign send write message remind") {
        return None;
    }
    at += 1;
    let is_message = first.is("send write message");
    while is_message && tokens.get(at).is_some_and(|token| token.is("to a message mail the")) {
        at += 1;
    }
    if let Some(telling) = handing(clause, at, known) {
        return Some(telling);
    }
    let (names, next) = addressees(clause, at, known)?;
    let mut next = next;
    if first.is("give hand assign") {
        let is_task = tokens[next..].iter().any(|token| token.is("task tasks"));
        return is_task.then(|| Telling {
            names,
            what: clause.between(next, tokens.len()).to_owned(),
            is_order: true,
            is_task: true,
        });
    }
    if is_message {
        let mark =
            (next..tokens.len()).find(|at| tokens[*at].is(": that saying") || tokens[*at].shape == Shape::Quoted)?;
        let from = if tokens[mark].shape == Shape::Quoted { mark } else { mark + 1 };
        let what = match &tokens[from..] {
            [one] => one.text.clone(),
            _ => sentence(clause.between(from, tokens.len())),
        };
        return (!what.is_empty()).then_some(Telling { names, what, is_order: false, is_task: false });
    }
    if tokens.get(next).is_some_and(|token| token.is(", :")) {
        next += 1;
    }
    let is_fact = tokens.get(next).is_some_and(|token| token.is("that"));
    if is_fact || tokens.get(next).is_some_and(|token| token.is("to")) {
        next += 1;
    }
    told(clause, names, next, !is_fact)
}

/// `hand them to alice and bob`.
fn handing(clause: &Clause, at: usize, known: &[String]) -> Option<Telling> {
    let tokens = &clause.tokens;
    let to = (at..tokens.len()).find(|at| tokens[*at].is("to")).filter(|_| tokens[0].is("give hand assign"))?;
    if !tokens[at..to].iter().all(|token| token.is("them out over the tasks all these it")) {
        return None;
    }
    let is_name = |token: &Token| !is_person(token) && !is_filler(token) && number(&token.low).is_none();
    let from = (to + 1..tokens.len()).find(|at| is_name(&tokens[*at]) || tokens[*at].is(PRONOUNS))?;
    let (names, next) = addressees(clause, from, known)?;
    let what = "the tasks".to_owned();
    (next >= tokens.len()).then_some(Telling { names, what, is_order: true, is_task: true })
}

fn told(clause: &Clause, names: Vec<String>, from: usize, is_order: bool) -> Option<Telling> {
    let what = clause.between(from, clause.tokens.len());
    let what = what.strip_prefix("please ").unwrap_or(what);
    (!what.is_empty()).then(|| Telling { names, what: sentence(what), is_order, is_task: false })
}

/// The names at this place, and what comes behind; pronouns are no names, but they stand there.
fn addressees(clause: &Clause, at: usize, known: &[String]) -> Option<(Vec<String>, usize)> {
    let tokens = &clause.tokens;
    if tokens.get(at)?.is(PRONOUNS) {
        // `each of them`, `both of them`.
        let is_of = tokens.get(at + 1).is_some_and(|token| token.is("of"))
            && tokens.get(at + 2).is_some_and(|token| token.is(PRONOUNS));
        return Some((Vec::new(), at + if is_of { 3 } else { 1 }));
    }
    let is_name = |token: &Token| known.contains(&token.low) || can_be_name(token);
    let mut names = Vec::new();
    let mut next = at;
    while tokens.get(next).is_some_and(is_name) {
        names.push(tokens[next].low.clone());
        let more = (next + 1..tokens.len()).find(|at| !tokens[*at].is(", and")).unwrap_or(tokens.len());
        next += 1;
        if more == next || !tokens.get(more).is_some_and(is_name) {
            break;
        }
        next = more;
    }
    (!names.is_empty()).then_some((names, next))
}

/// Words as a sentence.
pub fn sentence(words: &str) -> String {
    let words = words.trim().trim_end_matches(['.', ',']);
    let mut letters = words.chars();
    let Some(first) = letters.next() else { return String::new() };
    let end = if words.ends_with(['!', '?', '"', '`']) { "" } else { "." };
    format!("{}{}{end}", first.to_uppercase(), letters.as_str())
}

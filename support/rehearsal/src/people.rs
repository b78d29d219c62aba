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
#[derive(Debug)]
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
/// Persons that are no role.
const ANYBODY: &str = "teammate teammates people person persons somebody someone mate mates member members everyone everybody \
    nobody anyone anybody team others";
const ROLES: &str = "developer developers dev devs tester testers engineer engineers reviewer reviewers agent agents worker \
    workers colleague colleagues helper helpers writer writers designer assistant specialist";
const ALL: &str = "both each they them everybody everyone";
const ONE: &str = "her him she he";

fn is_person(token: &Token) -> bool {
    token.is(ANYBODY) || token.is(ROLES)
}

fn is_pronoun(token: &Token) -> bool {
    token.is(ALL) || token.is(ONE)
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
    let mut left: Vec<String> = Vec::new();
    let count = (0..tokens.len()).find_map(|at| Some((at, number(&tokens[at].low)?)).filter(|_| !used[at]));
    if let Some((at, count)) = count {
        used[at] = true;
        if count as usize != names.len() && !tokens[at].is("one a an") {
            left.push(clause.between(at, (at + 2).min(tokens.len())).to_owned());
        }
    }
    let is_known = |token: &Token| is_filler(token) || is_person(token) || token.is("called named new team who up and");
    let unknown = (0..tokens.len()).filter(|at| !used[*at] && !is_known(&tokens[*at]));
    left.extend(unknown.map(|at| tokens[at].text.clone()));
    Some(Hiring { names, role, job, left })
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

/// The names from here on, with commas or `and` between them, and where they end.
fn names_from(tokens: &[Token], at: usize, is_name: impl Fn(usize) -> bool) -> (Vec<usize>, usize) {
    let (mut found, mut end, mut next) = (Vec::new(), at, at);
    while next < tokens.len() && is_name(next) && (next == at || next > end) {
        found.push(next);
        end = next + 1;
        next = end + tokens[end..].iter().take_while(|token| token.is(", and &")).count();
    }
    (found, end)
}

fn names(clause: &Clause, used: &mut [bool]) -> Vec<String> {
    let tokens = &clause.tokens;
    let is_name = |at: usize| tokens.get(at).is_some_and(can_be_name);
    let called = clause.find("called named").map(|at| at + 1);
    let behind_verb = is_name(1).then_some(1);
    // `two people, dave and erin`: names in apposition to persons.
    let apposed = (1..tokens.len()).find_map(|at| {
        let next = at + if tokens.get(at + 1)?.is(", :") { 2 } else { 1 };
        (is_person(&tokens[at]) && is_name(next)).then_some(next)
    });
    let is_capital = |at: &usize| {
        let is_noun = tokens[at - 1].is("the a an our my your this that");
        is_name(*at) && !is_noun && tokens[*at].text.starts_with(char::is_uppercase)
    };
    let capital = || (1..tokens.len()).find(is_capital);
    let Some(at) = called.or(behind_verb).or(apposed).or_else(capital) else { return Vec::new() };
    let is_one = |place: usize| is_name(place) || called == Some(place) && tokens[place].shape != Shape::Mark;
    let (found, _) = names_from(tokens, at, is_one);
    found.iter().for_each(|at| used[*at] = true);
    found.into_iter().map(|at| tokens[at].low.clone()).collect()
}

/// `as a backend developer`, `a backend dev named alice`, `for the backend`.
fn role_of(clause: &Clause, used: &mut [bool]) -> String {
    let tokens = &clause.tokens;
    if let Some(at) = clause.find("as").or_else(|| clause.find("for")).filter(|at| !used[*at]) {
        let ends = |at: &usize| {
            used[*at] || tokens[*at].shape == Shape::Mark || tokens[*at].is("to who named called and with")
        };
        let to = (at + 1..tokens.len()).find(ends).unwrap_or(tokens.len());
        let from = (at + 1..to).find(|at| !tokens[*at].is("a an the our my one")).unwrap_or(to);
        used[at..to].iter_mut().for_each(|used| *used = true);
        let role = clause.between(from, to);
        return if tokens[at].is("as") { role.to_owned() } else { format!("{role} developer") };
    }
    let Some(at) = (1..tokens.len()).find(|at| tokens[*at].is(ROLES) && !used[*at]) else {
        return "developer".to_owned();
    };
    let is_part = |before: &usize| {
        let token = &tokens[*before];
        token.shape == Shape::Word && !token.is("a an the as") && number(&token.low).is_none() && !used[*before]
    };
    let from = (1..at).rev().take_while(is_part).last().unwrap_or(at);
    used[from..=at].iter_mut().for_each(|used| *used = true);
    clause.between(from, at + 1).trim_end_matches('s').to_owned()
}

/// `to refactor hello.py`, `for a refactoring task`, `who claim and do them by themselves`.
fn job_of(clause: &Clause, used: &mut [bool]) -> Option<Job> {
    let tokens = &clause.tokens;
    let task = clause.find("for with").filter(|at| tokens[*at..].iter().any(|token| token.is("task job")));
    let is_start = |at: &usize| *at > 1 && tokens.get(at + 1).is_some_and(|next| !next.is("the a"));
    let at = task.or_else(|| clause.find("to who").filter(is_start))?;
    used[at..].iter_mut().for_each(|used| *used = true);
    let rest = clause.between(at + 1, tokens.len());
    let is_board = tokens[at..].iter().any(|token| token.is("them tasks board themselves auto-claim"))
        && !tokens[at..].iter().any(|token| token.shape == Shape::Path);
    Some(match task {
        Some(_) => Job::Text(format!("Do {rest}.")),
        None if is_board => Job::Board,
        None => Job::Text(sentence(rest)),
    })
}

/// Who is told what.
#[derive(Debug, Default)]
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
    let telling = told(clause, known).filter(|telling| !telling.what.is_empty())?;
    let is_all = telling.names.is_empty() && clause.tokens.iter().take(4).any(|token| token.is(ALL));
    Some(Telling { is_all, ..telling })
}

fn told(clause: &Clause, known: &[String]) -> Option<Telling> {
    let tokens = &clause.tokens;
    let first = tokens.first()?;
    let order = |names: Vec<String>, from: usize, is_order: bool| {
        let what = clause.between(from, tokens.len());
        let what = sentence(what.strip_prefix("please ").unwrap_or(what));
        Some(Telling { names, what, is_order, ..Telling::default() })
    };
    if (first.is("she he they both") || known.contains(&first.low)) && tokens.len() > 2 {
        let is_modal = tokens[1].is("should must shall will has have can needs need");
        let names = if known.contains(&first.low) { vec![first.low.clone()] } else { Vec::new() };
        return order(names, if tokens[2].is("to") { 3 } else { 2 }, true).filter(|_| is_modal);
    }
    if !first.is("ask tell have let get make instruct order give hand assign send write message remind") {
        return None;
    }
    let (is_giving, is_message) = (first.is("give hand assign"), first.is("send write message"));
    let courtesy = tokens[1..].iter().take_while(|token| is_message && token.is("to a message mail the")).count();
    if let Some(telling) = handing(clause, known).filter(|_| is_giving) {
        return Some(telling);
    }
    let (names, mut next) = addressees(clause, 1 + courtesy, known)?;
    if is_giving {
        let is_task = tokens[next..].iter().any(|token| token.is("task tasks"));
        let what = clause.between(next, tokens.len()).to_owned();
        return is_task.then(|| Telling { names, what, is_order: true, is_task, ..Telling::default() });
    }
    if is_message {
        let is_mark = |at: &usize| tokens[*at].is(": that saying") || tokens[*at].shape == Shape::Quoted;
        let mark = (next..tokens.len()).find(is_mark)?;
        return match &tokens[mark..] {
            [one] | [_, one] if one.shape == Shape::Quoted => {
                Some(Telling { names, what: one.text.clone(), ..Telling::default() })
            }
            [one, ..] if one.shape == Shape::Quoted => order(names, mark, false),
            _ => order(names, mark + 1, false),
        };
    }
    let says = |at: usize, words: &str| tokens.get(at).is_some_and(|token| token.is(words));
    next += usize::from(says(next, ", :"));
    let is_fact = says(next, "that");
    order(names, next + usize::from(is_fact || says(next, "to")), !is_fact)
}

/// `hand them to alice and bob`.
fn handing(clause: &Clause, known: &[String]) -> Option<Telling> {
    let tokens = &clause.tokens;
    let to = clause.find("to").filter(|to| *to > 0)?;
    if !tokens[1..to].iter().all(|token| token.is("them out over the tasks all these it")) {
        return None;
    }
    let is_name = |at: &usize| {
        let token = &tokens[*at];
        is_pronoun(token) || !is_person(token) && !is_filler(token) && number(&token.low).is_none()
    };
    let (names, next) = addressees(clause, (to + 1..tokens.len()).find(is_name)?, known)?;
    let telling = Telling { names, what: "the tasks".to_owned(), is_order: true, is_task: true, is_all: false };
    (next >= tokens.len()).then_some(telling)
}

/// The names at this place, and what comes behind; pronouns are no names, but they stand there.
fn addressees(clause: &Clause, at: usize, known: &[String]) -> Option<(Vec<String>, usize)> {
    let tokens = &clause.tokens;
    if is_pronoun(tokens.get(at)?) {
        // `each of them`, `both of them`.
        let is_of =
            tokens.get(at + 1).is_some_and(|token| token.is("of")) && tokens.get(at + 2).is_some_and(is_pronoun);
        return Some((Vec::new(), at + if is_of { 3 } else { 1 }));
    }
    let (found, next) = names_from(tokens, at, |at| known.contains(&tokens[at].low) || can_be_name(&tokens[at]));
    let names: Vec<String> = found.into_iter().map(|at| tokens[at].low.clone()).collect();
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

//! Lists in a request: tasks with what they wait for, and the items of a plan.
//!
//! A list is read whole before the request is cut into clauses: `then` in it is an order of tasks and no order to the
//! model. Invariant: each item is the user's text, and each dependency is a subject of the list.

use std::sync::LazyLock;

use regex_lite::Regex;

use crate::clause::{self, Clause, Found, PLAIN, is_filler, is_full_stop, opens_line, says};
use crate::words::{Shape, Token, number, set, stems, tokens};

/// A task to put on the board.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskSpec {
    pub subject: String,
    /// The subjects that it waits for.
    pub blocked_by: Vec<String>,
}

/// Subjects for tasks that have none: `create 3 tasks`. Each says what a teammate writes.
fn samples() -> impl Iterator<Item = (&'static str, &'static str)> {
    set("samples").split(" | ").filter_map(|sample| sample.split_once(' '))
}

/// The file and the text that a sample's subject asks for.
pub fn sample(subject: &str) -> Option<(String, String)> {
    let name = subject.strip_prefix("write notes/")?.strip_suffix(".md")?;
    let (_, line) = samples().find(|(known, _)| name == *known)?;
    Some((format!("notes/{name}.md"), format!("# {name}\n\n{line}")))
}

fn spec(subject: &str) -> TaskSpec {
    TaskSpec {
        subject: subject.trim_end_matches('.').to_owned(),
        blocked_by: Vec::new(),
    }
}

/// Reads `create tasks: a, b (depends on a)`: the tasks, and the rest of the request; `None` when the text begins with
/// something else.
pub fn listed(text: &str) -> Option<(Vec<TaskSpec>, String)> {
    let whole = Clause::of(text);
    let found = clause::find_at("tasks", &whole, 0, PLAIN).filter(|found| found.label == "list")?;
    let body = &text[whole.tokens[found.end - 1].end..];
    let (list, rest) = body.split_at(end_of_list(body));
    let chained = list.contains(", then ") || list.contains("; then ");
    let mut tasks: Vec<TaskSpec> = Vec::new();
    for item in items(list) {
        let clause = Clause::of(&item);
        let found = clause::find("depends", &clause, PLAIN);
        let own = found.as_ref().map_or(item.as_str(), |found| found.text("own"));
        let own = own.trim_end_matches([',', ' ']);
        if !own.is_empty() {
            tasks.push(spec(own));
        }
        match (found, tasks.as_mut_slice()) {
            // `c with the second blocked by the first` says something of another item.
            (Some(found), tasks) => {
                let last = tasks.len().checked_sub(1).filter(|_| found.label == "own");
                waits(tasks, &found, last)?;
            }
            (None, [.., last, new]) if chained => new.blocked_by.push(last.subject.clone()),
            _ => {}
        }
    }
    let rest = rest.trim_start_matches(['.', ',', ';', ' ', '\n']);
    let is_all = found.number("count").is_none_or(|count| count as usize == tasks.len());
    (is_all && !tasks.is_empty()).then(|| (tasks, rest.to_owned()))
}

/// `create two tasks`, `create a task to setup the project`: the tasks. The error is a word that nobody accounts for.
pub fn counted(clause: &Clause) -> Option<Result<Vec<TaskSpec>, String>> {
    let found = clause::find("tasks", clause, PLAIN)?;
    let (what, count) = (found.text("what"), found.number("count"));
    match found.label {
        // `set the task to done` speaks of one that is there.
        "list" | "there" => return None,
        // A second task would become a part of the first.
        "one" if !says(found.tokens("what"), "task tasks each another") => {
            return Some(Ok(vec![spec(what)]));
        }
        "one" | "whose" => return Some(Err(what.to_owned())),
        _ => {}
    }
    let some = || {
        says(&clause.tokens, "a some").then_some(if says(&clause.tokens, "tasks") { 2 } else { 1 })
    };
    let count = count.or_else(some)? as usize;
    let sample = |(name, _)| spec(&format!("write notes/{name}.md"));
    let mut specs: Vec<TaskSpec> = samples().take(count).map(sample).collect();
    if specs.len() < count {
        return Some(Err(count.to_string()));
    }
    Some(if what.is_empty() || depend(&mut specs, what) { Ok(specs) } else { Err(what.to_owned()) })
}

/// Where a list ends: with its sentence, or where the model is told what comes next.
fn end_of_list(body: &str) -> usize {
    let all = tokens(body);
    for (at, token) in all.iter().enumerate() {
        // The number of an item ends nothing.
        if is_full_stop(&all, at) && !(at > 0 && all[at - 1].shape == Shape::Number) {
            return token.start;
        }
        let joints = all[..at].iter().rev().take_while(|token| token.is("then and , ;")).count();
        if token.is(set("list-ends")) && joints > 0 {
            return all[at - joints].start;
        }
    }
    body.len()
}

/// The items of a list: cut at commas, semicolons, lines, `and`, outside parentheses.
pub fn items(body: &str) -> Vec<String> {
    let all = tokens(body);
    let joints = if all.iter().any(|token| token.text == ";") { ";" } else { ", and" };
    let (mut cuts, mut depth, mut refers) = (vec![(0, 0)], 0_i32, false);
    for (at, token) in all.iter().enumerate() {
        depth += i32::from(token.text == "(") - i32::from(token.text == ")");
        // `c depends on a and b` is one item.
        refers |= token.is("depends depending blocked waits");
        if opens_line(body, &all, at) {
            cuts.push((token.start, token.start));
        } else if token.is(joints) && depth == 0 && !(refers && token.is("and")) {
            cuts.push((token.start, token.end));
            refers = false;
        }
    }
    cuts.push((body.len(), body.len()));
    // What stands before an item is no part of it: a dash, a number, `and then`.
    static ITEM: LazyLock<Regex> = LazyLock::new(|| {
        let item = r#"(?s)^[-*\s]*(?:\d+[.)])?[\s"]*(?:(?:and|then) )*(.*?)[\s",.]*$"#;
        Regex::new(item).expect("it is one")
    });
    let item = |two: &[(usize, usize)]| ITEM.replace(&body[two[0].1..two[1].0], "$1").into_owned();
    cuts.windows(2).map(item).filter(|item| !item.is_empty()).collect()
}

/// The place of the task that a reference means.
fn resolve(reference: &str, tasks: &[TaskSpec]) -> Option<usize> {
    let words = tokens(reference);
    let ordinal = |token: &Token| {
        let place = set("@nth").split(' ').position(|word| word == token.low);
        place.or_else(|| token.low.parse::<usize>().ok()?.checked_sub(1))
    };
    if let Some(at) = words.iter().find_map(ordinal) {
        return Some(at).filter(|at| *at < tasks.len());
    }
    let is_wanted =
        |stem: &&String| words.iter().any(|token| !is_filler(token) && token.stem == **stem);
    let overlap = |at: &usize| stems(&tasks[*at].subject).iter().filter(is_wanted).count();
    // Of several that fit as well, the first.
    (0..tasks.len()).rev().filter(|at| overlap(at) > 0).max_by_key(overlap)
}

/// `where the second depends on the first`: notes it in the tasks; `false` when it says something else.
pub fn depend(tasks: &mut [TaskSpec], sentence: &str) -> bool {
    let clause = Clause::of(sentence);
    let found = clause::find("depends", &clause, PLAIN);
    found.is_some_and(|found| waits(tasks, &found, None).is_some())
}

/// Notes what `the second depends on the first, and the third on the second` says, of this task or of the one that is named;
/// nothing when one of them is no task, or when it does not wait for one before it.
fn waits(tasks: &mut [TaskSpec], found: &Found, own: Option<usize>) -> Option<()> {
    let whom = if found.label == "own" { "own" } else { "whom" };
    let mut whom = own.or_else(|| resolve(found.text(whom), tasks))?;
    let parts = found.text("on").trim_end_matches([')', '.']).split(" and ");
    for part in parts.flat_map(|part| part.split(',')) {
        let other = [" on ", " by ", " for "].iter().find_map(|joint| part.split_once(joint));
        if let Some((other, _)) = other {
            whom = resolve(other, tasks)?;
        }
        let on = resolve(other.map_or(part, |(_, on)| on), &tasks[..whom])?;
        let on = tasks[on].subject.clone();
        tasks[whom].blocked_by.push(on);
    }
    Some(())
}

/// The items of a plan, and the rest of the request: `make a to-do list: a, b`, `plan how to inspect this`.
pub fn plan(text: &str) -> Option<(Vec<String>, String)> {
    let whole = Clause::of(text);
    let found = clause::find_at("plan", &whole, 0, PLAIN)?;
    let behind = &text[whole.tokens[found.end - 1].end..];
    let marks: &[&str] = match found.label {
        "list" => &[". ", "! "],
        _ => &[", then ", " and then ", ". ", "; "],
    };
    let end = marks.iter().filter_map(|mark| behind.find(mark)).min();
    let (list, rest) = behind.split_at(end.unwrap_or(behind.len()));
    let is_count = |token: &Token| {
        is_filler(token)
            || number(&token.low).is_some()
            || token.is("items item steps things entries")
    };
    if tokens(list).iter().all(is_count) {
        return None;
    }
    let rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '`' && c != '"');
    let steps = ["look at what there is", list.trim().trim_end_matches('.'), "say what came of it"];
    let items = if found.label == "aim" { steps.map(str::to_owned).to_vec() } else { items(list) };
    Some((items, rest.to_owned()))
}

/// A task of the board, as the tool that lists it shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct OnBoard {
    pub id: String,
    pub subject: String,
    /// A space, `~`, `x`: pending, in progress, completed.
    pub mark: char,
    /// Whether nothing is in its way, and nobody owns it whose session goes on.
    pub is_free: bool,
}

/// The board, from its text: `[~] 0001-x write it (alice) · blocked by …`.
pub fn board(text: &str) -> Vec<OnBoard> {
    static LINE: LazyLock<Regex> = LazyLock::new(|| {
        let line = r"^\s*\[(.)\] (\S+) (.*?)(?: \(([^()]*)\))?( · .*)?$";
        Regex::new(line).expect("it is one")
    });
    let line = |line: &str| {
        let found = LINE.captures(line)?;
        let (id, subject) = (found[2].to_owned(), found[3].to_owned());
        let mark = found[1].chars().next()?;
        // An owner of whom more is said than the name has let go of it.
        let is_owned = found.get(4).is_some_and(|owner| !owner.as_str().contains(' '));
        Some(OnBoard {
            id,
            subject,
            mark,
            is_free: mark != 'x' && found.get(5).is_none() && !is_owned,
        })
    };
    text.lines().filter_map(line).collect()
}

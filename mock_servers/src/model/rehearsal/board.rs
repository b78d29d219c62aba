//! Reads what the tools of the task board return: `[ ] 0002-k3f9x2ab write tests · blocked by 0001-…`.
//!
//! Invariant: an id is one that a result named.

use super::gist;
use super::phrases::listed;
use super::slots::Slots;
use super::table::{Filling, Known};
use super::task_words;

/// One line of a listing.
struct Line<'a> {
    id: &'a str,
    subject: &'a str,
    owner: Option<&'a str>,
    is_done: bool,
    is_free: bool,
}

/// The task to claim: the one the words name, else the first that is free.
pub fn claimable(slots: &Slots, known: &[Known]) -> Vec<Filling> {
    if slots.get("which").is_some_and(speaks_of_it) {
        return last_named(known).map(filling).into_iter().collect();
    }
    let lines = newest_listing(known);
    let line = by_words(&lines, slots).or_else(|| lines.iter().find(|line| line.is_free));
    line.map(|line| filling(line.id)).into_iter().collect()
}

/// `it again`: the task that was spoken of last.
fn speaks_of_it(which: &str) -> bool {
    let mut words = which.split_whitespace();
    let is_it = words
        .next()
        .is_some_and(|first| ["it", "that"].contains(&first));
    is_it
        && words.all(|word| ["again", "now", "back", "once", "more", "one", "task"].contains(&word))
}

/// The task that was made, claimed or completed last.
fn last_named<'a>(known: &[Known<'a>]) -> Option<&'a str> {
    let ids = known.iter().rev().filter_map(|known| match known.tool {
        "claim_task" | "complete_task" | "get_task" => known.content.split_whitespace().next(),
        "create_task" => known.content.strip_prefix("created ")?.split(':').next(),
        _ => None,
    });
    ids.into_iter().next()
}

/// The task that the words name.
pub fn named(slots: &Slots, known: &[Known]) -> Vec<Filling> {
    let lines = newest_listing(known);
    let line = by_words(&lines, slots);
    line.map(|line| filling(line.id)).into_iter().collect()
}

/// The task that was claimed last.
pub fn own(_: &Slots, known: &[Known]) -> Vec<Filling> {
    let claims = known
        .iter()
        .rev()
        .filter(|known| known.tool == "claim_task");
    let id = claims
        .filter_map(|claim| claim.content.split_whitespace().next())
        .next();
    id.map(filling).into_iter().collect()
}

/// `created 0001-…: setup` as a sentence.
pub fn created(content: &str) -> String {
    match content.strip_prefix("created ") {
        Some(task) => format!("I created {}.", first_line(task)),
        None => first_line(content).to_owned(),
    }
}

/// `0001-… is yours: setup` as a sentence.
pub fn claimed(content: &str) -> String {
    match content.split_once(" is yours: ") {
        Some((id, subject)) => format!("I claimed {id}: {}.", first_line(subject)),
        None => first_line(content).to_owned(),
    }
}

/// `0001-… is completed: setup`, and what it unblocked, as sentences.
pub fn completed(content: &str) -> String {
    let freed: Vec<String> = content
        .lines()
        .filter_map(|line| line.strip_prefix("unblocked: "))
        .map(str::to_owned)
        .collect();
    let done = match content.split_once(" is completed: ") {
        Some((id, subject)) => format!("I completed {id}: {}.", first_line(subject)),
        None => first_line(content).to_owned(),
    };
    match freed.is_empty() {
        true => done,
        false => format!("{done} Unblocked now: {}.", listed(&freed)),
    }
}

/// Which tasks of a listing may be claimed.
pub fn free(content: &str) -> String {
    let lines = lines(content);
    let free: Vec<String> = lines
        .iter()
        .filter(|line| line.is_free)
        .map(|line| format!("{} ({})", line.subject, line.id))
        .collect();
    let board = gist::body(content);
    match free.is_empty() {
        true => format!("No task can be claimed now:\n```\n{board}\n```"),
        false => format!("Unblocked now: {}.\n```\n{board}\n```", listed(&free)),
    }
}

/// Who completed what, and what is left, from a listing.
pub fn who_did_what(content: &str) -> String {
    let lines = lines(content);
    let mut done: Vec<(&str, Vec<String>)> = Vec::new();
    for line in lines.iter().filter(|line| line.is_done) {
        let task = format!("{} ({})", line.subject, line.id);
        let owner = line.owner.unwrap_or("somebody");
        match done.iter_mut().find(|(who, _)| *who == owner) {
            Some((_, tasks)) => tasks.push(task),
            None => done.push((owner, vec![task])),
        }
    }
    let mut told: Vec<String> = done
        .iter()
        .map(|(who, tasks)| format!("{who} completed {}.", listed(tasks)))
        .collect();
    let open: Vec<String> = lines
        .iter()
        .filter(|line| !line.is_done)
        .map(|line| format!("{} ({})", line.subject, line.id))
        .collect();
    told.push(match open.is_empty() {
        true => "Nothing is left on the board.".to_owned(),
        false => format!("Still open: {}.", listed(&open)),
    });
    told.join("\n")
}

/// The first task of a listing that is free: its id.
pub fn first_free(content: &str) -> Option<&str> {
    lines(content)
        .into_iter()
        .find(|line| line.is_free)
        .map(|line| line.id)
}

fn newest_listing<'a>(known: &[Known<'a>]) -> Vec<Line<'a>> {
    let listing = known.iter().rev().find(|known| known.tool == "list_tasks");
    listing.map_or_else(Vec::new, |listing| lines(listing.content))
}

/// The open task whose subject the words name, or whose id.
fn by_words<'l, 'a>(lines: &'l [Line<'a>], slots: &Slots) -> Option<&'l Line<'a>> {
    let which = slots.get("which")?.trim();
    let mut open = lines.iter().filter(|line| !line.is_done);
    open.find(|line| which.contains(line.id) || task_words::fits(line.subject, which))
}

fn lines(content: &str) -> Vec<Line<'_>> {
    content.lines().filter_map(line).collect()
}

fn line(line: &str) -> Option<Line<'_>> {
    let (mark, rest) = line.trim().split_at_checked(4)?;
    let (id, rest) = rest.split_once(' ')?;
    let (rest, is_blocked) = match rest.split_once(" · blocked by ") {
        Some((rest, _)) => (rest, true),
        None => (rest, false),
    };
    let is_orphan = rest.contains("free to claim");
    let (subject, owner) = match rest.rsplit_once(" (") {
        Some((subject, owner)) if mark != "[ ] " => (subject, owner.split([',', ')']).next()),
        _ => (rest, None),
    };
    ["[ ] ", "[~] ", "[x] "].contains(&mark).then(|| Line {
        id,
        subject,
        owner,
        is_done: mark == "[x] ",
        is_free: !is_blocked && (mark == "[ ] " || is_orphan),
    })
}

fn filling(id: &str) -> Filling {
    vec![("task", id.to_owned())]
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

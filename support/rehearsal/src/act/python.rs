//! The little Python it knows: fixed edits of the files of the course, a package, a long module.
//!
//! It is no refactorer. An edit is made of text that is there; a file in which nothing fits stays as it is, and that is said.

use serde_json::{Value, json};

use super::files::{changing, paths, reads, there, without_numbers};
use crate::pattern::says;
use crate::run::{Outcome, Run, Stop, Went, fail};
use crate::scene::Past;
use crate::slots::Slots;
use crate::speak::{listed, sentence, why};
use crate::tools::{Call, Can};
use crate::words::{set, tokens};

/// What can be made of a file: the list of its edits, the order, and the words that ask for it.
const ASPECTS: [(&str, &str, &str); 3] = [
    ("hints", "add type hints to", "hints hint annotations annotation types"),
    ("docstrings", "add docstrings to", "docstrings docstring documentation"),
    ("guard", "add a main guard to", "guard __name__"),
];
const STYLE: (&str, &str, &str) = ("style", "fix the style of", "");

/// A text with the edits of a list: `old => new`. What is there already is not put there again.
fn edited(list: &str, path: &str, text: &str) -> String {
    let edits = set(list).split(" | ").filter_map(|edit| edit.split_once(" => "));
    let edits = edits.map(|(old, new)| (old.replace("\\n", "\n"), new.replace("\\n", "\n")));
    let new = edits.fold(text.to_owned(), |text, (old, new)| {
        if new.contains(&old) && text.contains(&new) { text } else { text.replace(&old, &new) }
    });
    if list != "docstrings" || new.trim_start().starts_with("\"\"\"") {
        return new;
    }
    let name = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".py").replace('_', " ");
    format!("\"\"\"{}\"\"\"\n\n{new}", sentence(&name))
}

/// Makes calls together with the one that says how far the plan is, where there is a tool for it: so many items are done.
fn step<'r, 'w>(
    run: &Run<'r, 'w>,
    items: &[String],
    done: usize,
    calls: Vec<Call>,
) -> Result<Vec<&'r Past<'w>>, Stop> {
    let status = |at: usize| {
        ["completed", "in_progress", "pending"][usize::from(at >= done) + usize::from(at > done)]
    };
    let items = items.iter().enumerate();
    let todos: Vec<Value> =
        items.map(|(at, item)| json!({"content": item, "status": status(at)})).collect();
    let plan = run.world.tools.call(Can::Todo, json!({ "todos": todos }));
    let skipped = usize::from(plan.is_some());
    let all: Vec<Call> = plan.into_iter().chain(calls).collect();
    Ok(run.made(all, "")?.into_iter().skip(skipped).collect())
}

/// Edits Python files: the one that is named, those of a folder whose style is to be fixed, else the first that there is.
pub(super) fn mend(run: &Run, slots: &Slots) -> Went {
    let said = tokens(&slots.said);
    let mut aspects: Vec<_> =
        ASPECTS.into_iter().filter(|(.., words)| says(&said, words)).collect();
    if aspects.is_empty() {
        aspects = if slots.kind.is_some() { vec![STYLE] } else { ASPECTS.to_vec() };
    }
    let mut files = slots.paths.clone();
    if files.is_empty() {
        let mut all = slots.clone();
        all.kind = Some("py".to_owned());
        files = paths(run, &all.pattern())?;
        files.truncate(if slots.kind.is_some() { 12 } else { 1 });
    }
    if files.is_empty() {
        return fail("I found no Python file that I could refactor.");
    }
    let names = listed(&files);
    let orders = aspects.iter().map(|(_, order, _)| format!("{order} {names}"));
    let items = [format!("read {names}")].into_iter().chain(orders);
    let items = items.chain([format!("look at {names} again")]);
    let items: Vec<String> = items.map(|item| sentence(&item)).collect();
    let reading = || files.iter().map(|path| reads(run, path)).collect::<Result<Vec<_>, _>>();
    let read = step(run, &items, 0, reading()?)?;
    if let Some((path, done)) = files.iter().zip(&read).find(|(_, done)| done.failed) {
        return fail(format!("I could not read {path}: {}.", why(&done.text)));
    }
    let mut texts: Vec<String> = read.iter().map(|done| without_numbers(&done.text)).collect();
    let mut told = Vec::new();
    for (at, (list, order, _)) in aspects.iter().enumerate() {
        let (mut calls, mut changed) = (Vec::new(), Vec::new());
        for (path, text) in files.iter().zip(&mut texts) {
            let new = edited(list, path, text);
            if new != *text {
                calls.extend(changing(run, path, text, &new));
                changed.push(path.clone());
                *text = new;
            }
        }
        let done = step(run, &items, at + 1, calls)?;
        if let Some((path, done)) = changed.iter().zip(&done).find(|(_, done)| done.failed) {
            return fail(format!("I did not change {path}: {}.", why(&done.text)));
        }
        told.push(match changed.as_slice() {
            [] => format!("I found no place to {order} {names}."),
            changed => format!("Done: {order} {}.", listed(changed)),
        });
    }
    step(run, &items, aspects.len() + 1, reading()?)?;
    step(run, &items, aspects.len() + 2, Vec::new())?;
    Ok(Outcome::told(told.join("\n")))
}

/// Makes a package: a docstring in each file, and nothing where a file is already.
pub(super) fn package(run: &Run, dir: &str, files: &[String]) -> Went {
    let all: Vec<String> =
        files.iter().map(|file| format!("{dir}/{}", file.trim_start_matches("./"))).collect();
    let items: Vec<String> = all.iter().map(|path| format!("Create {path}")).collect();
    step(run, &items, 0, Vec::new())?;
    let there = there(run, &all)?;
    let content =
        format!("\"\"\"A part of the package {}.\"\"\"\n", dir.rsplit('/').next().unwrap_or(dir));
    let mut told = Vec::new();
    for (at, path) in all.iter().enumerate() {
        if there.contains(path) {
            step(run, &items, at, Vec::new())?;
            told.push(format!("{path} is there already: I left it as it is."));
            continue;
        }
        let call = run.world.tools.call(Can::Write, json!({"path": path, "content": content}));
        let done = step(run, &items, at, call.into_iter().collect())?;
        if let Some(done) = done.first().filter(|done| done.failed) {
            return fail(format!("I did not write {path}: {}.", why(&done.text)));
        }
        told.push(format!("I created {path}."));
    }
    step(run, &items, all.len(), Vec::new())?;
    Ok(Outcome::told(told.join("\n")))
}

/// In the user's style: tabs, single quotes, when a fact that is remembered prefers them.
pub(super) fn styled(text: &str, facts: &[String]) -> String {
    let facts = facts.join("\n").to_lowercase();
    // What is preferred is named first; `not spaces` and `over spaces` name nothing.
    let prefers = |wanted: &str, other: &str| {
        let facts =
            facts.replace(&format!("not {other}"), "").replace(&format!("over {other}"), "");
        facts.find(wanted).is_some_and(|at| facts.find(other).is_none_or(|other| at < other))
    };
    let mut text = text.to_owned();
    if prefers("single quote", "double quote") {
        text = text.replace("\"\"\"", "\u{1}").replace('"', "'").replace('\u{1}', "\"\"\"");
    }
    if prefers("tabs", "spaces") { text.replace("    ", "\t") } else { text }
}

/// A module of so many functions, about a kilobyte each.
pub(super) fn long(count: u32) -> String {
    let function = |number: u32| {
        let lines: String = (1..=12).map(|line| format!("    value = value + {line} * factor  # step {line} of function {number}, which adds its part to the value\n")).collect();
        format!(
            "def function_{number}(value, factor=1):\n    \"\"\"Add {number} weighted parts to a value, one after the other, and return it.\"\"\"\n{lines}    return value\n"
        )
    };
    let all: Vec<String> = (1..=count).map(function).collect();
    format!("\"\"\"A long module of {count} functions.\"\"\"\n\n\n{}", all.join("\n\n"))
}

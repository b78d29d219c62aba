//! The little Python it knows: fixed edits of the files of the course, a package, a long module.
//!
//! It is no refactorer. An edit is made of text that is there; a file in which nothing fits stays as it is, and that is said.

use serde_json::{Value, json};

use super::files::{paths, reads, there, without_numbers};
use crate::clause::says;
use crate::run::{Outcome, Run, Stop, Went, fail};
use crate::scene::Past;
use crate::slots::Slots;
use crate::speak::{listed, sentence, why};
use crate::tools::{Call, Can};
use crate::words::{set, tokens};

/// What can be made of a file: the list of its edits, the order, and the words that ask for it. Its style is for a folder.
const ASPECTS: [(&str, &str, &str); 4] = [
    ("hints", "add type hints to", "hints hint annotations annotation types"),
    ("docstrings", "add docstrings to", "docstrings docstring documentation"),
    ("guard", "add a main guard to", "guard __name__"),
    ("style", "fix the style of", ""),
];

/// Those edits of a list, `old => new`, that fit a text: what goes stands there once. A module in which no docstring has its
/// place says its own name.
fn edits(list: &str, path: &str, text: &str) -> Vec<(String, String)> {
    let edit = |edit: &str| {
        let edit = edit.replace("\\n", "\n");
        let (old, new) = edit.split_once(" => ")?;
        let is_done = new.contains(old) && text.contains(new);
        let fits = text.matches(old).count() == 1 && !is_done;
        fits.then(|| (old.to_owned(), new.to_owned()))
    };
    let mut all: Vec<_> = set(list).split(" | ").filter_map(edit).collect();
    let first = text.lines().next().filter(|first| text.matches(first).count() == 1);
    if let Some(first) = first.filter(|_| list == "docstrings" && all.is_empty())
        && !text.contains("\"\"\"")
    {
        let name = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".py");
        let says = sentence(&name.replace('_', " "));
        all.push((first.to_owned(), format!("\"\"\"{says}\"\"\"\n\n{first}")));
    }
    all
}

/// Makes calls together with the one that says how far the plan is, where there is a tool for it: so many items are done.
/// The first call that fails ends the step.
fn step(run: &Run, items: &[String], done: usize, calls: Vec<Call>) -> Result<Vec<String>, Stop> {
    let status = |at: usize| {
        ["completed", "in_progress", "pending"][usize::from(at >= done) + usize::from(at > done)]
    };
    let items = items.iter().enumerate();
    let todos: Vec<Value> =
        items.map(|(at, item)| json!({"content": item, "status": status(at)})).collect();
    let plan = run.world.tools.call(Can::Todo, json!({ "todos": todos }));
    let skipped = usize::from(plan.is_some());
    let past = run.made(plan.into_iter().chain(calls).collect(), "")?;
    let text = |past: &&Past| {
        if past.failed {
            fail(format!("I stop here: {}.", why(&past.text)))
        } else {
            Ok(without_numbers(&past.text))
        }
    };
    past.iter().skip(skipped).map(text).collect()
}

/// Edits Python files: the one that is named, those of a folder whose style is to be fixed, else the first that there is.
pub(super) fn mend(run: &Run, slots: &Slots) -> Went {
    let (said, is_style) = (tokens(&slots.said), slots.kind.is_some());
    let mut aspects = ASPECTS.to_vec();
    aspects.retain(|(.., words)| says(&said, words));
    if aspects.is_empty() {
        aspects = if is_style { &ASPECTS[3..] } else { &ASPECTS[..3] }.to_vec();
    }
    let mut files = slots.paths.clone();
    if files.is_empty() {
        let mut python = slots.clone();
        python.kind = Some("py".to_owned());
        files = paths(run, &python.pattern())?;
        files.truncate(if is_style { 12 } else { 1 });
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
    let mut texts = step(run, &items, 0, reading()?)?;
    let mut told = Vec::new();
    for (at, (list, order, _)) in aspects.iter().enumerate() {
        let (mut calls, mut changed) = (Vec::new(), Vec::new());
        for (path, text) in files.iter().zip(&mut texts) {
            let edits = edits(list, path, text);
            changed.extend(Some(path.clone()).filter(|_| !edits.is_empty()));
            for (old, new) in &edits {
                *text = text.replace(old, new);
                let args = json!({"path": path, "old_text": old, "new_text": new});
                calls.extend(run.world.tools.call(Can::Edit, args));
            }
            // Where nothing edits, the whole is written.
            let whole = run.world.tools.call(Can::Write, json!({"path": path, "content": text}));
            calls.extend(whole.filter(|_| !run.world.tools.can(Can::Edit) && !edits.is_empty()));
        }
        step(run, &items, at + 1, calls)?;
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
    let name = dir.rsplit('/').next().unwrap_or(dir);
    let content = format!("\"\"\"A part of the package {name}.\"\"\"\n");
    for (at, path) in all.iter().enumerate() {
        let call = run.world.tools.call(Can::Write, json!({"path": path, "content": content}));
        step(run, &items, at, call.filter(|_| !there.contains(path)).into_iter().collect())?;
    }
    step(run, &items, all.len(), Vec::new())?;
    let told = all.iter().map(|path| {
        let is_there = there.contains(path);
        let rest = if is_there { "is there already: I left it as it is" } else { "is created" };
        format!("{path} {rest}.")
    });
    Ok(told.map(Outcome::told).collect())
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

//! Steps that stand for several: to refactor a file is to read it, to change it, and to look at what came of it.
//!
//! Invariant: parts come before the step they belong to, and only a part that is wanted comes at all.

use super::intents::row;
use super::steps::{Objects, Step};
use super::table::{On, Part};
use super::tokens::Token;

/// The parts of a step, where the first of them becomes the step number `first`.
pub fn parts(step: &Step, first: usize, tokens: &[Token]) -> Vec<Step> {
    let named = |part: &Part| tokens.iter().any(|token| token.is_any(part.when));
    // What the user named is wanted; when nothing was named, all of it.
    let all = !step.intent.parts.iter().any(named);
    let mut places: Vec<Option<usize>> = Vec::new();
    let mut found: Vec<Step> = Vec::new();
    for part in step.intent.parts {
        let wanted = all || part.when.is_empty() || named(part);
        places.push(wanted.then_some(first + found.len()));
        if !wanted {
            continue;
        }
        let objects = match (part.on, &step.objects) {
            (On::Nothing, _) => vec![Objects::None],
            (On::Same, objects) => vec![objects.clone()],
            (On::Each, Objects::Named(paths)) => {
                let one = |path: &String| Objects::Named(vec![path.clone()]);
                paths.iter().map(one).collect()
            }
            (On::Each, objects) => vec![objects.clone()],
            (On::Found(at), _) => vec![places[at].map_or(Objects::Unclear, Objects::Found)],
        };
        for objects in objects {
            found.push(part_of(step, part, objects, first, found.is_empty()));
        }
    }
    found
}

fn part_of(step: &Step, part: &Part, objects: Objects, first: usize, is_first: bool) -> Step {
    let intent = row(part.row);
    let mut slots = step.slots.clone();
    for (name, value) in part.fills {
        slots.set(name, *value);
    }
    Step {
        intent,
        slots,
        objects,
        most: part.most,
        parts_from: first,
        waits: is_first && step.waits,
        leans_on: None,
        unasked: !intent.changes,
        part: true,
    }
}

/// Says which files a new package gets: those the user named, or those a package has at least.
pub fn settle_package(step: &mut Step, mut files: Vec<String>) {
    let slot = |name| {
        let path = step.slots.get(name).unwrap_or_default();
        path.trim_start_matches("./").trim_end_matches('/')
    };
    let package = match (slot("dir"), slot("where")) {
        (dir, "") => dir.to_owned(),
        (dir, _) if dir.contains('/') => dir.to_owned(),
        (dir, parent) => format!("{parent}/{dir}"),
    };
    if files.is_empty() {
        files = ["__init__.py", "utils.py", "tests/test_utils.py"]
            .map(str::to_owned)
            .to_vec();
    }
    for file in &mut files {
        if !file.starts_with(&format!("{package}/")) {
            *file = format!("{package}/{}", file.trim_start_matches("./"));
        }
    }
    step.slots.set("files", files.join("\n"));
    step.slots.set("where", package.clone());
    step.slots.set("package", package);
    step.objects = Objects::Named(files);
}

//! The bodies of functions, taken out of a file and put back.
//!
//! A student builds a mechanism in a copy of its files: everything stands there but what the functions do.
//! Invariant: what is taken out and put back gives the file as it was, byte by byte.

use std::ops::Range;

use anyhow::{Result, ensure};

use crate::rust;
use crate::workspace::{Chapter, Workspace};

/// What stands where a body was.
const HOLE: &str = "todo!()";

/// A file without its bodies.
#[derive(Debug)]
pub struct Emptied {
    /// The text with a hole for each body.
    pub text: String,
    /// The functions and their bodies, in the order of the file.
    pub bodies: Vec<(String, String)>,
}

/// The functions of a file that a student writes: all that are not for tests, or those of some names.
#[derive(Clone, Debug, PartialEq)]
enum Wanted {
    All,
    Named(Vec<String>),
}

/// The files of a chapter without the bodies that its manifest names, with their paths in the workspace, in its order.
///
/// # Errors
/// When the manifest names a file or a function that is not there.
pub fn take_out(ws: &Workspace, chapter: &Chapter) -> Result<Vec<(String, Emptied)>> {
    let mut emptied = Vec::new();
    for (file, wanted) in wanted(chapter) {
        let path = chapter.path(&file);
        let text = ws.tree.text(&path);
        ensure!(
            text.is_some(),
            "{}: `start` names {file}, which is not there",
            chapter.path("Cargo.toml")
        );
        let found = empty(text.unwrap_or_default(), &wanted);
        if let Wanted::Named(names) = &wanted {
            let is_there = |name: &&String| found.bodies.iter().any(|(it, _)| it == *name);
            if let Some(missing) = names.iter().find(|name| !is_there(name)) {
                anyhow::bail!(
                    "{}: `start` names {file}::{missing}, which is no function there",
                    chapter.path("Cargo.toml")
                );
            }
        }
        ensure!(
            !found.bodies.is_empty(),
            "{}: `start` names {file}, which has no function",
            chapter.path("Cargo.toml")
        );
        emptied.push((path, found));
    }
    Ok(emptied)
}

/// Where a student has not written a body yet, in the order in which the manifest wants them written.
pub fn holes(ws: &Workspace, chapter: &Chapter) -> Vec<(String, String)> {
    let mut holes = Vec::new();
    for (file, wanted) in wanted(chapter) {
        let Some(text) = ws.text(chapter, &file) else {
            continue;
        };
        let bodies = empty(text, &wanted).bodies;
        let open = bodies
            .into_iter()
            .filter(|(_, body)| body.contains("todo!"));
        let mut open: Vec<String> = open.map(|(name, _)| name).collect();
        if let Wanted::Named(names) = wanted {
            open.sort_by_key(|name| names.iter().position(|wanted| wanted == name));
        }
        holes.extend(open.into_iter().map(|name| (file.clone(), name)));
    }
    holes
}

impl Emptied {
    /// The text with every body back in its place.
    pub fn put_back(&self) -> String {
        let mut bodies = self.bodies.iter();
        let back = self.text.split_inclusive('\n').map(|line| {
            if line.trim() == HOLE {
                bodies.next().map_or(line, |(_, body)| body)
            } else {
                line
            }
        });
        back.collect()
    }
}

/// The files that `start` names, in its order, each once.
fn wanted(chapter: &Chapter) -> Vec<(String, Wanted)> {
    let mut files: Vec<(String, Wanted)> = Vec::new();
    for entry in &chapter.start {
        let (file, name) = entry
            .split_once("::")
            .map_or((entry.as_str(), None), |(file, name)| (file, Some(name)));
        let known = files.iter_mut().find(|(path, _)| path == file);
        match (known, name) {
            (Some((_, Wanted::Named(names))), Some(name)) => names.push(name.to_owned()),
            (Some((_, wanted)), _) => *wanted = Wanted::All,
            (None, Some(name)) => {
                files.push((file.to_owned(), Wanted::Named(vec![name.to_owned()])))
            }
            (None, None) => files.push((file.to_owned(), Wanted::All)),
        }
    }
    files
}

/// Takes the wanted bodies out of a file as rustfmt lays it out: a body has lines of its own.
fn empty(text: &str, wanted: &Wanted) -> Emptied {
    let mut bodies: Vec<(String, Range<usize>)> = Vec::new();
    for function in rust::functions(text) {
        let is_wanted = match wanted {
            Wanted::All => !function.of_tests,
            Wanted::Named(names) => names.contains(&function.name),
        };
        let lines = function.body;
        let last = bodies.last();
        let is_inside = last.is_some_and(|(_, outer)| outer.end >= lines.end);
        if is_wanted && !lines.is_empty() && !is_inside {
            bodies.push((function.name, lines));
        }
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut emptied = Emptied {
        text: String::new(),
        bodies: Vec::new(),
    };
    let mut at = 0;
    for (name, range) in bodies {
        let first = lines[range.start];
        let indent = &first[..first.len() - first.trim_start().len()];
        emptied.text += &lines[at..range.start].concat();
        emptied.text += &format!("{}{HOLE}\n", indent.trim_end_matches('\n'));
        emptied.bodies.push((name, lines[range.clone()].concat()));
        at = range.end;
    }
    emptied.text += &lines[at..].concat();
    emptied
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture;

    const TEXT: &str = "//! A plan: items.\n\n/// Items.\npub struct Plan;\n\nimpl Plan {\n    /// A plan of these.\n    pub fn new(\n        items: &str,\n    ) -> Self\n    where\n        Self: Sized,\n    {\n        \
        // A brace in a comment {\n\n        let open = \"{\";\n        Self\n    }\n\n    fn none() {}\n}\n\n\
        fn outer() -> usize {\n    fn inner() -> usize {\n        1\n    }\n    inner()\n}\n\n#[cfg(test)]\nmod tests {\n    fn a() {\n        b();\n    }\n}\n";

    #[test]
    fn bodies_are_taken_out_and_put_back() {
        let emptied = empty(TEXT, &Wanted::All);

        assert_eq!(emptied.put_back(), TEXT);
        let names: Vec<_> = emptied
            .bodies
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(names, ["new", "outer"]);
        assert!(
            emptied
                .text
                .contains("    /// A plan of these.\n    pub fn new(\n"),
            "{}",
            emptied.text
        );
        assert!(
            emptied
                .text
                .contains("    {\n        todo!()\n    }\n\n    fn none() {}\n"),
            "{}",
            emptied.text
        );
        assert!(
            emptied
                .text
                .contains("fn outer() -> usize {\n    todo!()\n}\n"),
            "{}",
            emptied.text
        );
        assert!(emptied.text.contains("        b();\n"), "tests stay");
    }

    #[test]
    fn only_the_named_ones_are_taken_out() {
        let emptied = empty(TEXT, &Wanted::Named(vec!["outer".into()]));

        assert_eq!(emptied.bodies.len(), 1);
        assert_eq!(emptied.put_back(), TEXT);
    }

    fn class(start: &str) -> Workspace {
        let course = format!("adds = \"the loop\"\nstart = [{start}]");
        let manifest = fixture::manifest("s01_loop", &course, "");
        let bash = "//! Bash: runs a command.\n\n/// Runs it.\npub fn run() {\n    go();\n}\n\nfn go() {\n    run();\n}\n";
        fixture::course(&[
            ("s01_loop/Cargo.toml", &manifest),
            ("s01_loop/src/bash.rs", bash),
        ])
    }

    #[test]
    fn the_manifest_says_which_and_in_which_order() {
        let ws = class("\"src/bash.rs::go\", \"src/bash.rs::run\"");
        let chapter = ws.chapter("s01").unwrap();

        let emptied = take_out(&ws, chapter).unwrap();
        let (path, file) = &emptied[0];
        assert_eq!(
            (path.as_str(), file.bodies.len()),
            ("s01_loop/src/bash.rs", 2)
        );
        assert_eq!(
            holes(&ws, chapter),
            [],
            "nothing is open in the course itself"
        );

        let manifest = (
            "s01_loop/Cargo.toml",
            ws.tree.text("s01_loop/Cargo.toml").unwrap(),
        );
        let ws = fixture::course(&[manifest, ("s01_loop/src/bash.rs", &file.text)]);
        let open = holes(&ws, ws.chapter("s01").unwrap());
        let open: Vec<_> = open
            .iter()
            .map(|(file, name)| format!("{file}::{name}"))
            .collect();
        assert_eq!(open, ["src/bash.rs::go", "src/bash.rs::run"]);
    }

    #[test]
    fn what_is_not_there_is_told() {
        let told = |start: &str| {
            let ws = class(start);
            take_out(&ws, ws.chapter("s01").unwrap())
                .unwrap_err()
                .to_string()
        };

        assert_eq!(
            told("\"src/plan.rs\""),
            "s01_loop/Cargo.toml: `start` names src/plan.rs, which is not there"
        );
        assert_eq!(
            told("\"src/bash.rs::stop\""),
            "s01_loop/Cargo.toml: `start` names src/bash.rs::stop, which is no function there"
        );
    }
}

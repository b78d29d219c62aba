//! The bodies of functions, taken out of a chapter's files.
//!
//! A student builds a mechanism in a copy of its files: everything stands there but what the functions do.
//! Invariant: signatures, types, comments and tests stay byte by byte as they are.

use anyhow::{Context, Result, ensure};

use crate::rust;
use crate::workspace::{Chapter, Workspace};

/// What stands where a body was.
const HOLE: &str = "todo!()";

/// A file without its bodies.
#[derive(Debug, PartialEq)]
pub struct Emptied {
    /// Its path in the chapter.
    pub file: String,
    /// The text with a hole for each body.
    pub text: String,
    /// The functions and their bodies, in the order in which the manifest wants them written.
    pub bodies: Vec<(String, String)>,
}

/// The files of a chapter without the bodies that `start` in its manifest names, in its order: whole files (`src/plan.rs`,
/// all functions that are not for tests), or functions of files (`src/plan.rs::new`).
///
/// # Errors
/// When it names a file or a function that is not there, or nothing.
pub fn take_out(ws: &Workspace, chapter: &Chapter) -> Result<Vec<Emptied>> {
    let manifest = chapter.path("Cargo.toml");
    let mut emptied: Vec<Emptied> = Vec::new();
    for entry in &chapter.start {
        let file = entry.split("::").next().unwrap_or_default();
        if emptied.iter().any(|it| it.file == file) {
            continue;
        }
        let text = ws.text(chapter, file);
        let text =
            text.with_context(|| format!("{manifest}: `start` names {file}, which is not there"))?;
        let named = chapter.start.iter().filter_map(|it| it.strip_prefix(file)?.strip_prefix("::"));
        let names: Vec<_> = named.collect();
        let found = empty(file, text, &names);
        for name in names {
            let is_there = found.bodies.iter().any(|(it, _)| it == name);
            ensure!(
                is_there,
                "{manifest}: `start` names {file}::{name}, which is no function there"
            );
        }
        ensure!(
            !found.bodies.is_empty(),
            "{manifest}: `start` names {file}, which has no function"
        );
        emptied.push(found);
    }
    ensure!(
        !emptied.is_empty(),
        "{manifest}: the chapter does not say what a student builds; write start = [\"src/…\"]"
    );
    Ok(emptied)
}

/// Takes bodies out of a file as rustfmt lays it out, where a body has lines of its own: those of these functions, or of all.
fn empty(file: &str, text: &str, names: &[&str]) -> Emptied {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut emptied = String::new();
    let mut bodies = Vec::new();
    let mut at = 0;
    for function in rust::functions(text) {
        let is_wanted = match names {
            [] => !function.of_tests,
            names => names.contains(&function.name.as_str()),
        };
        if is_wanted && !function.body.is_empty() {
            let first = lines[function.body.start].trim_end();
            let indent = &first[..first.len() - first.trim_start().len()];
            emptied += &lines[at..function.body.start].concat();
            emptied += &format!("{indent}{HOLE}\n");
            at = function.body.end;
            bodies.push((function.name, lines[function.body].concat()));
        }
    }
    emptied += &lines[at..].concat();
    bodies.sort_by_key(|(name, _)| names.iter().position(|it| it == name));
    Emptied {
        file: file.to_owned(),
        text: emptied,
        bodies,
    }
}

/// Where a student has not written a body yet: the file and the function, in the order in which the manifest wants them
/// written.
///
/// # Errors
/// When a function is gone that the manifest names.
pub fn holes(ws: &Workspace, chapter: &Chapter) -> Result<Vec<(String, String)>> {
    let mut holes = Vec::new();
    for Emptied { file, bodies, .. } in take_out(ws, chapter)? {
        let open = bodies.into_iter().filter(|(_, body)| body.contains("todo!"));
        holes.extend(open.map(|(name, _)| (file.clone(), name)));
    }
    Ok(holes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture;

    const TEXT: &str = "//! A plan: items.\n\n/// Items.\npub struct Plan;\n\nimpl Plan {\n    /// A plan of these.\n    pub fn new(\n        items: &str,\n    ) -> Self\n    where\n        Self: Sized,\n    {\n        \
        // A brace in a comment {\n\n        let open = \"{\";\n        Self\n    }\n\n    fn none() {}\n}\n\n\
        fn outer() -> usize {\n    fn inner() -> usize {\n        1\n    }\n    inner()\n}\n\n#[cfg(test)]\nmod tests {\n    fn a() {\n        b();\n    }\n}\n";

    #[test]
    fn bodies_are_taken_out_and_the_rest_stays() {
        let emptied = empty("src/plan.rs", TEXT, &[]);
        let new = "        // A brace in a comment {\n\n        let open = \"{\";\n        Self\n";
        let outer = "    fn inner() -> usize {\n        1\n    }\n    inner()\n";
        let bodies =
            [("new", new), ("outer", outer)].map(|(name, body)| (name.into(), body.into()));
        assert_eq!(emptied.bodies, bodies);
        let expected = TEXT.replace(new, "        todo!()\n").replace(outer, "    todo!()\n");
        assert_eq!(emptied.text, expected);

        let one = empty("src/plan.rs", TEXT, &["outer"]);
        assert_eq!(one.text, TEXT.replace(outer, "    todo!()\n"));
    }

    fn class(start: &str, bash: &str) -> Workspace {
        let course = format!("adds = \"the loop\"\nstart = [{start}]");
        let manifest = fixture::manifest("s01_loop", &course, "");
        fixture::course(&[("s01_loop/Cargo.toml", &manifest), ("s01_loop/src/bash.rs", bash)])
    }

    #[test]
    fn the_manifest_says_which_and_in_which_order() {
        let bash = "//! Bash.\n\npub fn run() {\n    go();\n}\n\nfn go() {\n    run();\n}\n";
        let order = "\"src/bash.rs::go\", \"src/bash.rs::run\"";
        let open = |bash: &str| {
            let ws = class(order, bash);
            let chapter = ws.chapter("s01").unwrap();
            let names = holes(&ws, chapter).unwrap().into_iter().map(|(_, name)| name);
            (take_out(&ws, chapter).unwrap(), names.collect::<Vec<_>>())
        };
        let (emptied, none) = open(bash);
        assert_eq!(none, [""; 0], "nothing is open in the course itself");
        assert_eq!(open(&emptied[0].text).1, ["go", "run"]);

        for (start, told) in [
            ("", "the chapter does not say what a student builds; write start = [\"src/…\"]"),
            ("\"src/plan.rs\"", "`start` names src/plan.rs, which is not there"),
            (
                "\"src/bash.rs::stop\"",
                "`start` names src/bash.rs::stop, which is no function there",
            ),
        ] {
            let ws = class(start, bash);
            let error = take_out(&ws, ws.chapter("s01").unwrap()).unwrap_err().to_string();
            assert_eq!(error, format!("s01_loop/Cargo.toml: {told}"));
        }
    }
}

//! Rules for Rust files that clippy does not have: headers, sizes, what a library leaves to others, how tests wait.
//!
//! A reader opens a file knowing nothing of it; the header must say what it is, and the rest must fit in the head.

use super::{Findings, Rule, chapter_of, files};
use crate::header;
use crate::rust::{self, has_word};
use crate::workspace::{MAIN, Workspace, chapter_number};

pub(super) const RULES: [Rule; 5] = [headers, file_size, imports, outside, waiting];

const LINES: usize = 450;
const ROOT_HEADER: &str = "#![doc = include_str!(\"../README.md\")]";
/// What belongs to the terminal or to the environment, and what to do instead.
#[rustfmt::skip]
const OUTSIDE: [(&[&str], &str); 2] = [
    (&["println!", "print!", "eprintln!", "eprint!", "stdin()", "stdout()", "stderr()"], "give the text to Repl, or ask through it"),
    (&["env::var", "env::var_os", "env::vars", "env::args"], "take the value as an argument"),
];
/// The parts of libraries that own the terminal or the environment: where their paths begin.
const OWNERS: [&str; 3] = [
    // The terminal is Repl's, and what the environment says of it.
    "s01_loop/src/repl",
    // Reads the key, the address and the model, once, for `Client::from_env`.
    "s01_loop/src/settings.rs",
    // Reads the variables that `.mcp.json` names, when a server is started with them.
    "s19_mcp_plugin/src/environment.rs",
];
/// The rooms of `support/` that a program may use, and how large the one for helpers may get.
const FOR_PROGRAMS: [&str; 2] = ["kit", "terminal"];
const KIT: &str = "support/kit/src";
const KIT_LINES: usize = 400;
/// How it looks when a test waits; in two parts, for the test of this rule.
const SLEEP: &str = concat!("sle", "ep(");
/// A "test" that is a program: the other tests of the binary start it on a terminal.
const PROGRAM: &str = "/tests/terminal/program.rs";

/// Every file opens with `//!` and a sentence; a chapter's library opens with its README.
fn headers(ws: &Workspace, found: &mut Findings) {
    for (path, text) in files(ws, ".rs") {
        if chapter_of(path).is_some_and(|name| path == format!("{name}/src/lib.rs")) {
            if !text.starts_with(ROOT_HEADER) {
                found.file(
                    path,
                    format!("the library does not open with `{ROOT_HEADER}`; add it"),
                );
            }
        } else if header::first_sentence(text).is_none() {
            let advice =
                "open with `//!` and what the file is, in one sentence that ends with a full stop";
            found.file(path, format!("no header; {advice}"));
        }
    }
}

/// Files stay short enough to be read in one go, and helpers few.
fn file_size(ws: &Workspace, found: &mut Findings) {
    for (path, text) in files(ws, ".rs") {
        let lines = text.lines().count();
        if lines > LINES {
            found.file(
                path,
                format!("{lines} lines; split it, {LINES} is the limit"),
            );
        }
    }
    let kit = ws
        .tree
        .below(KIT)
        .map(|(_, file)| source(&file.text).lines().count());
    let lines: usize = kit.sum();
    if lines > KIT_LINES {
        let text =
            format!("{lines} lines; {KIT_LINES} is the limit, a mechanism belongs to its lesson");
        found.file(&format!("{KIT}/lib.rs"), text);
    }
}

/// No lesson exports another's items, and a program takes helpers from `support/`, nothing that is there for tests.
fn imports(ws: &Workspace, found: &mut Findings) {
    let rooms = ws
        .members
        .iter()
        .filter_map(|member| member.dir.strip_prefix("support/"));
    let for_tests: Vec<_> = rooms.filter(|room| !FOR_PROGRAMS.contains(room)).collect();
    for (path, text) in files(ws, ".rs") {
        let own = chapter_of(path).filter(|own| path.starts_with(&format!("{own}/src/")));
        let Some(own) = own else { continue };
        for one in rust::uses(source(text)) {
            for item in &one.paths {
                let root = item.split("::").next().unwrap_or_default();
                if one.public && chapter_number(root).is_some() && root != own {
                    found.file(
                        path,
                        format!("re-exports {item}; import it where it is used"),
                    );
                } else if for_tests.contains(&root) {
                    let rooms = FOR_PROGRAMS.join(" and ");
                    found.file(
                        path,
                        format!("imports {item}; of support/ a program has {rooms} only"),
                    );
                }
            }
        }
    }
}

/// A library of a chapter neither prints nor reads the terminal or the environment.
fn outside(ws: &Workspace, found: &mut Findings) {
    for (path, text) in files(ws, ".rs") {
        let is_library =
            chapter_of(path).is_some_and(|own| path.starts_with(&format!("{own}/src/")));
        let is_test = path.ends_with("tests.rs") || path.contains("/tests/");
        let owns = OWNERS.iter().any(|owner| path.starts_with(owner));
        if owns || is_test || !is_library || path.ends_with(MAIN) {
            continue;
        }
        for (number, code) in code(source(text)) {
            for (words, advice) in OUTSIDE {
                if let Some(word) = words.iter().find(|word| has_word(code, word)) {
                    found.at(path, number, format!("a library holds `{word}`; {advice}"));
                }
            }
        }
    }
}

/// A test advances time by hand, and no test is switched off, except in the exercises.
fn waiting(ws: &Workspace, found: &mut Findings) {
    for (path, text) in files(ws, ".rs").filter(|(path, _)| !path.ends_with(PROGRAM)) {
        let only_tests = ["/tests/", "/tests.rs", "/benches/", "/exercises/"];
        let mut in_tests = only_tests.iter().any(|part| path.contains(part));
        for (number, code) in code(text) {
            in_tests |= code == "#[cfg(test)]";
            if in_tests && has_word(code, SLEEP) {
                let text =
                    "a test sleeps; pause the time and advance it, or wait for the event itself";
                found.at(path, number, text);
            }
            if code.trim().starts_with("#[ignore") && !path.contains("/exercises/") {
                found.at(
                    path,
                    number,
                    "only exercises are switched off; run the test or delete it",
                );
            }
        }
    }
}

/// A file without the tests at its end.
fn source(text: &str) -> &str {
    text.split("\n#[cfg(test)]\n").next().unwrap_or_default()
}

/// The lines without comments, with their numbers.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let code = |line| str::split(line, "//").next().unwrap_or_default();
    text.lines().map(code).enumerate()
}

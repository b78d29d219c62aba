//! Rules for Rust files that clippy does not have: headers, sizes, how tests wait, and what a carried file may hold.
//!
//! A reader opens a file knowing nothing of it; a carried file is shown again in every later diff, so it must be short, steady
//! and worth reading.

use super::{Findings, files};
use crate::header;
use crate::rust::{self, has_word};
use crate::workspace::{MAIN, TEAMMATE, Workspace, chapter_number};

const LINES: usize = 450;
const ROOT_HEADER: &str = "#![doc = include_str!(\"../README.md\")]";
/// How it looks when a test waits; in two parts, for the test of this rule.
const SLEEP: &str = concat!("sle", "ep(");
/// A "test" that is a program: the other tests of the binary start it on a terminal.
const PROGRAM: &str = "/tests/terminal/program.rs";

const TO_LIBRARY: &str = "move it into the chapter's library";
/// What a carried file does not do, and what to do instead.
const FORBIDDEN: &str = "\
println! print! eprintln! eprint! dbg! stdin stdout | print through Repl or a hook
select! | put it behind one tested, cancel-safe method of the library
sleep spawn Duration Instant fs:: process::Command env::var env::args | move it into the chapter's library
json! | derive the schema from a type of the library
#[test] #[tokio::test] #[cfg(test)] | move it into tests/";
/// The last lines of a `main.rs` whose agent a test plays: it is private, so its player is a module of the binary.
const PLAYER: &str = "\n#[cfg(test)]\nmod story;\n";

/// Every file opens with `//!` and a sentence; a chapter's library opens with its README.
pub(super) fn headers(ws: &Workspace, found: &mut Findings) {
    for (path, text) in files(ws, ".rs") {
        let folder = path.strip_suffix("/src/lib.rs").unwrap_or_default();
        let of_chapter = chapter_number(folder).is_some();
        if text.starts_with(ROOT_HEADER) {
            continue;
        } else if of_chapter {
            let text = format!("the library does not open with `{ROOT_HEADER}`; add it");
            found.file(path, text);
        } else if header::first_sentence(text).is_none() {
            let advice = "open with `//!` and one sentence that says what the file is";
            found.file(path, format!("no header; {advice}"));
        }
    }
}

/// Files stay short enough to be read in one go.
pub(super) fn file_size(ws: &Workspace, found: &mut Findings) {
    for (path, text) in files(ws, ".rs") {
        let lines = text.lines().count();
        if lines > LINES {
            let text = format!("{lines} lines; split it, {LINES} is the limit");
            found.file(path, text);
        }
    }
}

/// No lesson exports another's items.
pub(super) fn exports(ws: &Workspace, found: &mut Findings) {
    for chapter in &ws.chapters {
        for (path, text) in ws.tree.below(&chapter.path("src")) {
            let exports = text.lines().enumerate().filter_map(|(number, line)| {
                let root = line.strip_prefix("pub use ")?.split("::").next()?;
                (chapter_number(root).is_some() && root != chapter.name).then_some((number, root))
            });
            for (number, root) in exports {
                let text = format!("re-exports from {root}; import it where it is used");
                found.at(path, number, text);
            }
        }
    }
}

/// A test advances time by hand, and no test is switched off, except in the exercises.
pub(super) fn waiting(ws: &Workspace, found: &mut Findings) {
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
                let text = "only exercises are switched off; run the test or delete it";
                found.at(path, number, text);
            }
        }
    }
}

/// A carried file holds control flow: `Agent` with `new` and `turn`, and `main`, under one line of header; no printing,
/// waiting, starting, reading, schemas, tests or prompts; and no chapter's number outside `use`, so that a line means the
/// same in every chapter.
pub(super) fn carried_files(ws: &Workspace, found: &mut Findings) {
    for (chapter, file, text) in ws.carried() {
        let path = chapter.path(file);
        let text = text.strip_suffix(PLAYER).unwrap_or(text);
        if file == MAIN {
            main_header(chapter.short(), &path, text, found);
        }
        let origin = ws.origin(chapter, file).filter(|_| file == TEAMMATE);
        if let Some(origin) = origin.filter(|it| ws.text(it, file) == Some(text)) {
            let name = &origin.name;
            let text = format!("does not change from {name}; delete it and import that one");
            found.file(&path, text);
        }
        let mut in_use = false;
        for (number, line) in text.lines().enumerate().skip(1) {
            let code = line.split("//").next().unwrap_or_default();
            in_use |= line.starts_with("use ");
            for problem in problems(code, file == MAIN, in_use) {
                found.at(&path, number, problem);
            }
            in_use &= !line.contains(';');
        }
    }
}

fn main_header(short: &str, path: &str, text: &str, found: &mut Findings) {
    let (start, end) = (format!("//! {short} · "), ". Start with README.md.");
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let lesson = first.strip_prefix(&start);
    let lesson = lesson.and_then(|it| it.strip_suffix(end));
    if lesson.is_none_or(str::is_empty) || lines.next().is_some_and(|it| it.starts_with("//!")) {
        let usual = format!("write `{start}the lesson{end}`");
        let text = format!("the header is not one line of the usual form; {usual}");
        found.file(path, text);
    }
}

/// What a line of a carried file should not hold.
fn problems(code: &str, is_main: bool, in_use: bool) -> Vec<String> {
    let mut problems = Vec::new();
    for (words, advice) in FORBIDDEN.lines().filter_map(|it| it.split_once(" | ")) {
        if let Some(word) = words.split(' ').find(|word| has_word(code, word)) {
            problems.push(format!("a carried file holds `{word}`; {advice}"));
        }
    }
    if code.ends_with('\\') {
        let text = "a text of several lines in a carried file";
        problems.push(format!("{text}; {TO_LIBRARY}"));
    }
    let names = code.split(|c: char| !c.is_alphanumeric() && c != '_');
    let is_chapter = |word: &str| {
        chapter_number(word).is_some()
            || word.len() == 3 && chapter_number(&format!("{word}_x")).is_some()
    };
    if let Some(word) = names.clone().find(|word| !in_use && is_chapter(word)) {
        let advice = "import the item with `use`, or take the name from env!(\"CARGO_PKG_NAME\")";
        problems.push(format!("`{word}` names a chapter in the code; {advice}"));
    }
    let mut words = names.skip_while(|word| ["", "pub", "async"].contains(word));
    let kind = words.next().unwrap_or_default();
    if is_main && ["fn", "struct", "enum", "trait", "type", "mod"].contains(&kind) {
        let declared = words.next().unwrap_or_default();
        if !["new", "turn", "main", "Agent"].contains(&declared) {
            let text = "it holds Agent, new, turn and main only";
            problems.push(format!("main.rs declares `{declared}`; {text}, {TO_LIBRARY}"));
        }
    }
    problems
}

/// What a chapter leaves out rests and is named, and what rests is left out.
pub(super) fn rests(ws: &Workspace, found: &mut Findings) {
    for (index, chapter) in ws.chapters.iter().enumerate() {
        let used = rust::lessons(ws.text(chapter, MAIN).unwrap_or_default(), &chapter.name);
        for name in ws.chapters[..index].iter().map(|earlier| &earlier.name) {
            let problem = match (used.contains_key(name), chapter.rests.contains(name)) {
                (false, false) => "is neither imported nor does it rest; add it to rests",
                (true, true) => "rests, but is imported; take it out of one of them",
                _ => continue,
            };
            found.file(&chapter.path(MAIN), format!("`{name}` {problem}"));
        }
    }
}

/// The lines without comments, with their numbers.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let code = |line| str::split(line, "//").next().unwrap_or_default();
    text.lines().map(code).enumerate()
}

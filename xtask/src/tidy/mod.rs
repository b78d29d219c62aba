//! `cargo x tidy`: the rules of the course that a machine can check.
//!
//! Twenty chapters stay one course only while the rules that make their diffs readable hold in each of them.
//! Invariant: a rule looks at the files and changes nothing; a finding says where, what is wrong and what to do.

mod carried;
mod chapters;
mod conduct;
mod exercises;
mod files;
mod guide;
mod links;
mod manifests;
pub(crate) mod markdown;
mod prompts;
mod readme;
mod shape;

use std::fmt;

use crate::source::{Source, find_word};
use crate::workspace::{Workspace, chapter_number};

/// One broken rule at one place.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    path: String,
    /// Counted from 1.
    line: usize,
    text: String,
}

/// What the rules look at: the workspace, and its Rust files scanned once.
struct Subject<'a> {
    ws: &'a Workspace,
    rust: Vec<RustFile<'a>>,
}

struct RustFile<'a> {
    path: &'a str,
    text: &'a str,
    source: Source,
    /// Whether all of it is for tests.
    only_tests: bool,
}

type Rule = fn(&Subject<'_>) -> Vec<Finding>;

const RULES: [&[Rule]; 11] = [
    &carried::RULES,
    &chapters::RULES,
    &conduct::RULES,
    &exercises::RULES,
    &files::RULES,
    &guide::RULES,
    &links::RULES,
    &manifests::RULES,
    &prompts::RULES,
    &readme::RULES,
    &shape::RULES,
];

/// All findings, in the order of their places.
pub fn findings(ws: &Workspace) -> Vec<Finding> {
    let subject = Subject::new(ws);
    let mut findings: Vec<_> = RULES
        .concat()
        .iter()
        .flat_map(|rule| rule(&subject))
        .collect();
    findings.sort();
    findings
}

impl Finding {
    /// A finding on a line counted from 0, as the scanner counts them.
    fn at(path: &str, line: usize, text: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line: line + 1,
            text: text.into(),
        }
    }

    /// A finding that concerns the whole file.
    fn file(path: &str, text: impl Into<String>) -> Self {
        Self::at(path, 0, text)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.text)
    }
}

impl<'a> Subject<'a> {
    fn new(ws: &'a Workspace) -> Self {
        let rust = ws.tree.iter().filter(|(path, _)| path.ends_with(".rs"));
        let rust = rust
            .map(|(path, file)| RustFile {
                path,
                text: &file.text,
                source: Source::scan(&file.text),
                only_tests: is_test(path),
            })
            .collect();
        Self { ws, rust }
    }

    fn rust(&self, path: &str) -> Option<&RustFile<'a>> {
        self.rust.iter().find(|file| file.path == path)
    }
}

impl RustFile<'_> {
    /// The lines of code that are not for tests, with their numbers.
    fn shipped(&self) -> impl Iterator<Item = (usize, &str)> {
        let tests = self.source.tests();
        self.code().filter(move |(line, _)| {
            !self.only_tests && !tests.iter().any(|range| range.contains(line))
        })
    }

    /// The lines of code that are for tests, with their numbers.
    fn tests(&self) -> impl Iterator<Item = (usize, &str)> {
        let tests = self.source.tests();
        self.code().filter(move |(line, _)| {
            self.only_tests || tests.iter().any(|range| range.contains(line))
        })
    }

    /// The comments, with the numbers of their lines.
    fn comments(&self) -> impl Iterator<Item = (usize, &str)> {
        self.source.comments.iter().map(String::as_str).enumerate()
    }

    /// All lines of code, with their numbers.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.source.code.iter().map(String::as_str).enumerate()
    }
}

/// Words that do not belong somewhere, each with what to do instead.
type Words<'a> = &'a [(&'a str, &'a str)];

/// A finding for each of `lines` that holds one of `words`; `who` says whose lines they are.
fn words<'a>(
    path: &str,
    lines: impl Iterator<Item = (usize, &'a str)>,
    who: &str,
    words: Words<'_>,
) -> Vec<Finding> {
    let held = lines.filter_map(|(line, text)| {
        let (word, advice) = words
            .iter()
            .find(|(word, _)| find_word(text, word).is_some())?;
        Some(Finding::at(path, line, format!("{who} `{word}`; {advice}")))
    });
    held.collect()
}

/// The line (from 0) of the first line of `text` that starts with `start`; the first line when there is none.
fn line_of(text: &str, start: &str) -> usize {
    text.lines()
        .position(|line| line.starts_with(start))
        .unwrap_or(0)
}

/// Whether the whole file is for tests: it lies under `tests/`, `benches/` or `exercises/`, or is a module `tests`.
fn is_test(path: &str) -> bool {
    let of_tests = |part: &str| ["tests", "benches", "exercises", "tests.rs"].contains(&part);
    path.split('/').any(of_tests)
}

/// The chapter's folder that the path starts with.
fn chapter_of(path: &str) -> Option<&str> {
    path.split('/')
        .next()
        .filter(|name| chapter_number(name).is_some())
}

/// What `rule` finds in the small course with `changes` laid over it.
#[cfg(test)]
fn found(rule: Rule, changes: &[(&str, &str)]) -> Vec<String> {
    let ws = crate::fixture::course(changes);
    rule(&Subject::new(&ws))
        .iter()
        .map(Finding::to_string)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tidy_course_has_no_findings() {
        assert_eq!(findings(&crate::fixture::course(&[])), []);
    }

    #[test]
    fn a_finding_names_its_place_first() {
        let finding = Finding::at("s01_loop/src/main.rs", 6, "prints; let Repl do it");

        assert_eq!(
            finding.to_string(),
            "s01_loop/src/main.rs:7: prints; let Repl do it"
        );
    }
}

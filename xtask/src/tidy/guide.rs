//! Rules for what leads through the course: the map of the code, the glossary, the minutes, the tests that a lesson names.
//!
//! They are read first and changed last, so they are the first to be wrong. Invariant: a file that is added, moved or
//! removed without its place in the map is a finding.

use std::collections::BTreeSet;

use super::markdown::{self, Place};
use super::readme::lessons;
use super::{Finding, Rule, Subject, line_of};
use crate::workspace::CARRIED;

pub(super) const RULES: [Rule; 5] = [
    map_leads_somewhere,
    map_is_whole,
    glossary,
    minutes,
    named_tests,
];

const ARCHITECTURE: &str = "ARCHITECTURE.md";
const GLOSSARY: &str = "GLOSSARY.md";
const README: &str = "README.md";

/// Every path in the map exists.
fn map_leads_somewhere(subject: &Subject<'_>) -> Vec<Finding> {
    let tree = &subject.ws.tree;
    let is_there = |path: &str| match path.strip_suffix('/') {
        Some(folder) => tree.below(folder).next().is_some(),
        None => tree.file(path).is_some(),
    };
    let named = map(subject);
    let missing = named.iter().filter(|(_, path)| !is_there(path));
    missing
        .map(|(line, path)| {
            Finding::at(
                ARCHITECTURE,
                *line,
                format!("the map names {path}, which is not there; mend the map"),
            )
        })
        .collect()
}

/// Every source file of a chapter has its place in the map: by its name, in a folder, or as a module of a named file.
fn map_is_whole(subject: &Subject<'_>) -> Vec<Finding> {
    let named = map(subject);
    let holds = |path: &str| {
        named.iter().any(|(_, place)| {
            let folder = match place.strip_suffix(".rs") {
                Some(module) => format!("{module}/"),
                None => place.clone(),
            };
            path == place || folder.ends_with('/') && path.starts_with(&folder)
        })
    };
    let mut findings = Vec::new();
    for chapter in &subject.ws.chapters {
        let in_every_chapter = |path: &str| {
            let names = CARRIED.iter().chain(&["src/lib.rs"]);
            names.copied().any(|name| chapter.path(name) == path)
        };
        let source = chapter.path("src");
        let files = subject.ws.tree.below(&source).map(|(path, _)| path);
        findings.extend(
            files
                .filter(|path| path.ends_with(".rs") && !in_every_chapter(path) && !holds(path))
                .map(|path| {
                    Finding::file(path, "has no place in the map of ARCHITECTURE.md; add it")
                }),
        );
    }
    findings
}

/// The terms stand in the order of the alphabet, and each leads to where it is explained.
fn glossary(subject: &Subject<'_>) -> Vec<Finding> {
    let text = subject.ws.tree.text(GLOSSARY).unwrap_or_default();
    let mut findings = Vec::new();
    let mut last = String::new();
    for (line, entry) in entries(text) {
        let term = entry.split("**").next().unwrap_or_default().to_lowercase();
        if term < last {
            let text = format!("`{term}` stands behind `{last}`; keep the order of the alphabet");
            findings.push(Finding::at(GLOSSARY, line, text));
        }
        if !entry.contains("](") {
            let text = format!("`{term}` has no link; lead to where it is explained");
            findings.push(Finding::at(GLOSSARY, line, text));
        }
        last = term;
    }
    findings
}

/// The README of the course says how long all chapters take together.
fn minutes(subject: &Subject<'_>) -> Vec<Finding> {
    let text = subject.ws.tree.text(README).unwrap_or_default();
    let sum: i64 = subject.ws.chapters.iter().filter_map(|c| c.minutes).sum();
    let mut words = text.split(|c: char| !c.is_ascii_digit());
    match words.any(|word| word == sum.to_string()) {
        true => Vec::new(),
        false => vec![Finding::at(
            README,
            line_of(text, "## The chapters"),
            format!("does not say that all chapters take {sum} minutes; say it"),
        )],
    }
}

/// A test that a lesson names is one of the chapter's.
fn named_tests(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (chapter, path, text) in lessons(subject.ws) {
        let files = || subject.ws.tree.below(&chapter.name);
        for line in markdown::lines(text)
            .iter()
            .filter(|line| line.place == Place::Prose)
        {
            for name in line
                .text
                .split('`')
                .skip(1)
                .step_by(2)
                .filter(|name| is_sentence(name))
            {
                let function = format!("fn {name}(");
                if !files().any(|(_, file)| file.text.contains(&function)) {
                    let text = format!("names the test {name}, which is not there; name another");
                    findings.push(Finding::at(&path, line.number, text));
                }
            }
        }
    }
    findings
}

/// Whether a name is that of a test: a sentence of five words and more.
fn is_sentence(name: &str) -> bool {
    let words = name.split('_');
    words.clone().count() >= 5
        && words.into_iter().all(|word| {
            !word.is_empty()
                && word
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        })
}

/// The paths in the first column of the map, with their lines. A name behind the first one of a row lies beside it.
fn map(subject: &Subject<'_>) -> BTreeSet<(usize, String)> {
    let text = subject.ws.tree.text(ARCHITECTURE).unwrap_or_default();
    let mut paths = BTreeSet::new();
    for line in markdown::lines(text) {
        let column = line
            .text
            .strip_prefix("| ")
            .and_then(|row| row.split('|').next());
        let Some(column) = column.filter(|_| line.place == Place::Prose) else {
            continue;
        };
        let mut names = column.split('`').skip(1).step_by(2);
        let Some(first) = names.next() else { continue };
        let folder = first.rsplit_once('/').map_or("", |(folder, _)| folder);
        paths.insert((line.number, first.to_owned()));
        paths.extend(names.map(|name| (line.number, format!("{folder}/{name}"))));
    }
    paths
}

/// The entries of the glossary, each with its line and without the stars it begins with.
fn entries(text: &str) -> Vec<(usize, String)> {
    let mut entries: Vec<(usize, String)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        match (line.strip_prefix("**"), entries.last_mut()) {
            (Some(begin), _) => entries.push((number, begin.to_owned())),
            (None, Some((_, entry))) => {
                entry.push(' ');
                entry.push_str(line);
            }
            (None, None) => {}
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    #[test]
    fn the_map_names_what_is_there() {
        let map = "# Architecture\n\n| `s01_loop/src/bash.rs`, `gone.rs` | x |\n| `s02_tools/src/` | y |\n| `s03_x/` | z |\n";

        assert_eq!(
            found(map_leads_somewhere, &[(ARCHITECTURE, map)]),
            [
                "ARCHITECTURE.md:3: the map names s01_loop/src/gone.rs, which is not there; mend the map",
                "ARCHITECTURE.md:5: the map names s03_x/, which is not there; mend the map",
            ]
        );
    }

    #[test]
    fn a_source_file_has_its_place_in_the_map() {
        let header = "//! Something: for a test.\n";
        assert_eq!(
            found(
                map_is_whole,
                &[
                    ("s02_tools/src/glob.rs", header),
                    ("s02_tools/src/toolbox/tests.rs", header),
                    ("s02_tools/src/teammate.rs", header),
                    ("s02_tools/tests/glob.rs", header),
                ],
            ),
            ["s02_tools/src/glob.rs:1: has no place in the map of ARCHITECTURE.md; add it"]
        );
    }

    #[test]
    fn a_term_stands_in_its_place_and_leads_somewhere() {
        let terms = "# Glossary\n\n**tool**: x.\n[s01](s01_loop/README.md)\n\n**agent**: y. [s01](s01_loop/README.md)\n\n**turn**: z.\n";

        assert_eq!(
            found(glossary, &[(GLOSSARY, terms)]),
            [
                "GLOSSARY.md:6: `agent` stands behind `tool`; keep the order of the alphabet",
                "GLOSSARY.md:8: `turn` has no link; lead to where it is explained",
            ]
        );
    }

    #[test]
    fn a_lesson_names_tests_that_are_there() {
        let lesson = "See `a_stale_answer_is_not_taken` and `a_fresh_answer_is_taken`, `mcp__docs__search` and `bash`.\n";
        let test = "//! Tests: x.\n\nfn a_fresh_answer_is_taken() {}\n";

        assert_eq!(
            found(
                named_tests,
                &[
                    ("s02_tools/README.md", lesson),
                    ("s02_tools/tests/answers.rs", test)
                ],
            ),
            [
                "s02_tools/README.md:1: names the test a_stale_answer_is_not_taken, which is not there; name another"
            ]
        );
    }

    #[test]
    fn the_minutes_add_up() {
        assert_eq!(
            found(
                minutes,
                &[(
                    README,
                    "# Course\n\n## The chapters\n\nThey take 45 minutes.\n"
                )]
            ),
            ["README.md:3: does not say that all chapters take 60 minutes; say it"]
        );
    }
}

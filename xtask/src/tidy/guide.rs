//! Rules for what leads through the course: the map of the code, the glossary, the table of chapters, generated numbers; and
//! for what a clone must not hold.
//!
//! They are read first and changed last, so they are the first to be wrong. Invariant: a crate that is added, moved or
//! removed without its line in the map is a finding.

use super::{Findings, Rule, files, line_of, markdown};
use crate::workspace::Workspace;
use crate::{budget, markers};

pub(super) const RULES: [Rule; 5] = [map, glossary, course, generated, leftovers];

const ARCHITECTURE: &str = "ARCHITECTURE.md";
const GLOSSARY: &str = "GLOSSARY.md";
const README: &str = "README.md";
const SCRIPT: &str = ".ci/run";
/// What no file of a clone holds, written in two parts so that this one holds none of it.
const LEFTOVERS: [(&str, &str); 5] = [
    (
        concat!("/ho", "me/"),
        "a path of one machine; use a relative or temporary one",
    ),
    (
        concat!("/Us", "ers/"),
        "a path of one machine; use a relative or temporary one",
    ),
    (
        concat!("/wo", "rk/"),
        "a path of one machine; use a relative or temporary one",
    ),
    (
        concat!("TO", "DO:"),
        "a note to oneself; do it or file an issue",
    ),
    (
        concat!("FIX", "ME:"),
        "a note to oneself; do it or file an issue",
    ),
];

/// Every path in the map exists, and every crate has a line there: its folder, or the folders in it.
fn map(ws: &Workspace, found: &mut Findings) {
    let named = paths_of_map(ws);
    for (line, path) in &named {
        let is_there = match path.strip_suffix('/') {
            Some(folder) => ws.tree.below(folder).next().is_some(),
            None => ws.tree.file(path).is_some(),
        };
        if !is_there {
            found.at(
                ARCHITECTURE,
                *line,
                format!("the map names {path}, which is not there; mend the map"),
            );
        }
    }
    for folder in ws.members.iter().map(|member| format!("{}/", member.dir)) {
        let has_line =
            |(_, path): &(usize, String)| path.ends_with('/') && path.starts_with(&folder);
        if !named.iter().any(has_line) {
            let manifest = format!("{folder}Cargo.toml");
            found.file(
                &manifest,
                "the crate has no line in the map of ARCHITECTURE.md; add it",
            );
        }
    }
}

/// The paths in the first column of the map, with their lines.
fn paths_of_map(ws: &Workspace) -> Vec<(usize, String)> {
    let text = ws.tree.text(ARCHITECTURE).unwrap_or_default();
    let mut paths = Vec::new();
    for line in markdown::lines(text).iter().filter(|line| !line.in_code) {
        let row = line.text.strip_prefix("| ");
        let column = row.and_then(|row| row.split('|').next());
        let names = column.unwrap_or_default().split('`').skip(1).step_by(2);
        paths.extend(names.map(|name| (line.number, name.to_owned())));
    }
    paths
}

/// The terms stand in the order of the alphabet, and each leads to where it is explained.
fn glossary(ws: &Workspace, found: &mut Findings) {
    let text = ws.tree.text(GLOSSARY).unwrap_or_default();
    let mut last = String::new();
    let head = text.split("\n**").next().unwrap_or_default();
    let mut number = head.matches('\n').count() + 1;
    for entry in text.split("\n**").skip(1) {
        let term = entry.split("**").next().unwrap_or_default().to_lowercase();
        if term < last {
            found.at(
                GLOSSARY,
                number,
                format!("`{term}` stands behind `{last}`; keep the order of the alphabet"),
            );
        }
        if !entry.contains("](") {
            found.at(
                GLOSSARY,
                number,
                format!("`{term}` has no link; lead to where it is explained"),
            );
        }
        number += entry.matches('\n').count() + 1;
        last = term;
    }
}

/// The README of the course lists every chapter, says how long all take together, and gives the command that CI runs.
fn course(ws: &Workspace, found: &mut Findings) {
    let text = ws.tree.text(README).unwrap_or_default();
    for name in ws.chapters.iter().map(|chapter| &chapter.name) {
        if !text
            .lines()
            .any(|line| line.starts_with('|') && line.contains(&format!("]({name}")))
        {
            let row = format!("add a row with [{name}]({name}/README.md)");
            found.file(
                README,
                format!("the table of chapters does not link {name}; {row}"),
            );
        }
    }
    let minutes: i64 = ws
        .chapters
        .iter()
        .filter_map(|chapter| chapter.minutes)
        .sum();
    let mut numbers = text.split(|c: char| !c.is_ascii_digit());
    if !numbers.any(|number| number == minutes.to_string()) {
        let line = line_of(text, "## The chapters");
        found.at(
            README,
            line,
            format!("does not say that all chapters take {minutes} minutes; say it"),
        );
    }
    let script = ws
        .tree
        .text(SCRIPT)
        .unwrap_or_default()
        .lines()
        .map(str::trim);
    let commands: Vec<_> = script.filter(|line| line.starts_with("cargo ")).collect();
    if commands.len() != 1 || !text.lines().any(|line| line.trim() == commands[0]) {
        found.file(SCRIPT, "does not run exactly the one cargo command that README.md gives as its test; run that one");
    }
}

/// Generated passages are there and up to date.
fn generated(ws: &Workspace, found: &mut Findings) {
    let rows = budget::rows(ws);
    let lessons = rows
        .iter()
        .map(|row| (format!("{}/README.md", row.chapter), budget::STEP));
    for (path, name) in lessons.chain([(budget::TABLE_FILE.to_owned(), budget::TABLE)]) {
        if ws
            .tree
            .text(&path)
            .is_some_and(|text| markers::inside(text, name).is_none())
        {
            let wanted = format!("<!-- {name} --><!-- /{name} -->");
            found.file(&path, format!("has no markers {wanted} for the numbers; add them and run cargo x budget --write"));
        }
    }
    for (path, _) in budget::stale(ws) {
        found.file(
            &path,
            "the numbers are out of date; run cargo x budget --write",
        );
    }
}

/// No path of one machine, and no note to oneself.
fn leftovers(ws: &Workspace, found: &mut Findings) {
    for (path, text) in files(ws, "") {
        for (line, text) in text.lines().enumerate() {
            let is_longer = |at: usize| {
                text[..at].ends_with(|c: char| c.is_alphanumeric() || "._-~}>)".contains(c))
            };
            let held = LEFTOVERS
                .iter()
                .find(|(held, _)| text.match_indices(held).any(|(at, _)| !is_longer(at)));
            if let Some((held, advice)) = held {
                found.at(path, line, format!("holds {held}…, {advice}"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{finds, found};
    use super::*;
    use crate::tests::fixture;

    #[test]
    fn the_map_names_what_is_there_and_every_crate() {
        let text = "# Architecture\n\n| `s01_loop/src/gone.rs` | x |\n| `s02_tools/` | y |\n| `s03_x/` | z |\n";
        let wanted = [
            "ARCHITECTURE.md:3: the map names s01_loop/src/gone.rs, which is not there; mend the map",
            "ARCHITECTURE.md:5: the map names s03_x/, which is not there; mend the map",
            "s01_loop/Cargo.toml:1: the crate has no line in the map of ARCHITECTURE.md; add it",
        ];
        assert_eq!(found(map, &[(ARCHITECTURE, text)]), wanted);
    }

    #[test]
    fn a_term_stands_in_its_place_and_leads_somewhere() {
        let terms = "# Glossary\n\n**tool**: x.\n[s01](s01_loop/README.md)\n\n**agent**: y. [s01](s01_loop/README.md)\n\n**turn**: z.\n";
        let wanted: &[&str] = &[
            "6: `agent` stands behind `tool`; keep the order of the alphabet",
            "8: `turn` has no link; lead to where it is explained",
        ];
        finds(glossary, &[(GLOSSARY, terms, wanted)]);
    }

    #[test]
    fn the_course_links_its_chapters_and_its_minutes_add_up() {
        let text = "cargo x ci\n\n## The chapters\n\n| [s01_loop](s01_loop/README.md) |\n\nThey take 45 minutes. See [s02_tools](s02_tools/README.md).\n";
        let wanted: &[&str] = &[
            "1: the table of chapters does not link s02_tools; add a row with [s02_tools](s02_tools/README.md)",
            "3: does not say that all chapters take 60 minutes; say it",
        ];
        finds(course, &[(README, text, wanted)]);
        let other = "1: does not run exactly the one cargo command that README.md gives as its test; run that one";
        for script in ["set -e\ncargo test\n", "cargo x ci\ncargo test\n", ""] {
            finds(course, &[(SCRIPT, script, &[other])]);
        }
    }

    #[test]
    fn numbers_are_there_and_up_to_date() {
        let readme = fixture::readme("s02_tools", &fixture::CHANGES.replace("+2 −1", "+9 −9"));
        let old = "1: the numbers are out of date; run cargo x budget --write";
        let none = "1: has no markers <!-- budget --><!-- /budget --> for the numbers; add them and run cargo x budget --write";
        finds(
            generated,
            &[
                ("s02_tools/README.md", &readme, &[old]),
                ("CONTRIBUTING.md", "# Contributing\n", &[none]),
            ],
        );
    }

    #[test]
    fn nothing_is_left_lying_about() {
        for (held, advice) in LEFTOVERS {
            let wanted = format!("2: holds {held}…, {advice}");
            finds(
                leftovers,
                &[("NOTES.md", &format!("a\ncd {held}ada\n"), &[&wanted])],
            );
            finds(
                leftovers,
                &[(
                    "NOTES.md",
                    &format!("a\nsee target{held}x and https://example.com{held}x\n"),
                    &[],
                )],
            );
        }
    }
}

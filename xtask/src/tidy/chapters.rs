//! Rules for the chapters as a whole: what they say of themselves, and that nothing is written twice.

use std::collections::BTreeMap;

use super::readme::lessons;
use super::{Finding, Rule, Subject, line_of};
use crate::change::{self, Fate};
use crate::imports;
use crate::source::find_word;
use crate::workspace::{CARRIED, Chapter, MAIN, TEAMMATE, Workspace};

pub(super) const RULES: [Rule; 6] = [
    metadata,
    bases,
    rests,
    tools_that_go,
    copies,
    copy_on_change,
];

/// The chapters that may change the teammate's loop.
const OF_TEAMMATE: std::ops::RangeInclusive<u32> = 15..=18;
/// A shorter file may be equal to another by chance.
const LINES_OF_A_COPY: usize = 5;

/// A chapter says what it adds, what rests and how long it takes.
fn metadata(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for chapter in &subject.ws.chapters {
        let mut add =
            |key: &str, text: String| findings.push(in_manifest(subject.ws, chapter, key, text));
        if chapter.adds.as_ref().is_none_or(String::is_empty) {
            add(
                "adds",
                "the chapter does not say what it adds; write adds = \"…\"".to_owned(),
            );
        }
        if chapter.minutes.is_none_or(|minutes| minutes <= 0) {
            add(
                "minutes",
                "the chapter does not say how long it takes; write minutes = 30".to_owned(),
            );
        }
        for rest in chapter
            .rests
            .iter()
            .filter(|rest| !is_earlier(subject.ws, chapter, rest))
        {
            add(
                "rests",
                format!("`{rest}` rests but is no earlier chapter; name chapters"),
            );
        }
    }
    findings
}

/// Every chapter but the first is diffed against an earlier one.
fn bases(subject: &Subject<'_>) -> Vec<Finding> {
    let ws = subject.ws;
    let wrong = ws.chapters.iter().enumerate().filter_map(|(index, chapter)| {
        let text = match &chapter.base {
            None if index == 0 => return None,
            None => "the chapter names no base; write base = \"…\", the chapter it is diffed against".to_owned(),
            Some(base) if is_earlier(ws, chapter, base) => return None,
            Some(base) => format!("the base `{base}` is no earlier chapter; name one"),
        };
        Some(in_manifest(ws, chapter, "base", text))
    });
    wrong.collect()
}

/// What a chapter leaves out rests and is named, and what rests is left out: no mechanism is dropped in silence.
fn rests(subject: &Subject<'_>) -> Vec<Finding> {
    let ws = subject.ws;
    let mut findings = Vec::new();
    for chapter in &ws.chapters {
        let Some(main) = subject.rust(&chapter.path(MAIN)) else {
            continue;
        };
        let used = imports::lessons(&main.source, &chapter.name);
        for earlier in ws.chapters.iter().filter(|it| it.number < chapter.number) {
            let name = &earlier.name;
            let text = match (used.contains_key(name), chapter.rests.contains(name)) {
                (true, true) => {
                    format!("`{name}` rests but {MAIN} imports it; take it out of one of them")
                }
                (false, false) => {
                    format!("{MAIN} imports nothing of `{name}`; use it, or add it to rests")
                }
                _ => continue,
            };
            findings.push(in_manifest(ws, chapter, "rests", text));
        }
    }
    findings
}

/// A tool that the base offers and nobody in the chapter does is named in the lesson.
fn tools_that_go(subject: &Subject<'_>) -> Vec<Finding> {
    let ws = subject.ws;
    let mut findings = Vec::new();
    for (chapter, path, text) in lessons(ws) {
        let tools = change::tools(ws, ws.base(chapter), chapter);
        let (gone, offered): (Vec<_>, Vec<_>) = tools
            .into_iter()
            .flat_map(|(_, tools)| tools)
            .partition(|(_, fate)| *fate == Fate::Removed);
        for (tool, _) in gone {
            let is_offered = offered.iter().any(|(name, _)| *name == tool);
            if !is_offered && find_word(text, &tool).is_none() {
                let line = line_of(text, "## Changes");
                let text = format!("`{tool}` is gone here and the lesson does not say so; name it");
                findings.push(Finding::at(&path, line, text));
            }
        }
    }
    findings
}

/// No file stands in two chapters.
fn copies(subject: &Subject<'_>) -> Vec<Finding> {
    let mut first: BTreeMap<&str, &str> = BTreeMap::new();
    let mut findings = Vec::new();
    for chapter in &subject.ws.chapters {
        for (path, file) in subject.ws.tree.below(&chapter.name) {
            let is_carried = CARRIED.iter().any(|carried| path == chapter.path(carried));
            if is_carried || file.text.lines().count() < LINES_OF_A_COPY {
                continue;
            }
            let original = *first.entry(&file.text).or_insert(path);
            if original != path && !original.starts_with(&chapter.path("")) {
                let text = format!("is a copy of {original}; import what that chapter has");
                findings.push(Finding::file(path, text));
            }
        }
    }
    findings
}

/// A chapter carries the teammate's loop only where it changes.
fn copy_on_change(subject: &Subject<'_>) -> Vec<Finding> {
    let ws = subject.ws;
    let mut findings = Vec::new();
    for chapter in &ws.chapters {
        let Some(text) = ws.text(chapter, TEAMMATE) else {
            continue;
        };
        let path = chapter.path(TEAMMATE);
        if !OF_TEAMMATE.contains(&chapter.number) {
            findings.push(Finding::file(
                &path,
                "only s15 to s18 carry the teammate's loop; import theirs",
            ));
        }
        let earlier = ws.base(chapter).and_then(|base| ws.carrier(base, TEAMMATE));
        if let Some(earlier) = earlier.filter(|earlier| ws.text(earlier, TEAMMATE) == Some(text)) {
            let text = format!(
                "does not change from {}; delete it and import that one",
                earlier.name
            );
            findings.push(Finding::file(&path, text));
        }
    }
    findings
}

fn is_earlier(ws: &Workspace, chapter: &Chapter, name: &str) -> bool {
    ws.chapters
        .iter()
        .any(|other| other.name == name && other.number < chapter.number)
}

fn in_manifest(ws: &Workspace, chapter: &Chapter, key: &str, text: String) -> Finding {
    let manifest = ws.text(chapter, "Cargo.toml").unwrap_or_default();
    let section = line_of(manifest, "[package.metadata.course]");
    let line = match line_of(manifest, &format!("{key} =")) {
        0 => section,
        line => line,
    };
    Finding::at(&chapter.path("Cargo.toml"), line, text)
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;
    use crate::fixture::manifest;

    const MANIFEST: &str = "s02_tools/Cargo.toml";

    #[test]
    fn a_chapter_says_what_it_adds_and_how_long_it_takes() {
        let text = manifest("s02_tools", "", "")
            .replace("minutes = 30\n", "")
            .replace("[]", "[\"s01_loop\", \"cron\"]");

        assert_eq!(
            found(metadata, &[(MANIFEST, &text)]),
            [
                "s02_tools/Cargo.toml:9: the chapter does not say what it adds; write adds = \"…\"",
                "s02_tools/Cargo.toml:9: the chapter does not say how long it takes; write minutes = 30",
                "s02_tools/Cargo.toml:11: `cron` rests but is no earlier chapter; name chapters",
            ]
        );
    }

    #[test]
    fn every_chapter_but_the_first_has_an_earlier_base() {
        let with = |base: &str| manifest("s02_tools", base, "");

        assert_eq!(
            found(bases, &[(MANIFEST, &with(""))]),
            [
                "s02_tools/Cargo.toml:9: the chapter names no base; write base = \"…\", the chapter it is diffed against"
            ]
        );
        assert_eq!(
            found(bases, &[(MANIFEST, &with("base = \"s02_tools\""))]),
            ["s02_tools/Cargo.toml:10: the base `s02_tools` is no earlier chapter; name one"]
        );
    }

    #[test]
    fn what_rests_is_what_main_leaves_out() {
        let rests = manifest("s02_tools", "base = \"s01_loop\"", "")
            .replace("rests = []", "rests = [\"s01_loop\"]");
        assert_eq!(
            found(super::rests, &[(MANIFEST, &rests)]),
            [
                "s02_tools/Cargo.toml:11: `s01_loop` rests but src/main.rs imports it; take it out of one of them"
            ]
        );
        let main = "//! s02 · tools. Start with README.md.\n\nuse s02_tools::toolbox;\n";
        let without = ("s02_tools/src/main.rs", main);
        assert_eq!(
            found(super::rests, &[without]),
            [
                "s02_tools/Cargo.toml:12: src/main.rs imports nothing of `s01_loop`; use it, or add it to rests"
            ]
        );
        assert_eq!(found(super::rests, &[without, (MANIFEST, &rests)]), [""; 0]);
    }

    #[test]
    fn a_tool_does_not_go_in_silence() {
        let pools = [
            (
                "s01_loop/tests/pool.txt",
                "lead: bash, glob, diagram\nsubagent: bash\n",
            ),
            ("s02_tools/tests/pool.txt", "lead: bash\n"),
        ];
        let lesson =
            "# s02\n\n## Changes from s01_loop\n\n`glob` rests. A fine diagrammatic chapter.\n";
        let lesson = ("s02_tools/README.md", lesson);
        assert_eq!(
            found(tools_that_go, &[pools[0], pools[1], lesson]),
            [
                "s02_tools/README.md:3: `diagram` is gone here and the lesson does not say so; name it"
            ]
        );
    }

    #[test]
    fn a_file_stands_in_one_chapter_only() {
        let bash = "//! Bash: runs a command.\n\n/// Runs it.\npub fn run() {\n}\n";

        assert_eq!(
            found(
                copies,
                &[
                    ("s01_loop/src/bash.rs", bash),
                    ("s02_tools/src/shell.rs", bash)
                ]
            ),
            [
                "s02_tools/src/shell.rs:1: is a copy of s01_loop/src/bash.rs; import what that chapter has"
            ]
        );
        assert_eq!(
            found(
                copies,
                &[
                    ("s01_loop/src/bash.rs", bash),
                    ("s01_loop/src/shell.rs", bash)
                ]
            ),
            [""; 0]
        );
    }

    #[test]
    fn the_teammate_is_carried_only_where_it_changes() {
        let old = ("s01_loop/src/teammate.rs", "//! The loop.\n");
        let advice = "only s15 to s18 carry the teammate's loop; import theirs";

        assert_eq!(
            found(copy_on_change, &[old, ("s02_tools/src/teammate.rs", "//! The loop.\n")]),
            [
                format!("s01_loop/src/teammate.rs:1: {advice}"),
                format!("s02_tools/src/teammate.rs:1: {advice}"),
                "s02_tools/src/teammate.rs:1: does not change from s01_loop; delete it and import that one".to_owned(),
            ]
        );
        assert_eq!(found(copy_on_change, &[]), [""; 0]);
    }
}

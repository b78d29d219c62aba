//! Rules for the READMEs: a lesson has the same sections in every chapter, and what it says is checked.

use super::markdown::{self, Line, Place};
use super::{Finding, Rule, Subject};
use crate::workspace::{Chapter, Workspace};
use crate::{markers, session};

pub(super) const RULES: [Rule; 5] = [lesson, sections, in_short, pasted_code, course_table];

const LINES: usize = 150;
const IN_SHORT: &str = "In short";
const HOW: &str = "How it works";
pub(super) const TRY: &str = "Try it";
const BULLETS: usize = 3;

/// The READMEs of the chapters.
pub(super) fn lessons(ws: &Workspace) -> impl Iterator<Item = (&Chapter, String, &str)> {
    ws.chapters.iter().filter_map(|chapter| {
        Some((
            chapter,
            chapter.path("README.md"),
            ws.text(chapter, "README.md")?,
        ))
    })
}

/// A lesson is there, short (its recorded session not counted), says its minutes, and opens with a title and a thesis.
fn lesson(subject: &Subject<'_>) -> Vec<Finding> {
    let ws = subject.ws;
    let missing = ws
        .chapters
        .iter()
        .filter(|chapter| ws.text(chapter, "README.md").is_none());
    let mut findings: Vec<_> = missing
        .map(|chapter| {
            Finding::file(
                &chapter.path("README.md"),
                "there is no README; write the lesson",
            )
        })
        .collect();
    for (chapter, path, text) in lessons(ws) {
        // What a command writes there costs no reader anything but a look.
        let recorded =
            markers::inside(text, session::MARKERS).map_or(0, |text| text.lines().count());
        let length = text.lines().count() - recorded;
        if length > LINES {
            findings.push(Finding::at(
                &path,
                LINES,
                format!("{length} lines; shorten the lesson, {LINES} is the limit"),
            ));
        }
        if front_minutes(text) != chapter.minutes {
            let wanted = chapter
                .minutes
                .map_or("…".to_owned(), |minutes| minutes.to_string());
            let advice = format!("open with a front matter that says minutes: {wanted}");
            findings.push(Finding::file(
                &path,
                format!("the minutes are not those of Cargo.toml; {advice}"),
            ));
        }
        let lines = markdown::lines(text);
        let title = lines
            .iter()
            .position(|line| markdown::heading(line, 1).is_some());
        let thesis = title.and_then(|title| {
            lines[title + 1..]
                .iter()
                .find(|line| !line.text.trim().is_empty())
        });
        if !thesis.is_some_and(is_plain) {
            findings.push(Finding::at(
                &path,
                title.unwrap_or(0),
                "no thesis after the title; say the lesson in a line",
            ));
        }
    }
    findings
}

/// A lesson has these sections in this order.
fn sections(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (chapter, path, text) in lessons(subject.ws) {
        let wanted = wanted_sections(subject.ws, chapter);
        let lines = markdown::lines(text);
        let present: Vec<_> = lines
            .iter()
            .filter_map(|line| Some((line.number, markdown::heading(line, 2)?)))
            .collect();
        let has = |name: &str| present.iter().any(|(_, heading)| *heading == name);
        let before = findings.len();
        for name in wanted.iter().filter(|name| !has(name)) {
            findings.push(Finding::file(
                &path,
                format!("the section `## {name}` is missing; write it"),
            ));
        }
        for (line, heading) in present
            .iter()
            .filter(|(_, heading)| !wanted.iter().any(|name| name == heading))
        {
            findings.push(Finding::at(
                &path,
                *line,
                format!("`## {heading}` is no section of a lesson; move it into one"),
            ));
        }
        let misplaced = present
            .iter()
            .zip(&wanted)
            .find(|((_, heading), name)| heading != name);
        if let Some(((line, heading), name)) = misplaced.filter(|_| findings.len() == before) {
            findings.push(Finding::at(
                &path,
                *line,
                format!("`## {heading}` stands where `## {name}` belongs; reorder"),
            ));
        }
    }
    findings
}

/// The short version is three bullets, and a drawing follows it.
fn in_short(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (_, path, text) in lessons(subject.ws) {
        let lines = markdown::lines(text);
        let section = section(&lines, IN_SHORT);
        let Some(first) = section.first() else {
            continue;
        };
        let bullets = section
            .iter()
            .filter(|line| line.place == Place::Prose && line.text.starts_with("- "))
            .count();
        if bullets != BULLETS {
            let text = format!("{bullets} bullets; write {BULLETS}: problem, mechanism, invariant");
            findings.push(Finding::at(&path, first.number, text));
        }
        if !section.iter().any(|line| line.place == Place::Opening) {
            let text = format!("no diagram before `## {HOW}`; draw one in a code block");
            findings.push(Finding::at(&path, first.number, text));
        }
    }
    findings
}

/// Code in a lesson compiles as a doctest, and diffs are generated.
fn pasted_code(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (_, path, text) in lessons(subject.ws) {
        for line in markdown::lines(text)
            .iter()
            .filter(|line| line.place == Place::Opening)
        {
            let words: Vec<_> = line
                .text
                .trim_start_matches(['`', '~', ' '])
                .split([',', ' '])
                .collect();
            let problem = if words.contains(&"diff") {
                Some("a pasted diff; cargo x diff shows it")
            } else if words.contains(&"ignore") {
                Some("code that is not compiled; make it a doctest or link to the item")
            } else {
                None
            };
            findings.extend(problem.map(|text| Finding::at(&path, line.number, text)));
        }
    }
    findings
}

/// The course's README lists every chapter that exists.
fn course_table(subject: &Subject<'_>) -> Vec<Finding> {
    let readme = subject.ws.tree.text("README.md").unwrap_or_default();
    let listed = |name: &str| {
        readme
            .lines()
            .any(|line| line.starts_with('|') && line.contains(&format!("]({name}")))
    };
    let missing = subject
        .ws
        .chapters
        .iter()
        .filter(|chapter| !listed(&chapter.name));
    missing
        .map(|chapter| {
            let text = format!(
                "the table of chapters does not link {0}; add a row with [{0}]({0}/README.md)",
                chapter.name
            );
            Finding::file("README.md", text)
        })
        .collect()
}

fn wanted_sections(ws: &Workspace, chapter: &Chapter) -> Vec<String> {
    let changes = ws
        .base(chapter)
        .map(|base| format!("Changes from {}", base.name));
    let fixed = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<Vec<_>>()
    };
    let mut wanted = fixed(&[IN_SHORT, HOW]);
    wanted.extend(changes);
    wanted.extend(fixed(&[
        TRY,
        "Predict, then run",
        "Exercises",
        "Left out on purpose",
        "Next",
    ]));
    wanted
}

/// The lines of a section, its heading first; none when it is not there.
pub(super) fn section<'a, 'b>(lines: &'b [Line<'a>], name: &str) -> &'b [Line<'a>] {
    let Some(start) = lines
        .iter()
        .position(|line| markdown::heading(line, 2) == Some(name))
    else {
        return &[];
    };
    let next = lines[start + 1..]
        .iter()
        .position(|line| markdown::heading(line, 2).is_some());
    &lines[start..next.map_or(lines.len(), |next| start + 1 + next)]
}

/// Whether a line is text of a paragraph: no heading, list, table, quotation or code block.
fn is_plain(line: &Line<'_>) -> bool {
    let starts = ["#", "- ", "* ", "|", ">"];
    line.place == Place::Prose && !starts.iter().any(|start| line.text.starts_with(start))
}

/// The number in the front matter's `minutes:`.
fn front_minutes(text: &str) -> Option<i64> {
    let (front, _) = text.strip_prefix("---\n")?.split_once("\n---\n")?;
    front
        .lines()
        .find_map(|line| line.strip_prefix("minutes:"))?
        .trim()
        .parse()
        .ok()
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::found;
    use super::*;
    use crate::fixture::{CHANGES, readme};

    const PATH: &str = "s02_tools/README.md";

    /// What `rule` finds when the lesson of s02 has `old` replaced by `new`.
    pub(in super::super) fn with(rule: Rule, old: &str, new: &str) -> Vec<String> {
        let text = readme("s02_tools", CHANGES);
        assert!(text.contains(old), "{old}");
        found(rule, &[(PATH, &text.replacen(old, new, 1))])
    }

    #[test]
    fn a_lesson_is_short_and_opens_as_lessons_do() {
        assert_eq!(
            with(lesson, "minutes: 30", "minutes: 45"),
            [
                "s02_tools/README.md:1: the minutes are not those of Cargo.toml; \
              open with a front matter that says minutes: 30"
            ]
        );
        assert_eq!(
            with(lesson, "A chapter that shows how it is done.\n", ""),
            ["s02_tools/README.md:5: no thesis after the title; say the lesson in a line"]
        );
        assert_eq!(
            with(lesson, "Nothing.\n", &"Nothing.\n".repeat(150)),
            ["s02_tools/README.md:151: 197 lines; shorten the lesson, 150 is the limit"]
        );
        let recorded = format!(
            "<!-- session -->{}<!-- /session -->\n",
            "a line\n".repeat(150)
        );
        assert_eq!(with(lesson, "Nothing.\n", &recorded), [""; 0]);
    }

    #[test]
    fn a_chapter_has_a_lesson() {
        let root = "[workspace]\nmembers = [\"s03_permission\"]\n";
        let manifest = crate::fixture::manifest("s03_permission", "", "");

        assert_eq!(
            found(
                lesson,
                &[
                    ("Cargo.toml", root),
                    ("s03_permission/Cargo.toml", &manifest)
                ]
            ),
            ["s03_permission/README.md:1: there is no README; write the lesson"]
        );
    }

    #[test]
    fn the_sections_are_there_in_their_order() {
        assert_eq!(
            with(sections, "## Changes from s01_loop", "## What is new"),
            [
                "s02_tools/README.md:1: the section `## Changes from s01_loop` is missing; write it",
                "s02_tools/README.md:23: `## What is new` is no section of a lesson; move it into one",
            ]
        );
        assert_eq!(
            with(
                sections,
                "## Exercises\n\n1. [First](exercises/ex1_first.rs)\n2. [Second](exercises/ex2_second.rs)\n\n## Left out on purpose",
                "## Left out on purpose\n\n## Exercises"
            ),
            [
                "s02_tools/README.md:37: `## Left out on purpose` stands where `## Exercises` belongs; reorder"
            ]
        );
    }

    #[test]
    fn the_short_version_has_three_bullets_and_a_diagram() {
        assert_eq!(
            with(in_short, "- c\n", ""),
            ["s02_tools/README.md:9: 2 bullets; write 3: problem, mechanism, invariant"]
        );
        assert_eq!(
            with(in_short, "```text\na -> b\n```\n", ""),
            [
                "s02_tools/README.md:9: no diagram before `## How it works`; draw one in a code block"
            ]
        );
    }

    #[test]
    fn pasted_code_and_diffs_are_found() {
        assert_eq!(
            with(pasted_code, "```text", "```diff"),
            ["s02_tools/README.md:15: a pasted diff; cargo x diff shows it"]
        );
        assert_eq!(
            with(pasted_code, "```text", "```rust,ignore"),
            [
                "s02_tools/README.md:15: code that is not compiled; make it a doctest or link to the item"
            ]
        );
        assert_eq!(with(pasted_code, "```text", "```rust,no_run"), [""; 0]);
    }

    #[test]
    fn the_table_of_the_course_links_every_chapter() {
        assert_eq!(
            found(
                course_table,
                &[(
                    "README.md",
                    "| [s01_loop](s01_loop/README.md) |\n\nSee [s02_tools](s02_tools/README.md).\n"
                )]
            ),
            [
                "README.md:1: the table of chapters does not link s02_tools; add a row with [s02_tools](s02_tools/README.md)"
            ]
        );
    }
}

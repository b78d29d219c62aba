//! Rules for the READMEs: a lesson has the same sections in every chapter, and is short.

use super::markdown::{self, Line};
use super::{Findings, Rule, line_of};
use crate::workspace::{Chapter, Workspace};
use crate::{markers, session};

pub(super) const RULES: [Rule; 3] = [lesson, sections, in_short];

const LINES: usize = 150;
const IN_SHORT: &str = "In short";
pub(super) const TRY: &str = "Try it";
pub(super) const PREDICT: &str = "Predict, then run";
const BULLETS: usize = 3;

/// The READMEs of the chapters.
pub(super) fn lessons(ws: &Workspace) -> impl Iterator<Item = (&Chapter, String, &str)> {
    let texts = ws
        .chapters
        .iter()
        .map(|chapter| (chapter, ws.text(chapter, "README.md")));
    texts.filter_map(|(chapter, text)| Some((chapter, chapter.path("README.md"), text?)))
}

/// A lesson is there, short (its recorded session not counted), says its minutes, and opens with a title and a thesis.
fn lesson(ws: &Workspace, found: &mut Findings) {
    for chapter in ws
        .chapters
        .iter()
        .filter(|it| ws.text(it, "README.md").is_none())
    {
        found.file(
            &chapter.path("README.md"),
            "there is no README; write the lesson",
        );
    }
    for (chapter, path, text) in lessons(ws) {
        // What a command writes there costs no reader anything but a look.
        let recorded = markers::inside(text, session::MARKERS).unwrap_or_default();
        let length = text.lines().count() - recorded.lines().count();
        if length > LINES {
            found.at(
                &path,
                LINES,
                format!("{length} lines; shorten the lesson, {LINES} is the limit"),
            );
        }
        let minutes = chapter.minutes.unwrap_or_default();
        if !text.starts_with(&format!("---\nminutes: {minutes}\n---\n")) {
            let advice = format!("open with a front matter that says minutes: {minutes}");
            found.file(
                &path,
                format!("the minutes are not those of Cargo.toml; {advice}"),
            );
        }
        let title = line_of(text, "# ");
        let thesis = text
            .lines()
            .skip(title + 1)
            .find(|line| !line.trim().is_empty());
        if !thesis.is_some_and(|line| {
            line.starts_with(|c: char| c.is_alphanumeric() || "`*_[".contains(c))
        }) {
            found.at(
                &path,
                title,
                "no thesis after the title; say the lesson in a line",
            );
        }
    }
}

/// A lesson has these sections in this order.
fn sections(ws: &Workspace, found: &mut Findings) {
    for (chapter, path, text) in lessons(ws) {
        let changes = ws
            .base(chapter)
            .map(|base| format!("Changes from {}", base.name));
        let front = [IN_SHORT, "How it works"]
            .into_iter()
            .chain(changes.as_deref());
        let behind = [TRY, PREDICT, "Exercises", "Left out on purpose", "Next"];
        let wanted: Vec<&str> = front.chain(behind).collect();
        let lines = markdown::lines(text);
        let headings = lines
            .iter()
            .filter_map(|line| Some((line.number, markdown::heading(line, 2)?)));
        let present: Vec<_> = headings.collect();
        let before = found.0.len();
        for name in wanted
            .iter()
            .filter(|name| !present.iter().any(|(_, it)| it == *name))
        {
            found.file(
                &path,
                format!("the section `## {name}` is missing; write it"),
            );
        }
        for (line, heading) in present
            .iter()
            .filter(|(_, heading)| !wanted.contains(heading))
        {
            found.at(
                &path,
                *line,
                format!("`## {heading}` is no section of a lesson; move it into one"),
            );
        }
        let misplaced = present
            .iter()
            .zip(&wanted)
            .find(|((_, heading), name)| heading != *name);
        if let Some(((line, heading), name)) = misplaced.filter(|_| found.0.len() == before) {
            found.at(
                &path,
                *line,
                format!("`## {heading}` stands where `## {name}` belongs; reorder"),
            );
        }
    }
}

/// The short version is three bullets and a drawing; code compiles as a doctest, and diffs are generated.
fn in_short(ws: &Workspace, found: &mut Findings) {
    for (_, path, text) in lessons(ws) {
        let lines = markdown::lines(text);
        let section = section(&lines, IN_SHORT);
        let bullets = section
            .iter()
            .filter(|line| !line.in_code && line.text.starts_with("- "))
            .count();
        let first = section.first().map_or(0, |line| line.number);
        if bullets != BULLETS {
            found.at(
                &path,
                first,
                format!("{bullets} bullets; write {BULLETS}: problem, mechanism, invariant"),
            );
        }
        if !section.iter().any(|line| line.in_code) {
            found.at(
                &path,
                first,
                "no diagram before `## How it works`; draw one in a code block",
            );
        }
        for line in lines
            .iter()
            .filter(|line| line.in_code && line.text.starts_with("```"))
        {
            let words: Vec<_> = line
                .text
                .trim_start_matches('`')
                .split([',', ' '])
                .collect();
            if words.contains(&"diff") {
                found.at(&path, line.number, "a pasted diff; cargo x diff shows it");
            } else if words.contains(&"ignore") {
                found.at(
                    &path,
                    line.number,
                    "code that is not compiled; make it a doctest or link to the item",
                );
            }
        }
    }
}

/// The lines of a section, its heading first; none when it is not there.
pub(super) fn section<'a, 'b>(lines: &'b [Line<'a>], name: &str) -> &'b [Line<'a>] {
    let Some(start) = lines
        .iter()
        .position(|line| markdown::heading(line, 2) == Some(name))
    else {
        return &[];
    };
    let behind = &lines[start + 1..];
    let next = behind
        .iter()
        .position(|line| markdown::heading(line, 2).is_some());
    &lines[start..next.map_or(lines.len(), |next| start + 1 + next)]
}

#[cfg(test)]
mod tests {
    use super::super::tests::{finds, found, with};
    use super::*;
    use crate::tests::fixture::{CHANGES, manifest, readme};

    const PATH: &str = "s02_tools/README.md";

    #[test]
    fn a_lesson_is_there_short_and_opens_as_lessons_do() {
        let minutes = "1: the minutes are not those of Cargo.toml; open with a front matter that says minutes: 30";
        with(lesson, "minutes: 30", "minutes: 45", &[minutes]);
        let thesis = "5: no thesis after the title; say the lesson in a line";
        with(
            lesson,
            "A chapter that shows how it is done.\n",
            "",
            &[thesis],
        );
        let long = "151: 197 lines; shorten the lesson, 150 is the limit";
        with(lesson, "Nothing.\n", &"Nothing.\n".repeat(150), &[long]);
        let recorded = format!(
            "<!-- session -->{}<!-- /session -->\n",
            "a line\n".repeat(150)
        );
        with(lesson, "Nothing.\n", &recorded, &[]);

        let root = (
            "Cargo.toml",
            "[workspace]\nmembers = [\"s03_permission\"]\n",
        );
        let manifest = manifest("s03_permission", "", "");
        let missing = "s03_permission/README.md:1: there is no README; write the lesson";
        assert_eq!(
            found(lesson, &[root, ("s03_permission/Cargo.toml", &manifest)]),
            [missing]
        );
    }

    #[test]
    fn the_sections_are_there_in_their_order() {
        let wanted: &[&str] = &[
            "1: the section `## Changes from s01_loop` is missing; write it",
            "23: `## What is new` is no section of a lesson; move it into one",
        ];
        with(
            sections,
            "## Changes from s01_loop",
            "## What is new",
            wanted,
        );
        let text = readme("s02_tools", CHANGES)
            .replace("## Exercises", "## Left")
            .replace("## Left out on purpose", "## Exercises");
        let text = text.replace("## Left\n", "## Left out on purpose\n");
        let misplaced = "37: `## Left out on purpose` stands where `## Exercises` belongs; reorder";
        finds(sections, &[(PATH, &text, &[misplaced])]);
    }

    #[test]
    fn the_short_version_has_three_bullets_and_a_diagram_and_code_is_compiled() {
        let bullets = "9: 2 bullets; write 3: problem, mechanism, invariant";
        with(in_short, "- c\n", "", &[bullets]);
        let diagram = "9: no diagram before `## How it works`; draw one in a code block";
        with(in_short, "```text\na -> b\n```\n", "", &[diagram]);
        with(
            in_short,
            "```text",
            "```diff",
            &["15: a pasted diff; cargo x diff shows it"],
        );
        let ignored = "15: code that is not compiled; make it a doctest or link to the item";
        with(in_short, "```text", "```rust,ignore", &[ignored]);
        with(in_short, "```text", "```rust,no_run", &[]);
    }
}

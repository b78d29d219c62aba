//! `cargo x budget`: how many lines of the carried files each chapter changes.
//!
//! A chapter is taught from its diff, so the diff must fit on a screen or two. Measured here, enforced by CI.
//! Invariant: the table in CONTRIBUTING.md and the counts in the READMEs are written by this command, never by hand.

use std::fmt::Write;

use anyhow::{Context, Result, bail};

use crate::step::{self, Count};
use crate::workspace::{Chapter, LAST, MAIN, TEAMMATE, Workspace};
use crate::{markers, pool, terminal};

/// Changed lines of all carried files of a chapter, at most.
const LIMIT: usize = 60;
/// The same for the chapter that puts everything together.
const LIMIT_OF_LAST: usize = 120;
/// Changed lines of `teammate.rs` alone, at most.
const LIMIT_OF_TEAMMATE: usize = 40;

/// The file that shows the table.
const TABLE_FILE: &str = "CONTRIBUTING.md";
/// Its columns.
const COLUMNS: [&str; 6] = [
    "chapter",
    "base",
    "main.rs",
    "teammate.rs",
    "changed",
    "limit",
];
/// The name of the markers around the table.
const TABLE: &str = "budget";
/// The name of the markers around the count of `main.rs` in a chapter's README.
const STEP: &str = "step";

/// One chapter's step, measured.
#[derive(Debug, PartialEq)]
pub struct Row {
    /// The chapter's name.
    pub chapter: String,
    /// The name of the chapter it is diffed against.
    pub base: String,
    /// What changes in `main.rs`.
    pub main: Count,
    /// What changes in `teammate.rs`, when it is carried on from an earlier chapter and changes.
    pub teammate: Option<Count>,
    /// Changed lines, at most.
    pub limit: usize,
}

impl Row {
    /// Changed lines of all carried files.
    pub fn changed(&self) -> usize {
        self.main.changed() + self.teammate.unwrap_or_default().changed()
    }

    /// Why the step is too large, if it is.
    pub fn excess(&self) -> Option<String> {
        let all = ("carried files", self.changed(), self.limit);
        let teammate = self.teammate.unwrap_or_default().changed();
        let (of, changed, limit) = [all, ("teammate.rs", teammate, LIMIT_OF_TEAMMATE)]
            .into_iter()
            .find(|(_, changed, limit)| changed > limit)?;
        let chapter = &self.chapter;
        Some(format!(
            "{chapter} changes {changed} lines of {of}; {limit} are allowed"
        ))
    }

    fn cells(&self) -> [String; 6] {
        [
            self.chapter.clone(),
            self.base.clone(),
            self.main.to_string(),
            self.teammate
                .map(|count| count.to_string())
                .unwrap_or_default(),
            self.changed().to_string(),
            self.limit.to_string(),
        ]
    }
}

/// Measures every chapter that has a base.
pub fn rows(ws: &Workspace) -> Vec<Row> {
    ws.chapters
        .iter()
        .filter_map(|chapter| row(ws, chapter))
        .collect()
}

/// The table, as CONTRIBUTING.md shows it.
pub fn markdown(rows: &[Row]) -> String {
    let mut text = format!("| {} |\n|---|---|--:|--:|--:|--:|\n", COLUMNS.join(" | "));
    for row in rows {
        let _ = writeln!(text, "| {} |", row.cells().join(" | "));
    }
    text
}

/// The files with generated parts, with the texts they should have; `None` for one that lacks the markers.
pub fn generated(ws: &Workspace) -> Vec<(String, Option<String>)> {
    let rows = rows(ws);
    let table = format!("\n\n{}\n", markdown(&rows));
    let contributing = ws.tree.text(TABLE_FILE).unwrap_or_default();
    let table = markers::replace(contributing, TABLE, &table);
    let readmes = rows.iter().filter_map(|row| {
        let chapter = ws.chapter(&row.chapter).ok()?;
        let readme = ws.text(chapter, "README.md")?;
        let measured = markers::replace(readme, STEP, &row.main.to_string());
        let counted = measured.map(|text| pool::counted(ws, chapter, &text));
        Some((chapter.path("README.md"), counted))
    });
    [(TABLE_FILE.to_owned(), table)]
        .into_iter()
        .chain(readmes)
        .collect()
}

/// Shows the table, brought up to date when asked to.
///
/// # Errors
/// When a step is over its limit, or a file cannot be written.
pub fn run(ws: &Workspace, write: bool) -> Result<()> {
    if write {
        self::write(ws)?;
    }
    let rows = rows(ws);
    terminal::print(&markdown(&rows))?;
    match rows.iter().find_map(Row::excess) {
        Some(excess) => bail!("{excess}; move control flow into the chapter's library"),
        None => Ok(()),
    }
}

/// Writes what is out of date, and says what was written.
///
/// # Errors
/// When a file cannot be written.
pub fn write(ws: &Workspace) -> Result<()> {
    for (path, text) in generated(ws) {
        let Some(text) = text.filter(|text| ws.tree.text(&path) != Some(text)) else {
            continue;
        };
        std::fs::write(ws.root.join(&path), text).with_context(|| format!("writing {path}"))?;
        terminal::print(&format!("wrote {path}\n"))?;
    }
    Ok(())
}

fn row(ws: &Workspace, chapter: &Chapter) -> Option<Row> {
    let base = ws.base(chapter)?;
    let count = |file| {
        step::pair(ws, base, chapter, file).map(|pair| Count::between(pair.old_text, pair.new_text))
    };
    let is_last = chapter.number == LAST;
    Some(Row {
        chapter: chapter.name.clone(),
        base: base.name.clone(),
        main: count(MAIN)?,
        teammate: count(TEAMMATE),
        limit: if is_last { LIMIT_OF_LAST } else { LIMIT },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture;

    /// A main.rs of `lines` lines that no other chapter has.
    fn main_of(chapter: &str, lines: usize) -> String {
        (0..lines)
            .map(|line| format!("// {chapter} {line}\n"))
            .collect()
    }

    #[test]
    fn a_step_is_measured_against_its_base_and_the_first_chapter_has_none() {
        let ws = fixture::course(&[
            ("s01_loop/src/main.rs", "a\nb\n"),
            ("s02_tools/src/main.rs", "a\nc\nd\n"),
        ]);

        let row = Row {
            chapter: "s02_tools".to_owned(),
            base: "s01_loop".to_owned(),
            main: Count {
                added: 2,
                removed: 1,
            },
            teammate: None,
            limit: 60,
        };
        assert_eq!(rows(&ws), [row]);
    }

    #[test]
    fn a_step_over_its_limit_is_named() {
        let ws = fixture::course(&[
            ("s01_loop/src/main.rs", &main_of("s01", 30)),
            ("s02_tools/src/main.rs", &main_of("s02", 31)),
        ]);

        let excess = rows(&ws)[0].excess().unwrap();

        assert_eq!(
            excess,
            "s02_tools changes 61 lines of carried files; 60 are allowed"
        );
    }

    #[test]
    fn the_teammate_has_a_limit_of_its_own() {
        let ws = fixture::course(&[
            ("s01_loop/src/main.rs", "same\n"),
            ("s02_tools/src/main.rs", "same\n"),
            ("s01_loop/src/teammate.rs", &main_of("s01", 20)),
            ("s02_tools/src/teammate.rs", &main_of("s02", 21)),
        ]);

        let excess = rows(&ws)[0].excess().unwrap();

        assert_eq!(
            excess,
            "s02_tools changes 41 lines of teammate.rs; 40 are allowed"
        );
    }

    #[test]
    fn the_generated_parts_are_rewritten_between_their_markers() {
        let ws = fixture::course(&[
            ("s01_loop/src/main.rs", "a\n"),
            ("s02_tools/src/main.rs", "b\nc\n"),
            (
                "CONTRIBUTING.md",
                "before\n<!-- budget -->\nold\n<!-- /budget -->\nafter\n",
            ),
            (
                "s02_tools/README.md",
                "`main.rs` <!-- step -->?<!-- /step -->\n",
            ),
        ]);

        let table = "| chapter | base | main.rs | teammate.rs | changed | limit |\n|---|---|--:|--:|--:|--:|\n\
            | s02_tools | s01_loop | +2 −1 |  | 3 | 60 |\n";
        let contributing = format!("before\n<!-- budget -->\n\n{table}\n<!-- /budget -->\nafter\n");
        let readme = "`main.rs` <!-- step -->+2 −1<!-- /step -->\n".to_owned();
        assert_eq!(
            generated(&ws),
            [
                ("CONTRIBUTING.md".to_owned(), Some(contributing)),
                ("s02_tools/README.md".to_owned(), Some(readme))
            ]
        );
    }
}

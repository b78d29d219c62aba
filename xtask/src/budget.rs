//! `cargo x budget`: how many lines of the carried files each chapter changes.
//!
//! A chapter is taught from its diff, so the diff must fit on a screen or two. Measured here, enforced by CI.
//! Invariant: the table in CONTRIBUTING.md and the counts in the READMEs are written by this command, never by hand.

use anyhow::{Context, Result, bail};

use crate::step::{self, Count};
use crate::workspace::{Chapter, LAST, MAIN, TEAMMATE, Workspace};
use crate::{markers, pool, terminal};

/// Changed lines of all carried files of a chapter, at most; more for the one that puts everything together.
const LIMITS: [usize; 2] = [60, 120];
/// Changed lines of `teammate.rs` alone, at most.
const LIMIT_OF_TEAMMATE: usize = 40;
/// The file that shows the table, and the name of the markers around it.
const TABLE: (&str, &str) = ("CONTRIBUTING.md", "budget");
/// The name of the markers around the count of `main.rs` in a chapter's README.
const STEP: &str = "step";
const HEAD: &str =
    "| chapter | base | main.rs | teammate.rs | changed | limit |\n|---|---|--:|--:|--:|--:|\n";

/// One chapter's step, measured.
struct Row<'a> {
    chapter: &'a Chapter,
    base: &'a Chapter,
    main: Count,
    /// When it is carried on from an earlier chapter and changes.
    teammate: Option<Count>,
}

impl Row<'_> {
    fn changed(&self) -> usize {
        self.main.changed() + self.teammate.unwrap_or_default().changed()
    }

    fn limit(&self) -> usize {
        LIMITS[usize::from(self.chapter.number == LAST)]
    }

    /// Why the step is too large, if it is.
    fn excess(&self) -> Option<String> {
        let teammate = self.teammate.unwrap_or_default().changed();
        let measured = [
            ("carried files", self.changed(), self.limit()),
            ("teammate.rs", teammate, LIMIT_OF_TEAMMATE),
        ];
        let (of, changed, limit) = measured.into_iter().find(|(_, it, limit)| it > limit)?;
        let chapter = &self.chapter.name;
        Some(format!("{chapter} changes {changed} lines of {of}; {limit} are allowed"))
    }

    fn line(&self) -> String {
        let teammate = self.teammate.map(|count| count.to_string());
        format!(
            "| {} | {} | {} | {} | {} | {} |\n",
            self.chapter.name,
            self.base.name,
            self.main,
            teammate.unwrap_or_default(),
            self.changed(),
            self.limit()
        )
    }
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
    terminal::print(&table(&rows))?;
    match rows.iter().find_map(Row::excess) {
        Some(excess) => bail!("{excess}; move control flow into the chapter's library"),
        None => Ok(()),
    }
}

/// Every chapter that has a base.
fn rows(ws: &Workspace) -> Vec<Row<'_>> {
    let row = |chapter| {
        let base = ws.base(chapter)?;
        let count = |file| Some(step::pair(ws, base, chapter, file)?.count());
        let (main, teammate) = (count(MAIN)?, count(TEAMMATE));
        Some(Row {
            chapter,
            base,
            main,
            teammate,
        })
    };
    ws.chapters.iter().filter_map(row).collect()
}

fn table(rows: &[Row]) -> String {
    HEAD.to_owned() + &rows.iter().map(Row::line).collect::<String>()
}

/// The files with generated parts, with the texts they should have; `None` for one that lacks the markers.
pub fn generated(ws: &Workspace) -> Vec<(String, Option<String>)> {
    let rows = rows(ws);
    let (path, name) = TABLE;
    let text = ws.tree.text(path).unwrap_or_default();
    let text = markers::replace(text, name, &format!("\n\n{}\n", table(&rows)));
    let mut files = vec![(path.to_owned(), text)];
    for Row { chapter, main, .. } in rows {
        if let Some(readme) = ws.text(chapter, "README.md") {
            let measured = markers::replace(readme, STEP, &main.to_string());
            let counted = measured.map(|text| pool::counted(ws, chapter, &text));
            files.push((chapter.path("README.md"), counted));
        }
    }
    files
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture;

    #[test]
    fn a_step_over_its_limit_is_named() {
        let lines = |chapter: &str, lines: usize| format!("// {chapter}\n").repeat(lines);
        let excess = |file: &str, old: usize, new: usize| {
            let ws = fixture::course(&[
                ("s01_loop/src/main.rs", "same\n"),
                ("s02_tools/src/main.rs", "same\n"),
                (&format!("s01_loop/src/{file}"), &lines("s01", old)),
                (&format!("s02_tools/src/{file}"), &lines("s02", new)),
            ]);
            rows(&ws)[0].excess()
        };
        assert_eq!(excess("main.rs", 30, 30), None);
        let over = "s02_tools changes 61 lines of carried files; 60 are allowed";
        assert_eq!(excess("main.rs", 30, 31).unwrap(), over);
        assert_eq!(excess("teammate.rs", 20, 20), None);
        let over = "s02_tools changes 41 lines of teammate.rs; 40 are allowed";
        assert_eq!(excess("teammate.rs", 20, 21).unwrap(), over);
    }

    #[test]
    fn the_generated_parts_are_rewritten_between_their_markers() {
        let old = "before\n<!-- budget -->\nold\n<!-- /budget -->\nafter\n";
        let ws = fixture::course(&[
            ("s01_loop/src/main.rs", "a\n"),
            ("s02_tools/src/main.rs", "b\nc\n"),
            ("CONTRIBUTING.md", old),
            ("s02_tools/README.md", "`main.rs` <!-- step -->?<!-- /step -->\n"),
        ]);
        let row = "| s02_tools | s01_loop | +2 −1 |  | 3 | 60 |\n";
        let table = format!("before\n<!-- budget -->\n\n{HEAD}{row}\n<!-- /budget -->\nafter\n");
        let readme = "`main.rs` <!-- step -->+2 −1<!-- /step -->\n".to_owned();
        let expected = [
            ("CONTRIBUTING.md".to_owned(), Some(table)),
            ("s02_tools/README.md".to_owned(), Some(readme)),
        ];
        assert_eq!(generated(&ws), expected);
    }
}

//! The data of the page "Any two chapters": what `cargo x diff` finds between each two, made beforehand.
//!
//! The page works from a file, where a script may read nothing but other scripts, so this writes a script.
//! Invariant: the page draws the hunks that are here and computes none, so it shows what `cargo x diff` prints.

use std::fmt::Write;

use serde_json::{Map, Value, json};
use similar::{DiffTag, TextDiff};

use crate::rust;
use crate::workspace::{CARRIED, Chapter, Workspace};
use crate::{diff, header, pool};

/// The file that the page loads.
pub const FILE: &str = "pairs-data.js";

/// The script: `window.PAIRS = {chapters, texts, diffs}`.
pub fn script(ws: &Workspace) -> String {
    let texts = ws.carried().map(|(chapter, file, text)| (chapter.path(file), file, text));
    let texts: Vec<_> = texts.collect();
    let mut diffs = Map::new();
    for (old, (_, file, old_text)) in texts.iter().enumerate() {
        for (new, (_, other, new_text)) in texts.iter().enumerate() {
            if old != new && file == other {
                diffs.insert(format!("{old}-{new}"), hunks(old_text, new_text).into());
            }
        }
    }
    let chapters = ws.chapters.iter().map(|chapter| about(ws, chapter, &texts));
    let bodies = texts.iter().map(|(path, _, text)| json!([path, text]));
    let pairs = json!({
        "chapters": chapters.collect::<Vec<_>>(),
        "texts": bodies.collect::<Vec<_>>(),
        "diffs": diffs,
    });
    format!("window.PAIRS = {pairs};\n")
}

/// The hunks between two texts, with three lines around each: the first lines of both, counted from 0, then runs of
/// lines that are in both (`=`), in the old text only (`-`), in the new text only (`+`). `0 0 =3-1+2=3;20 21 =3+4=3`.
fn hunks(old: &str, new: &str) -> String {
    let diff = TextDiff::from_lines(old, new);
    let hunk = |ops: &Vec<similar::DiffOp>| {
        let mut text = match ops.first() {
            Some(op) => format!("{} {} ", op.old_range().start, op.new_range().start),
            None => String::new(),
        };
        for op in ops {
            let (old, new) = (op.old_range().len(), op.new_range().len());
            let _ = match op.tag() {
                DiffTag::Equal => write!(text, "={old}"),
                DiffTag::Delete => write!(text, "-{old}"),
                DiffTag::Insert => write!(text, "+{new}"),
                DiffTag::Replace => write!(text, "-{old}+{new}"),
            };
        }
        text
    };
    let groups = diff.grouped_ops(3);
    groups.iter().map(hunk).collect::<Vec<_>>().join(";")
}

/// A chapter: its names, its base, the texts it runs, its tools, its imports and its new files.
fn about(ws: &Workspace, chapter: &Chapter, texts: &[(String, &str, &str)]) -> Value {
    let (mut runs, mut imported) = (Map::new(), Map::new());
    for file in CARRIED {
        let carrier = ws.carrier(chapter, file).map(|carrier| (carrier, carrier.path(file)));
        let index = |path: &String| texts.iter().position(|(known, ..)| known == path);
        if let Some((carrier, index)) = carrier.and_then(|(it, path)| Some((it, index(&path)?))) {
            runs.insert(file.to_owned(), index.into());
            let lessons = rust::lessons(texts[index].2, &carrier.name);
            imported.insert(file.to_owned(), json!(lessons));
        }
    }
    let files = diff::files_of(ws, chapter).into_iter().map(|(path, text)| {
        let sentence = header::first_sentence(text).unwrap_or_default();
        json!([path, text.lines().count(), sentence])
    });
    let tools = pool::read(ws, chapter).into_iter();
    let base = ws.base(chapter);
    json!({
        "name": chapter.name,
        "base": base.and_then(|base| ws.chapters.iter().position(|other| other == base)),
        "rests": chapter.rests,
        "runs": runs,
        "tools": tools.map(|(agent, tools)| (agent.to_owned(), json!(tools))).collect::<Map<_, _>>(),
        "imports": imported,
        "files": files.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture;

    /// That the page draws what the command prints of them is tried in the browser.
    #[test]
    fn hunks_are_runs_of_lines_that_both_have_or_one_of_them() {
        let first = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\n";
        let second = "a\nB\nc\nd\ne\nf\ng\nh\ni\nj\nk\nnew\nl\nM\n";
        assert_eq!(hunks(first, second), "0 0 =1-1+1=3;8 8 =3+1=1-1+1");
        assert_eq!(hunks(second, first), "0 0 =1-1+1=3;8 8 =3-1=1-1+1");
        assert_eq!(hunks("a\n", "a\n"), "");
    }

    #[test]
    fn each_chapter_knows_what_it_runs_and_offers() {
        let teammate = "//! The \"teammate\".\n\nuse s01_loop::x;\n";
        let ws = fixture::course(&[
            ("s01_loop/src/teammate.rs", teammate),
            ("s02_tools/tests/pool.txt", "lead: bash, glob\n"),
        ]);
        let script = script(&ws);
        let pairs = script.strip_prefix("window.PAIRS = ").unwrap().trim_end();
        let pairs: Value = serde_json::from_str(pairs.trim_end_matches(';')).unwrap();
        let mut second = pairs["chapters"][1].clone();
        second["files"].take();
        let expected = json!({
            "name": "s02_tools",
            "base": 0,
            "rests": [],
            "runs": {"src/main.rs": 2, "src/teammate.rs": 1},
            "tools": {"lead": ["bash", "glob"]},
            "imports": {
                "src/main.rs": {"s01_loop": ["bash"], "s02_tools": ["toolbox"]},
                "src/teammate.rs": {"s01_loop": ["x"]},
            },
            "files": null,
        });
        assert_eq!(second, expected);
        assert_eq!(pairs["chapters"][1]["files"][0][0], "src/toolbox.rs");
        assert_eq!(pairs["texts"][1][1], teammate);
        let compared: Vec<_> = pairs["diffs"].as_object().unwrap().keys().collect();
        assert_eq!(compared, ["0-2", "2-0"]);
    }
}

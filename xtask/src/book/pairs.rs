//! The data of the page "Any two chapters": what `cargo x diff` finds between each two, made beforehand.
//!
//! The page works from a file, where a script may read nothing but other scripts, so this writes a script.
//! Invariant: the page draws the hunks that are here and computes none, so it shows what `cargo x diff` prints.

use std::fmt::Write;

use similar::{DiffTag, TextDiff};

use crate::rust;
use crate::workspace::{CARRIED, Chapter, Workspace};
use crate::{diff, header, pool};

/// The file that the page loads.
pub const FILE: &str = "pairs-data.js";

/// The script: `window.PAIRS = {chapters, texts, diffs}`.
pub fn script(ws: &Workspace) -> String {
    let mut texts: Vec<(String, &str, &str)> = Vec::new();
    for file in CARRIED {
        for chapter in &ws.chapters {
            if let Some(text) = ws.text(chapter, file) {
                texts.push((chapter.path(file), file, text));
            }
        }
    }
    let chapters = ws.chapters.iter().map(|chapter| about(ws, chapter, &texts));
    let mut diffs = Vec::new();
    for (old, (_, file, old_text)) in texts.iter().enumerate() {
        for (new, (_, other, new_text)) in texts.iter().enumerate() {
            if old != new && file == other {
                diffs.push(format!(
                    "\"{old}-{new}\":{}",
                    json(&hunks(old_text, new_text))
                ));
            }
        }
    }
    let bodies = texts
        .iter()
        .map(|(path, _, text)| format!("[{},{}]", json(path), json(text)));
    format!(
        "window.PAIRS = {{\n\"chapters\":[\n{}\n],\n\"texts\":[\n{}\n],\n\"diffs\":{{\n{}\n}}}};\n",
        chapters.collect::<Vec<_>>().join(",\n"),
        bodies.collect::<Vec<_>>().join(",\n"),
        diffs.join(",\n")
    )
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
fn about(ws: &Workspace, chapter: &Chapter, texts: &[(String, &str, &str)]) -> String {
    let mut runs = Vec::new();
    let mut imported = Vec::new();
    for file in CARRIED {
        let Some(carrier) = ws.carrier(chapter, file) else {
            continue;
        };
        let path = carrier.path(file);
        let Some(index) = texts.iter().position(|(known, ..)| *known == path) else {
            continue;
        };
        runs.push(format!("{}:{index}", json(file)));
        let lessons = rust::lessons(texts[index].2, &carrier.name);
        imported.push(format!("{}:{}", json(file), lists(lessons.iter())));
    }
    let tools = pool::read(ws, chapter);
    let tools = tools.iter().map(|(agent, tools)| (agent, tools));
    let files = diff::files_of(ws, chapter).into_iter().map(|(path, text)| {
        let sentence = header::first_sentence(text).unwrap_or_default();
        format!(
            "[{},{},{}]",
            json(path),
            text.lines().count(),
            json(&sentence)
        )
    });
    let base = ws
        .base(chapter)
        .and_then(|base| ws.chapters.iter().position(|other| other == base));
    format!(
        "{{\"name\":{},\"base\":{},\"rests\":[{}],\"runs\":{{{}}},\"tools\":{},\"imports\":{{{}}},\"files\":[{}]}}",
        json(&chapter.name),
        base.map_or("null".to_owned(), |base| base.to_string()),
        chapter
            .rests
            .iter()
            .map(|name| json(name))
            .collect::<Vec<_>>()
            .join(","),
        runs.join(","),
        lists(tools),
        imported.join(","),
        files.collect::<Vec<_>>().join(","),
    )
}

/// Lists of names by name, as a JSON object.
fn lists<K: AsRef<str>, N: AsRef<str>>(
    named: impl Iterator<Item = (K, impl IntoIterator<Item = N>)>,
) -> String {
    let entries = named.map(|(name, list)| {
        let list: Vec<_> = list.into_iter().map(|item| json(item.as_ref())).collect();
        format!("{}:[{}]", json(name.as_ref()), list.join(","))
    });
    format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
}

/// A JSON string that is good in a script, too.
pub fn json(text: &str) -> String {
    let mut json = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            '\n' => json.push_str("\\n"),
            _ if c.is_control() || ['\u{2028}', '\u{2029}'].contains(&c) => {
                let _ = write!(json, "\\u{:04x}", c as u32);
            }
            _ => json.push(c),
        }
    }
    json + "\""
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::step;
    use crate::terminal::Paint;

    /// Draws hunks as the page does.
    fn drawn(old: &str, new: &str) -> String {
        let (old_lines, new_lines): (Vec<_>, Vec<_>) =
            (old.lines().collect(), new.lines().collect());
        let mut text = String::new();
        for hunk in hunks(old, new).split(';').filter(|hunk| !hunk.is_empty()) {
            let mut parts = hunk.splitn(3, ' ');
            let mut number = || parts.next().unwrap().parse::<usize>().unwrap();
            let (mut from, mut to) = (number(), number());
            let mut runs = parts.next().unwrap();
            while let Some(sign) = runs.chars().next() {
                let end = runs[1..]
                    .find(['=', '-', '+'])
                    .map_or(runs.len(), |end| end + 1);
                for _ in 0..runs[1..end].parse::<usize>().unwrap() {
                    let (mark, line) = match sign {
                        '+' => ('+', new_lines[to]),
                        '-' => ('-', old_lines[from]),
                        _ => (' ', old_lines[from]),
                    };
                    from += usize::from(sign != '+');
                    to += usize::from(sign != '-');
                    text.push_str(&format!("{mark}{line}\n"));
                }
                runs = &runs[end..];
            }
        }
        text
    }

    #[test]
    fn the_page_shows_the_lines_that_the_command_shows() {
        let first = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\n";
        let second = "a\nB\nc\nd\ne\nf\ng\nh\ni\nj\nk\nnew\nl\nM\n";
        let ws = fixture::course(&[
            ("s01_loop/src/main.rs", first),
            ("s02_tools/src/main.rs", second),
        ]);
        let (one, two) = (ws.chapter("s01").unwrap(), ws.chapter("s02").unwrap());
        for (from, to) in [(one, two), (two, one)] {
            let pair = step::pair(&ws, from, to, "src/main.rs").unwrap();
            let shown = diff::unified("src/main.rs", &pair, Paint::PLAIN);
            let lines = shown.lines().skip(2).filter(|line| !line.starts_with("@@"));
            let lines: String = lines.map(|line| format!("{line}\n")).collect();
            assert_eq!(drawn(pair.old_text, pair.new_text), lines);
        }
        assert_eq!(hunks("a\n", "a\n"), "");
    }

    #[test]
    fn each_chapter_knows_what_it_runs_and_offers() {
        let ws = fixture::course(&[
            (
                "s01_loop/src/teammate.rs",
                "//! The \"teammate\".\n\nuse s01_loop::x;\n",
            ),
            ("s02_tools/tests/pool.txt", "lead: bash, glob\n"),
        ]);

        let script = script(&ws);

        let second = "{\"name\":\"s02_tools\",\"base\":0,\"rests\":[],\"runs\":{\"src/main.rs\":1,\"src/teammate.rs\":2},\
            \"tools\":{\"lead\":[\"bash\",\"glob\"]},\"imports\":{\"src/main.rs\":{\"s01_loop\":[\"bash\"],\"s02_tools\":[\"toolbox\"]},\
            \"src/teammate.rs\":{\"s01_loop\":[\"x\"]}},\"files\":[[\"src/toolbox.rs\",";
        assert!(script.contains(second), "{script}");
        assert!(script.contains("//! The \\\"teammate\\\".\\n"));
        assert!(
            script.contains("\n\"0-1\":\"")
                && script.contains("\n\"1-0\":\"")
                && !script.contains("\"0-2\"")
        );
    }

    #[test]
    fn whatever_a_file_holds_is_a_string() {
        assert_eq!(
            json("a\"b\\c\n\u{1b}\u{2028}é"),
            "\"a\\\"b\\\\c\\n\\u001b\\u2028é\""
        );
    }
}

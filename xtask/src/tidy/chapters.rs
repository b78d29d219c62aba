//! Rules for the chapters: what their manifests say, and that the carried files hold control flow and nothing else.
//!
//! What a carried file holds is shown again in every later diff, so it must be short, steady and worth reading.

use toml::{Table, Value};

use super::{Findings, Rule, line_of};
use crate::rust::{self, has_word};
use crate::workspace::{CARRIED, Chapter, MAIN, TEAMMATE, Workspace, chapter_number};

pub(super) const RULES: [Rule; 7] = [
    metadata,
    rests,
    dependencies,
    copy_on_change,
    main_header,
    only_the_agent,
    control_flow,
];

/// The chapters that may change the teammate's loop.
const OF_TEAMMATE: std::ops::RangeInclusive<u32> = 15..=18;
const TO_LIBRARY: &str = "move it into the chapter's library";
/// What a carried file does not do, and what to do instead.
#[rustfmt::skip]
const FORBIDDEN: [(&[&str], &str); 5] = [
    (&["println!", "print!", "eprintln!", "eprint!", "dbg!", "stdin", "stdout"], "print through Repl or a hook"),
    (&["select!"], "put it behind one tested, cancel-safe method of the library"),
    (&["sleep", "spawn", "Duration", "Instant", "fs::", "process::Command", "env::var", "env::args"], TO_LIBRARY),
    (&["json!"], "derive the schema from a type of the library"),
    (&["#[test]", "#[tokio::test]", "#[cfg(test)]"], "move it into tests/"),
];
/// The last lines of a `main.rs` whose agent a test plays: it is private, so its player is a module of the binary.
const PLAYER: &str = "\n#[cfg(test)]\nmod story;\n";

/// A chapter says what it adds, which earlier chapter it is diffed against, and how long it takes.
fn metadata(ws: &Workspace, found: &mut Findings) {
    for (index, chapter) in ws.chapters.iter().enumerate() {
        let mut add = |key: &str, text: &str| in_manifest(ws, chapter, key, text, found);
        if chapter.adds.as_ref().is_none_or(String::is_empty) {
            add(
                "adds",
                "the chapter does not say what it adds; write adds = \"…\"",
            );
        }
        if chapter.minutes.is_none_or(|minutes| minutes <= 0) {
            add(
                "minutes",
                "the chapter does not say how long it takes; write minutes = 30",
            );
        }
        if index > 0 && ws.base(chapter).is_none() {
            add(
                "base",
                "the chapter names no earlier chapter as its base; write base = \"…\"",
            );
        }
    }
}

/// What a chapter leaves out rests and is named, and what rests is left out.
fn rests(ws: &Workspace, found: &mut Findings) {
    for (index, chapter) in ws.chapters.iter().enumerate() {
        let main = ws.text(chapter, MAIN).unwrap_or_default();
        let used = rust::lessons(main, &chapter.name);
        for name in ws.chapters[..index].iter().map(|earlier| &earlier.name) {
            let problem = match (used.contains_key(name), chapter.rests.contains(name)) {
                (false, false) => {
                    format!("{MAIN} imports nothing of `{name}`; use it, or add it to rests")
                }
                (true, true) => {
                    format!("`{name}` rests but {MAIN} imports it; take it out of one of them")
                }
                _ => continue,
            };
            in_manifest(ws, chapter, "rests", &problem, found);
        }
    }
}

/// A chapter depends on earlier chapters, every other member on none; each inherits the workspace's lints. That versions come
/// from the workspace is cargo-deny's to say.
fn dependencies(ws: &Workspace, found: &mut Findings) {
    for member in &ws.members {
        let path = format!("{}/Cargo.toml", member.dir);
        let text = ws.tree.text(&path).unwrap_or_default();
        let own = chapter_number(&member.dir);
        let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
        let tables = kinds
            .iter()
            .filter_map(|kind| member.manifest.get(*kind)?.as_table());
        for name in tables.flat_map(Table::keys) {
            let number = chapter_number(name);
            if number.is_some() && number >= own {
                let text_ = format!("depends on {name}, which is no earlier chapter; remove it");
                found.at(&path, line_of(text, name), text_);
            }
        }
        let lints = member
            .manifest
            .get("lints")
            .and_then(|lints| lints.get("workspace"));
        if lints != Some(&Value::Boolean(true)) {
            found.file(
                &path,
                "lints are not inherited; write [lints] workspace = true",
            );
        }
    }
}

/// A chapter carries the teammate's loop only where it changes.
fn copy_on_change(ws: &Workspace, found: &mut Findings) {
    for chapter in &ws.chapters {
        let text = ws.text(chapter, TEAMMATE);
        let base = ws.base(chapter).and_then(|base| ws.carrier(base, TEAMMATE));
        let path = chapter.path(TEAMMATE);
        if text.is_some() && !OF_TEAMMATE.contains(&chapter.number) {
            found.file(
                &path,
                "only s15 to s18 carry the teammate's loop; import theirs",
            );
        } else if let Some(base) =
            base.filter(|base| text.is_some() && ws.text(base, TEAMMATE) == text)
        {
            let text = format!(
                "does not change from {}; delete it and import that one",
                base.name
            );
            found.file(&path, text);
        }
    }
}

/// The carried files of all chapters, without a player.
fn carried(ws: &Workspace) -> impl Iterator<Item = (&Chapter, String, &str)> {
    let chapters = ws.chapters.iter();
    let files = chapters.flat_map(|chapter| CARRIED.map(|file| (chapter, file)));
    files.filter_map(|(chapter, file)| {
        let text = ws.text(chapter, file)?;
        let text = text.strip_suffix(PLAYER).unwrap_or(text);
        Some((chapter, chapter.path(file), text))
    })
}

/// `main.rs` opens with one header line that names the chapter's number and its lesson.
fn main_header(ws: &Workspace, found: &mut Findings) {
    for (chapter, path, text) in carried(ws).filter(|(_, path, _)| path.ends_with(MAIN)) {
        let (start, end) = (
            format!("//! {} · ", chapter.short()),
            ". Start with README.md.",
        );
        let mut lines = text.lines();
        let lesson = lines
            .next()
            .and_then(|line| line.strip_prefix(&start)?.strip_suffix(end));
        let goes_on = lines.next().is_some_and(|line| line.starts_with("//!"));
        if goes_on || lesson.is_none_or(str::is_empty) {
            let text = format!(
                "the header is not one line of the usual form; write `{start}the lesson{end}`"
            );
            found.file(&path, text);
        }
    }
}

/// `main.rs` declares `Agent` with `new` and `turn`, and `main`.
fn only_the_agent(ws: &Workspace, found: &mut Findings) {
    for (_, path, text) in carried(ws).filter(|(_, path, _)| path.ends_with(MAIN)) {
        for (number, line) in text.lines().enumerate() {
            let words: Vec<_> = line.split([' ', '(', '<', ':', ';', '{']).collect();
            let is_kind =
                |word: &&str| matches!(*word, "fn" | "struct" | "enum" | "trait" | "type" | "mod");
            let front = ["", "pub", "async"];
            let at = words.iter().position(|word| !front.contains(word));
            let name = at
                .filter(|at| is_kind(&words[*at]))
                .and_then(|at| words.get(at + 1));
            if let Some(name) = name.filter(|name| !["new", "turn", "main", "Agent"].contains(name))
            {
                let text = format!(
                    "main.rs declares `{name}`; it holds Agent, new, turn and main only, {TO_LIBRARY}"
                );
                found.at(&path, number, text);
            }
        }
    }
}

/// No printing, waiting, starting, reading, schemas, tests or prompts; and no chapter's number outside `use`, so that a line
/// means the same in every chapter.
fn control_flow(ws: &Workspace, found: &mut Findings) {
    for (_, path, text) in carried(ws) {
        let mut in_use = false;
        for (number, line) in text.lines().enumerate().skip(1) {
            let code = line.split("//").next().unwrap_or_default();
            for (words, advice) in FORBIDDEN {
                if let Some(word) = words.iter().find(|word| has_word(code, word)) {
                    found.at(
                        &path,
                        number,
                        format!("a carried file holds `{word}`; {advice}"),
                    );
                }
            }
            if line.ends_with('\\') {
                found.at(
                    &path,
                    number,
                    format!("a text of several lines in a carried file; {TO_LIBRARY}"),
                );
            }
            in_use |= line.starts_with("use ");
            if let Some(word) = chapter_named(code).filter(|_| !in_use) {
                let advice =
                    "import the item with `use`, or take the name from env!(\"CARGO_PKG_NAME\")";
                found.at(
                    &path,
                    number,
                    format!("`{word}` names a chapter in the code; {advice}"),
                );
            }
            in_use &= !line.contains(';');
        }
    }
}

/// The first word of `text` that is a chapter's name or short name.
fn chapter_named(text: &str) -> Option<&str> {
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    let is_short = |word: &str| word.len() == 3 && chapter_number(&format!("{word}_x")).is_some();
    words.find(|word| is_short(word) || chapter_number(word).is_some())
}

fn in_manifest(ws: &Workspace, chapter: &Chapter, key: &str, text: &str, found: &mut Findings) {
    let manifest = ws.text(chapter, "Cargo.toml").unwrap_or_default();
    let line = line_of(manifest, &format!("{key} ="));
    found.at(&chapter.path("Cargo.toml"), line, text);
}

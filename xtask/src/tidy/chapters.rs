//! Rules for the chapters as a whole: what their manifests say, and that nothing is written twice or dropped in silence.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::lessons::lessons;
use super::{Findings, Rule, line_of};
use crate::change::{self, Fate};
use crate::pool;
use crate::rust::{self, has_word};
use crate::workspace::{CARRIED, Chapter, LAST, MAIN, TEAMMATE, Workspace, chapter_number};

pub(super) const RULES: [Rule; 6] = [
    metadata,
    rests,
    tools_that_go,
    manifests,
    copies,
    copy_on_change,
];

/// The chapters that may change the teammate's loop.
const OF_TEAMMATE: std::ops::RangeInclusive<u32> = 15..=18;
/// A shorter file may be equal to another by chance.
const LINES_OF_A_COPY: usize = 5;

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
        match &chapter.base {
            None if index > 0 => add(
                "base",
                "the chapter names no base; write base = \"…\", the chapter it is diffed against",
            ),
            Some(base) if ws.base(chapter).is_none() => {
                add(
                    "base",
                    &format!("the base `{base}` is no earlier chapter; name one"),
                );
            }
            _ => {}
        }
    }
}

/// What a chapter leaves out rests and is named, and what rests is left out.
fn rests(ws: &Workspace, found: &mut Findings) {
    for (index, chapter) in ws.chapters.iter().enumerate() {
        let Some(main) = ws.text(chapter, MAIN) else {
            continue;
        };
        let used = rust::lessons(main, &chapter.name);
        let earlier = ws.chapters[..index].iter().map(|earlier| &earlier.name);
        let known: Vec<_> = earlier.collect();
        for name in known
            .iter()
            .filter(|name| !used.contains_key(**name) && !chapter.rests.contains(name))
        {
            let text = format!("{MAIN} imports nothing of `{name}`; use it, or add it to rests");
            in_manifest(ws, chapter, "rests", &text, found);
        }
        for name in &chapter.rests {
            let problem = match known.contains(&name) {
                true if !used.contains_key(name) => continue,
                true => format!("but {MAIN} imports it; take it out of one of them"),
                false => "but is no earlier chapter; name chapters".to_owned(),
            };
            in_manifest(
                ws,
                chapter,
                "rests",
                &format!("`{name}` rests {problem}"),
                found,
            );
        }
    }
}

/// A tool that the base offers and nobody in the chapter does is named in the lesson; the last chapter offers all.
fn tools_that_go(ws: &Workspace, found: &mut Findings) {
    for (chapter, path, text) in lessons(ws) {
        let before = ws.chapters.iter().filter(|it| it.number < chapter.number);
        let before: Vec<_> = before
            .filter(|it| chapter.number == LAST || ws.base(chapter) == Some(it))
            .collect();
        let tools = before
            .iter()
            .flat_map(|before| change::tools(ws, Some(before), chapter));
        let (mut gone, offered): (Vec<_>, Vec<_>) = tools
            .flat_map(|(_, tools)| tools)
            .partition(|(_, fate)| *fate == Fate::Removed);
        let lead = pool::read(ws, chapter)
            .into_iter()
            .find(|(agent, _)| *agent == "lead");
        for tool in lead.into_iter().flat_map(|(_, tools)| tools) {
            if chapter.number == LAST && !has_word(text, tool) {
                found.file(
                    &path,
                    format!("the lesson does not name `{tool}`; this one has all tools"),
                );
            }
        }
        gone.retain(|(tool, _)| !offered.iter().any(|(name, _)| name == tool));
        gone.sort_by(|(one, _), (other, _)| one.cmp(other));
        gone.dedup();
        for (tool, _) in gone {
            if chapter.number == LAST {
                found.file(
                    &path,
                    format!("`{tool}` is offered by an earlier chapter only; this one has all"),
                );
            } else if !has_word(text, &tool) {
                let line = line_of(text, "## Changes");
                found.at(
                    &path,
                    line,
                    format!("`{tool}` is gone here and the lesson does not say so; name it"),
                );
            }
        }
    }
}

/// A chapter depends on earlier chapters, every other member on none; versions, edition, licence and lints are said
/// once, in the workspace's manifest.
fn manifests(ws: &Workspace, found: &mut Findings) {
    let inherits = |table: Option<&Value>, key: &str| {
        let value = table.and_then(|table| table.get(key)?.get("workspace"));
        value == Some(&Value::Boolean(true))
    };
    for member in &ws.members {
        let path = format!("{}/Cargo.toml", member.dir);
        let text = ws.tree.text(&path).unwrap_or_default();
        let mut add = |key: &str, problem: String| found.at(&path, line_of(text, key), problem);
        for (table, name) in dependencies(&member.manifest) {
            let (own, number) = (chapter_number(&member.dir), chapter_number(name));
            if number.is_some() && number >= own && own.is_some() {
                add(
                    name,
                    format!("depends on {name}, which is no earlier chapter; remove it"),
                );
            } else if number.is_some() && own.is_none() {
                add(
                    name,
                    format!("depends on {name}; {} depends on no chapter", member.dir),
                );
            }
            if !inherits(Some(table), name) {
                add(
                    name,
                    format!(
                        "{name} is not taken from the workspace; write {name}.workspace = true"
                    ),
                );
            }
        }
        for key in ["edition", "license", "rust-version"] {
            if !inherits(member.manifest.get("package"), key) {
                add(
                    key,
                    format!("{key} is not inherited; write {key}.workspace = true"),
                );
            }
        }
        if member
            .manifest
            .get("lints")
            .and_then(|lints| lints.get("workspace"))
            .is_none()
        {
            add(
                "[lints",
                "lints are not inherited; write [lints] workspace = true".to_owned(),
            );
        }
    }
}

/// All dependencies of a manifest, of every kind and for every target, each with its table.
fn dependencies(manifest: &Table) -> impl Iterator<Item = (&Value, &str)> {
    const KINDS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];
    let targets = manifest.get("target").and_then(Value::as_table);
    let targets = targets
        .into_iter()
        .flat_map(Table::values)
        .filter_map(Value::as_table);
    std::iter::once(manifest)
        .chain(targets)
        .flat_map(|table| KINDS.iter().filter_map(|kind| table.get(*kind)))
        .flat_map(|table| {
            table
                .as_table()
                .into_iter()
                .flat_map(move |names| names.keys().map(move |name| (table, name.as_str())))
        })
}

/// No file stands in two chapters.
fn copies(ws: &Workspace, found: &mut Findings) {
    let mut first: BTreeMap<&str, &str> = BTreeMap::new();
    for chapter in &ws.chapters {
        for (path, file) in ws.tree.below(&chapter.name) {
            let is_carried = CARRIED.iter().any(|carried| path == chapter.path(carried));
            if is_carried || file.text.lines().count() < LINES_OF_A_COPY {
                continue;
            }
            let original = *first.entry(&file.text).or_insert(path);
            if original != path && !original.starts_with(&chapter.path("")) {
                found.file(
                    path,
                    format!("is a copy of {original}; import what that chapter has"),
                );
            }
        }
    }
}

/// A chapter carries the teammate's loop only where it changes.
fn copy_on_change(ws: &Workspace, found: &mut Findings) {
    for chapter in &ws.chapters {
        let Some(text) = ws.text(chapter, TEAMMATE) else {
            continue;
        };
        let path = chapter.path(TEAMMATE);
        if !OF_TEAMMATE.contains(&chapter.number) {
            found.file(
                &path,
                "only s15 to s18 carry the teammate's loop; import theirs",
            );
        }
        let earlier = ws.base(chapter).and_then(|base| ws.carrier(base, TEAMMATE));
        if let Some(earlier) = earlier.filter(|earlier| ws.text(earlier, TEAMMATE) == Some(text)) {
            found.file(
                &path,
                format!(
                    "does not change from {}; delete it and import that one",
                    earlier.name
                ),
            );
        }
    }
}

fn in_manifest(ws: &Workspace, chapter: &Chapter, key: &str, text: &str, found: &mut Findings) {
    let manifest = ws.text(chapter, "Cargo.toml").unwrap_or_default();
    let line = match line_of(manifest, &format!("{key} =")) {
        0 => line_of(manifest, "[package.metadata.course]"),
        line => line,
    };
    found.at(&chapter.path("Cargo.toml"), line, text);
}

#[cfg(test)]
mod tests {
    use super::super::tests::{finds, found};
    use super::*;
    use crate::tests::fixture::manifest;

    const MANIFEST: &str = "s02_tools/Cargo.toml";
    const BASE: &str = "base = \"s01_loop\"";

    #[test]
    fn a_chapter_says_what_it_adds_and_how_long_it_takes() {
        let text = manifest("s02_tools", "", "").replace("minutes = 30\n", "");
        let wanted: &[&str] = &[
            "9: the chapter does not say what it adds; write adds = \"…\"",
            "9: the chapter does not say how long it takes; write minutes = 30",
            "9: the chapter names no base; write base = \"…\", the chapter it is diffed against",
        ];
        let own = manifest("s02_tools", "adds = \"x\"\nbase = \"s02_tools\"", "");
        let later = "11: the base `s02_tools` is no earlier chapter; name one";
        finds(
            metadata,
            &[(MANIFEST, &text, wanted), (MANIFEST, &own, &[later])],
        );
    }

    #[test]
    fn what_rests_is_what_main_leaves_out() {
        let resting = |names: &str| {
            let text = manifest("s02_tools", BASE, "");
            text.replace("rests = []", &format!("rests = [{names}]"))
        };
        let used = "11: `s01_loop` rests but src/main.rs imports it; take it out of one of them";
        let unknown = "11: `cron` rests but is no earlier chapter; name chapters";
        finds(
            rests,
            &[(
                MANIFEST,
                &resting("\"s01_loop\", \"cron\""),
                &[used, unknown],
            )],
        );

        let main = "//! s02 · tools. Start with README.md.\n\nuse s02_tools::toolbox;\n";
        let without = ("s02_tools/src/main.rs", main);
        let silent = "s02_tools/Cargo.toml:12: src/main.rs imports nothing of `s01_loop`; use it, or add it to rests";
        assert_eq!(found(rests, &[without]), [silent]);
        assert_eq!(
            found(rests, &[without, (MANIFEST, &resting("\"s01_loop\""))]),
            [""; 0]
        );
    }

    #[test]
    fn a_tool_does_not_go_in_silence() {
        let pool = (
            "s01_loop/tests/pool.txt",
            "lead: bash, glob, diagram\nsubagent: bash\n",
        );
        let lesson =
            "# s02\n\n## Changes from s01_loop\n\n`glob` rests. A fine diagrammatic chapter.\n";
        let mut course = vec![
            pool,
            ("s02_tools/tests/pool.txt", "lead: bash\n"),
            ("s02_tools/README.md", lesson),
        ];
        let silent =
            "s02_tools/README.md:3: `diagram` is gone here and the lesson does not say so; name it";
        assert_eq!(found(tools_that_go, &course), [silent]);

        let root = "[workspace]\nmembers = [\"s01_loop\", \"s02_tools\", \"s20_full\"]\n";
        let last = manifest("s20_full", "base = \"s02_tools\"", "");
        let diagram = ("s20_full/tests/pool.txt", "lead: bash, diagram\n");
        course.extend([
            ("Cargo.toml", root),
            ("s20_full/Cargo.toml", &last),
            diagram,
            ("s20_full/README.md", "# s20: bash\n"),
        ]);
        let unnamed =
            "s20_full/README.md:1: the lesson does not name `diagram`; this one has all tools";
        let missing =
            "s20_full/README.md:1: `glob` is offered by an earlier chapter only; this one has all";
        assert_eq!(found(tools_that_go, &course), [silent, unnamed, missing]);
    }

    #[test]
    fn manifests_look_back_and_inherit() {
        let own = "anyhow = \"1\"\nserde = { workspace = true, features = [\"rc\"] }\ns02_tools.workspace = true\n";
        let text = manifest("s01_loop", "adds = \"the loop\"", own)
            .replace("edition.workspace = true", "edition = \"2021\"")
            .replace(
                "[lints]\nworkspace = true\n",
                "[target.'cfg(unix)'.dependencies]\nnix = { path = \"../nix\" }\n",
            );
        let wanted: &[&str] = &[
            "16: anyhow is not taken from the workspace; write anyhow.workspace = true",
            "18: depends on s02_tools, which is no earlier chapter; remove it",
            "21: nix is not taken from the workspace; write nix.workspace = true",
            "4: edition is not inherited; write edition.workspace = true",
            "1: lints are not inherited; write [lints] workspace = true",
        ];
        finds(
            manifests,
            &[("s01_loop/Cargo.toml", &text, wanted), ("x.md", "", &[])],
        );

        let root = "[workspace]\nmembers = [\"mock_servers\"]\n";
        let text = manifest("mock_servers", "", "s01_loop.workspace = true\n");
        let course = [("Cargo.toml", root), ("mock_servers/Cargo.toml", &text)];
        let examiner =
            "mock_servers/Cargo.toml:16: depends on s01_loop; mock_servers depends on no chapter";
        assert_eq!(found(manifests, &course), [examiner]);
    }

    #[test]
    fn a_file_stands_in_one_chapter_only() {
        let bash = "//! Bash: runs a command.\n\n/// Runs it.\npub fn run() {\n}\n";
        let course = |copy| [("s01_loop/src/bash.rs", bash), (copy, bash)];
        let copy = "s02_tools/src/shell.rs:1: is a copy of s01_loop/src/bash.rs; import what that chapter has";
        assert_eq!(found(copies, &course("s02_tools/src/shell.rs")), [copy]);
        assert_eq!(found(copies, &course("s01_loop/src/shell.rs")), [""; 0]);
    }

    #[test]
    fn the_teammate_is_carried_only_where_it_changes() {
        let text = "//! The loop.\n";
        let course =
            ["s01_loop/src/teammate.rs", "s02_tools/src/teammate.rs"].map(|path| (path, text));
        let advice = "only s15 to s18 carry the teammate's loop; import theirs";
        let [one, two] = course.map(|(path, _)| format!("{path}:1: {advice}"));
        let same = "s02_tools/src/teammate.rs:1: does not change from s01_loop; delete it and import that one";
        assert_eq!(found(copy_on_change, &course), [one, two, same.to_owned()]);
    }
}

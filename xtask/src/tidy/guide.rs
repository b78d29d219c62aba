//! Rules for what leads through the course: the map of the code, the table of chapters, links, generated numbers; and for
//! what a clone must not hold.
//!
//! They are read first and changed last, so they are the first to be wrong. Links to other sites are not followed (a check needs
//! no network), and paths with `::` are rustdoc's to check.

use std::collections::{BTreeMap, BTreeSet};

use toml::Table;

use super::{Findings, files, line_at, markdown};
use crate::budget;
use crate::workspace::{Workspace, chapter_number};

const ARCHITECTURE: &str = "ARCHITECTURE.md";
const README: &str = "README.md";
const OF_A_MACHINE: &str = "a path of one machine; use a relative or temporary one";
const TO_ONESELF: &str = "a note to oneself; do it or file an issue";
/// What no file of a clone holds, written in two parts so that this one holds none of it.
const LEFTOVERS: [(&str, &str); 5] = [
    (concat!("/ho", "me/"), OF_A_MACHINE),
    (concat!("/Us", "ers/"), OF_A_MACHINE),
    (concat!("/wo", "rk/"), OF_A_MACHINE),
    (concat!("TO", "DO:"), TO_ONESELF),
    (concat!("FIX", "ME:"), TO_ONESELF),
];
/// The rooms of `support/` that are for tests.
const FOR_TESTS: [&str; 2] = ["rehearsal", "testkit"];

/// Every crate has a line in the map, every path there exists; a crate inherits the workspace's lints and runs its tests; and
/// of `support/` a chapter's program uses the helpers only.
pub(super) fn members(ws: &Workspace, found: &mut Findings) {
    let map = ws.tree.text(ARCHITECTURE).unwrap_or_default();
    let mut named = markdown::codes(map);
    named.retain(|(.., opens)| *opens);
    for (at, path, _) in &named {
        if !ws.tree.holds(path) {
            let text = format!("the map names {path}, which is not there; mend the map");
            found.at(ARCHITECTURE, line_at(map, *at), text);
        }
    }
    for member in &ws.members {
        let path = format!("{}/Cargo.toml", member.dir);
        let mut dirs = named.iter().map(|(_, it, _)| it.trim_end_matches('/'));
        if !dirs.any(|it| it == member.dir) {
            let text = "the crate has no line in the map of ARCHITECTURE.md; add it";
            found.file(&path, text);
        }
        let table = |name: &str| member.manifest.get(name).and_then(|it| it.as_table());
        if table("lints").is_none_or(|lints| !lints.contains_key("workspace")) {
            let text = "lints are not inherited; write [lints] workspace = true";
            found.file(&path, text);
        }
        let tests = |(_, text): &(&str, &str)| text.contains("#[test]") || text.contains("::test]");
        let is_off = |lib: &Table| lib.get("test").and_then(|it| it.as_bool()) == Some(false);
        let sources = format!("{}/src", member.dir);
        if table("lib").is_some_and(is_off) && ws.tree.below(&sources).any(|it| tests(&it)) {
            let text = "src/ has tests that do not run; take `test = false` out of [lib]";
            found.file(&path, text);
        }
        let used = table("dependencies").into_iter().flat_map(Table::keys);
        let mut used = used.filter(|_| chapter_number(&member.dir).is_some());
        if let Some(name) = used.find(|name| FOR_TESTS.contains(&name.as_str())) {
            let text = format!("depends on {name}, which is for tests; make it a dev-dependency");
            found.file(&path, text);
        }
    }
}

/// The README of the course lists every chapter.
pub(super) fn chapters(ws: &Workspace, found: &mut Findings) {
    let text = ws.tree.text(README).unwrap_or_default();
    for name in ws.chapters.iter().map(|chapter| &chapter.name) {
        let row = format!("| [{name}]({name}/README.md) |");
        if !text.contains(&row) {
            let text = format!("the table of chapters has no row that begins with {row}; add it");
            found.file(README, text);
        }
    }
}

/// Generated passages are there and up to date.
pub(super) fn generated(ws: &Workspace, found: &mut Findings) {
    for (path, text) in budget::generated(ws) {
        let problem = match text {
            None => "has no markers for the numbers; add those of the other files",
            Some(text) if ws.tree.text(&path) != Some(&text) => "the numbers are out of date",
            Some(_) => continue,
        };
        found.file(&path, format!("{problem}; run cargo x budget --write"));
    }
}

/// No path of one machine, and no note to oneself, but in data that others wrote.
pub(super) fn leftovers(ws: &Workspace, found: &mut Findings) {
    let goes_on =
        |text: &str| text.ends_with(|c: char| c.is_alphanumeric() || "._-~}>)".contains(c));
    for (path, text) in files(ws, "").filter(|(path, _)| !path.contains("/data/")) {
        for (line, text) in text.lines().enumerate() {
            let places = |held| text.match_indices(held).map(|(at, _)| at);
            let holds = |held| places(held).any(|at| !goes_on(&text[..at]));
            if let Some((held, advice)) = LEFTOVERS.iter().find(|(held, _)| holds(held)) {
                found.at(path, line, format!("holds {held}…, {advice}"));
            }
        }
    }
}

/// Every relative link of a Markdown file names a file, and its anchor a heading.
pub(super) fn links(ws: &Workspace, found: &mut Findings) {
    for (path, text) in files(ws, ".md") {
        for (range, target) in markdown::links(text) {
            if let Some(problem) = problem(ws, path, &target) {
                let text_ = format!("the link {target} leads {problem}");
                found.at(path, line_at(text, range.start), text_);
            }
        }
    }
}

/// Where a link from the file `from` leads that leads nowhere.
fn problem(ws: &Workspace, from: &str, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") || target.contains("::") {
        return None;
    }
    let (relative, anchor) = target.split_once('#').unwrap_or((target, ""));
    let Some(path) = markdown::resolve(from, relative) else {
        return Some("out of the repository; link to a file in it".to_owned());
    };
    if !ws.tree.holds(&path) {
        return Some(format!("nowhere; there is no {path}"));
    }
    let text = ws.tree.text(&path)?;
    let is_there = anchor.is_empty() || !path.ends_with(".md") || anchors(text).contains(anchor);
    (!is_there).then(|| format!("nowhere; {path} has no heading #{anchor}"))
}

/// The anchors that GitHub and mdBook give to the headings of a file.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    let anchor = |(.., heading): (_, _, String)| {
        let is_dropped = |c: char| !c.is_alphanumeric() && !" -_".contains(c);
        let name = heading.to_lowercase().replace(is_dropped, "");
        let name = name.trim().replace(' ', "-");
        let count = taken.entry(name.clone()).or_default();
        *count += 1;
        match *count {
            1 => name,
            count => format!("{name}-{}", count - 1),
        }
    };
    markdown::headings(text).into_iter().map(anchor).collect()
}

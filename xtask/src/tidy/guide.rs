//! Rules for what leads through the course: the map of the code, the table of chapters, links, generated numbers; and for
//! what a clone must not hold.
//!
//! They are read first and changed last, so they are the first to be wrong. Links to other sites are not followed (a check needs
//! no network), and paths with `::` are rustdoc's to check.

use std::collections::BTreeMap;

use super::{Findings, Rule, files, line_of, markdown};
use crate::workspace::Workspace;
use crate::{budget, markers};

pub(super) const RULES: [Rule; 5] = [map, course, generated, leftovers, links];

const ARCHITECTURE: &str = "ARCHITECTURE.md";
const README: &str = "README.md";
const SCRIPT: &str = ".ci/run";
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

/// Every path in the map exists, and every crate has a line there: its folder, or the folders in it.
fn map(ws: &Workspace, found: &mut Findings) {
    let text = ws.tree.text(ARCHITECTURE).unwrap_or_default();
    let mut named = Vec::new();
    for line in markdown::lines(text).iter().filter(|line| !line.in_code) {
        let column = line
            .text
            .strip_prefix("| ")
            .and_then(|row| row.split('|').next());
        let names = column.unwrap_or_default().split('`').skip(1).step_by(2);
        named.extend(names.map(|name| (line.number, name)));
    }
    for (line, path) in &named {
        if ws.tree.file(path).is_none()
            && ws.tree.below(path.trim_end_matches('/')).next().is_none()
        {
            found.at(
                ARCHITECTURE,
                *line,
                format!("the map names {path}, which is not there; mend the map"),
            );
        }
    }
    for folder in ws.members.iter().map(|member| format!("{}/", member.dir)) {
        if !named
            .iter()
            .any(|(_, path)| path.ends_with('/') && path.starts_with(&folder))
        {
            let text = "the crate has no line in the map of ARCHITECTURE.md; add it";
            found.file(&format!("{folder}Cargo.toml"), text);
        }
    }
}

/// The README of the course lists every chapter, says how long all take together, and gives the command that CI runs.
fn course(ws: &Workspace, found: &mut Findings) {
    let text = ws.tree.text(README).unwrap_or_default();
    for name in ws.chapters.iter().map(|chapter| &chapter.name) {
        let link = format!("]({name}");
        if !text
            .lines()
            .any(|line| line.starts_with('|') && line.contains(&link))
        {
            let row = format!("add a row with [{name}]({name}/README.md)");
            found.file(
                README,
                format!("the table of chapters does not link {name}; {row}"),
            );
        }
    }
    let minutes: i64 = ws
        .chapters
        .iter()
        .filter_map(|chapter| chapter.minutes)
        .sum();
    let mut numbers = text.split(|c: char| !c.is_ascii_digit());
    if !numbers.any(|number| number == minutes.to_string()) {
        let text_ = format!("does not say that all chapters take {minutes} minutes; say it");
        found.at(README, line_of(text, "## The chapters"), text_);
    }
    let script = ws.tree.text(SCRIPT).unwrap_or_default();
    let mut commands = script
        .lines()
        .filter(|line| line.trim().starts_with("cargo "));
    let only = commands.next().filter(|_| commands.next().is_none());
    if !only.is_some_and(|only| text.lines().any(|line| line.trim() == only.trim())) {
        found.file(SCRIPT, "does not run exactly the one cargo command that README.md gives as its test; run that one");
    }
}

/// Generated passages are there and up to date.
fn generated(ws: &Workspace, found: &mut Findings) {
    let rows = budget::rows(ws).into_iter();
    let lessons = rows.map(|row| (format!("{}/README.md", row.chapter), budget::STEP));
    for (path, name) in lessons.chain([(budget::TABLE_FILE.to_owned(), budget::TABLE)]) {
        let text = ws.tree.text(&path);
        if text.is_some_and(|text| markers::inside(text, name).is_none()) {
            let wanted = format!("<!-- {name} --><!-- /{name} -->");
            let text = format!(
                "has no markers {wanted} for the numbers; add them and run cargo x budget --write"
            );
            found.file(&path, text);
        }
    }
    for (path, _) in budget::stale(ws) {
        found.file(
            &path,
            "the numbers are out of date; run cargo x budget --write",
        );
    }
}

/// No path of one machine, and no note to oneself.
fn leftovers(ws: &Workspace, found: &mut Findings) {
    let goes_on =
        |text: &str| text.ends_with(|c: char| c.is_alphanumeric() || "._-~}>)".contains(c));
    for (path, text) in files(ws, "") {
        for (line, text) in text.lines().enumerate() {
            let holds = |held: &str| {
                text.match_indices(held)
                    .any(|(at, _)| !goes_on(&text[..at]))
            };
            if let Some((held, advice)) = LEFTOVERS.iter().find(|(held, _)| holds(held)) {
                found.at(path, line, format!("holds {held}…, {advice}"));
            }
        }
    }
}

/// Every relative link of a Markdown file names a file, and its anchor a heading.
fn links(ws: &Workspace, found: &mut Findings) {
    for (path, text) in files(ws, ".md") {
        for (range, target) in markdown::links(text) {
            if let Some(problem) = problem(ws, path, &target) {
                let line = text[..range.start].matches('\n').count();
                found.at(path, line, format!("the link {target} leads {problem}"));
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
    if ws.tree.file(&path).is_none() && ws.tree.below(&path).next().is_none() {
        return Some(format!("nowhere; there is no {path}"));
    }
    let text = ws
        .tree
        .text(&path)
        .filter(|_| path.ends_with(".md") && !anchor.is_empty())?;
    let is_there = anchors(text).any(|known| known == anchor);
    (!is_there).then(|| format!("nowhere; {path} has no heading #{anchor}"))
}

/// The anchors that GitHub and mdBook give to the headings of a file.
fn anchors(text: &str) -> impl Iterator<Item = String> {
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    let lines = markdown::lines(text).into_iter();
    let headings =
        lines.filter_map(|line| (1..=6).find_map(|level| markdown::heading(&line, level)));
    headings.map(move |heading| {
        let is_dropped = |c: char| !c.is_alphanumeric() && !" -_".contains(c);
        let name = heading
            .to_lowercase()
            .replace(is_dropped, "")
            .replace(' ', "-");
        let count = taken.entry(name.clone()).or_default();
        *count += 1;
        if *count == 1 {
            name
        } else {
            format!("{name}-{}", *count - 1)
        }
    })
}

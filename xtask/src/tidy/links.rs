//! Rules for links: a link between files of the repository leads somewhere.
//!
//! Links to other sites are not followed (a check needs no network), and paths with `::` are rustdoc's to check.

use std::collections::BTreeSet;

use super::{Findings, Rule, files, markdown};
use crate::workspace::Workspace;

pub(super) const RULES: [Rule; 1] = [links];

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
    (!anchors(text).contains(anchor)).then(|| format!("nowhere; {path} has no heading #{anchor}"))
}

/// The anchors that GitHub and mdBook give to the headings of a file.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for line in markdown::lines(text) {
        let Some(heading) = (1..=6).find_map(|level| markdown::heading(&line, level)) else {
            continue;
        };
        let kept = heading
            .to_lowercase()
            .replace(|c: char| !c.is_alphanumeric() && !" -_".contains(c), "");
        let name = kept.replace(' ', "-");
        let mut others = (1..).map(|count| format!("{name}-{count}"));
        let is_taken = anchors.contains(&name);
        let other = others
            .find(|name| !anchors.contains(name))
            .filter(|_| is_taken);
        anchors.insert(other.unwrap_or(name));
    }
    anchors
}

#[cfg(test)]
mod tests {
    use super::super::tests::found;
    use super::*;

    fn in_notes(text: &str) -> Vec<String> {
        let more = "# More\n\n## What's `left`, and why\n\n## More\n";
        found(links, &[("docs/NOTES.md", text), ("docs/MORE.md", more)])
    }

    #[test]
    fn a_link_leads_somewhere() {
        for link in [
            "[a](MORE.md)",
            "[`a`](../s01_loop/src/bash.rs)",
            "[a](../s01_loop)",
            "[a](MORE.md#whats-left-and-why) and [b](MORE.md#more-1)",
            "# Here\n\n[a](#here)",
            "[a](https://example.com/x) [b](mailto:ada@example.com) [c](crate::Client)",
            "[a]\n\n[a]: <MORE.md> \"more\"",
            "`[a](nowhere.md)`\n\n```text\n[a](nowhere.md)\n```",
        ] {
            assert_eq!(in_notes(link), [""; 0], "{link}");
        }
        for (link, problem) in [
            (
                "[a](LESS.md)",
                "LESS.md leads nowhere; there is no docs/LESS.md",
            ),
            (
                "[a]\n\n[a]: LESS.md",
                "LESS.md leads nowhere; there is no docs/LESS.md",
            ),
            (
                "[`a`](../../x.md)",
                "../../x.md leads out of the repository; link to a file in it",
            ),
            (
                "[a](/x.md)",
                "/x.md leads out of the repository; link to a file in it",
            ),
            (
                "[a](MORE.md#less)",
                "MORE.md#less leads nowhere; docs/MORE.md has no heading #less",
            ),
            (
                "[a](#less)",
                "#less leads nowhere; docs/NOTES.md has no heading #less",
            ),
        ] {
            assert_eq!(
                in_notes(link),
                [format!("docs/NOTES.md:1: the link {problem}")]
            );
        }
    }
}

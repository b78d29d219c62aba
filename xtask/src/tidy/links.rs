//! Rules for links: a link between files of the repository leads somewhere.
//!
//! Links to other sites are not followed (a check needs no network), and paths with `::` are rustdoc's to check.

use std::collections::BTreeSet;

use super::markdown::{self, Line, Place};
use super::{Finding, Rule, Subject};

pub(super) const RULES: [Rule; 1] = [links];

/// Every relative link of a Markdown file names a file, and its anchor a heading.
fn links(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let tree = &subject.ws.tree;
    for (path, file) in tree.iter().filter(|(path, _)| path.ends_with(".md")) {
        for line in markdown::lines(&file.text)
            .iter()
            .filter(|line| line.place == Place::Prose)
        {
            for target in targets(line) {
                findings.extend(
                    problem(subject, path, &target)
                        .map(|text| Finding::at(path, line.number, text)),
                );
            }
        }
    }
    findings
}

/// What is wrong with a link from the file `from`, if anything is.
fn problem(subject: &Subject<'_>, from: &str, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") || target.contains("::") {
        return None;
    }
    let tree = &subject.ws.tree;
    let (relative, anchor) = target
        .split_once('#')
        .map_or((target, None), |(path, anchor)| (path, Some(anchor)));
    let Some(path) = markdown::resolve(from, relative) else {
        return Some(format!(
            "the link {target} leads out of the repository; link to a file in it"
        ));
    };
    if tree.file(&path).is_none() && tree.below(&path).next().is_none() {
        return Some(format!(
            "the link {target} leads nowhere; there is no {path}"
        ));
    }
    let text = tree.text(&path).filter(|_| path.ends_with(".md"))?;
    let anchor = anchor.filter(|anchor| !anchors(text).contains(*anchor))?;
    Some(format!(
        "the link {target} leads nowhere; {path} has no heading #{anchor}"
    ))
}

/// The targets of the links in a line: `[text](target)`, `![image](target)` and `[name]: target`.
fn targets(line: &Line<'_>) -> Vec<String> {
    let text = without_code(line.text);
    let definition = text
        .trim_start()
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]: "))
        .map(|(_, target)| target);
    let inline = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    inline
        .chain(definition)
        .filter_map(|target| target.split_whitespace().next())
        .map(|target| target.trim_matches(['<', '>']).to_owned())
        .collect()
}

/// The line with everything between backticks left out; a link's text may be code, its target may not.
fn without_code(line: &str) -> String {
    let mut parts = line.split('`');
    let mut text = parts.next().unwrap_or_default().to_owned();
    while let (Some(_), Some(after)) = (parts.next(), parts.next()) {
        text.push_str(after);
    }
    text
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
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
            .collect::<String>();
        let name = kept.replace(' ', "-");
        let unique = (0..).map(|count| {
            if count == 0 {
                name.clone()
            } else {
                format!("{name}-{count}")
            }
        });
        anchors.extend(unique.into_iter().find(|name| !anchors.contains(name)));
    }
    anchors
}

#[cfg(test)]
mod tests {
    use super::super::found;
    use super::*;

    fn in_notes(text: &str) -> Vec<String> {
        found(
            links,
            &[
                ("docs/NOTES.md", text),
                (
                    "docs/MORE.md",
                    "# More\n\n## What's `left`, and why\n\n## More\n",
                ),
            ],
        )
    }

    #[test]
    fn a_link_that_leads_somewhere_is_fine() {
        for link in [
            "[a](MORE.md)",
            "[`a`](../s01_loop/src/bash.rs)",
            "[a](../s01_loop)",
            "[a](MORE.md#whats-left-and-why) and [b](MORE.md#more-1)",
            "# Here\n\n[a](#here)",
            "[a](https://example.com/x) [b](mailto:ada@example.com) [c](crate::Client)",
            "[a]: <MORE.md> \"more\"",
            "`[a](nowhere.md)`\n\n```text\n[a](nowhere.md)\n```",
        ] {
            assert_eq!(in_notes(link), [""; 0], "{link}");
        }
    }

    #[test]
    fn a_link_that_leads_nowhere_is_found() {
        for (link, problem) in [
            (
                "[a](LESS.md)",
                "the link LESS.md leads nowhere; there is no docs/LESS.md",
            ),
            (
                "[a]: LESS.md",
                "the link LESS.md leads nowhere; there is no docs/LESS.md",
            ),
            (
                "[`a`](../../x.md)",
                "the link ../../x.md leads out of the repository; link to a file in it",
            ),
            (
                "[a](/x.md)",
                "the link /x.md leads out of the repository; link to a file in it",
            ),
            (
                "[a](MORE.md#less)",
                "the link MORE.md#less leads nowhere; docs/MORE.md has no heading #less",
            ),
            (
                "[a](#less)",
                "the link #less leads nowhere; docs/NOTES.md has no heading #less",
            ),
        ] {
            assert_eq!(
                in_notes(link),
                [format!("docs/NOTES.md:1: {problem}")],
                "{link}"
            );
        }
    }
}

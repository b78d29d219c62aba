//! The documents, and how they fall into passages.
//!
//! A passage is a section: small enough to be an answer, large enough to be understood alone.
//! Invariant: every README of a chapter is in the list.

/// Where a document stands, and its text.
type Document = (&'static str, &'static str);

macro_rules! documents {
    ($($path:literal)*) => {
        &[$(($path, include_str!(concat!("../../../../", $path)))),*]
    };
}

/// The documents, in the order of the course.
pub const CORPUS: &[Document] = documents![
    "s01_loop/README.md"
    "s02_tools/README.md"
    "s03_permission/README.md"
    "s04_hooks/README.md"
    "s05_todo/README.md"
    "s06_subagent/README.md"
    "s07_skills/README.md"
    "s08_compact/README.md"
    "s09_memory/README.md"
    "s10_cache/README.md"
    "s11_recovery/README.md"
    "s12_tasks/README.md"
    "s13_background/README.md"
    "s14_cron/README.md"
    "s15_mailbox/README.md"
    "s16_protocol/README.md"
    "s17_worktree/README.md"
    "s18_teams/README.md"
    "s19_mcp_plugin/README.md"
    "s20_full/README.md"
];

/// A section of a document.
pub struct Passage {
    /// The document's title and the section's, as in `s01 · Loop: How it works`.
    pub title: String,
    /// The document it stands in.
    pub path: &'static str,
    /// Its text on one line, without markup.
    pub text: String,
}

/// All sections of all documents.
pub fn passages() -> Vec<Passage> {
    let documents = CORPUS.iter();
    documents.flat_map(|(path, text)| sections(path, text)).collect()
}

fn sections(path: &'static str, text: &str) -> Vec<Passage> {
    let mut document = String::new();
    let mut passages = Vec::new();
    let mut current: Option<Passage> = None;
    // The front matter is for the course's tools.
    let body = text.strip_prefix("---\n").and_then(|rest| rest.split_once("---\n"));
    let text = body.map_or(text, |(_, body)| body);
    let mut folded = false;
    for line in text.lines() {
        // Speaker notes are prompts, answers are for those who have guessed, and a session is what was shown.
        let begins =
            |marks: [&str; 2]| marks.iter().any(|mark| line.trim_start().starts_with(mark));
        folded = (folded || begins(["<details>", "<!-- session"]))
            && !begins(["</details>", "<!-- /session"]);
        if folded {
            continue;
        }
        let title = match line.split_once("# ") {
            Some(("", title)) => {
                document = title.to_owned();
                document.clone()
            }
            Some(("#", title)) => format!("{document}: {title}"),
            _ => {
                if let Some(passage) = &mut current {
                    add(&mut passage.text, line);
                }
                continue;
            }
        };
        passages.extend(current.take());
        current = Some(Passage {
            title,
            path,
            text: String::new(),
        });
    }
    passages.extend(current);
    for passage in &mut passages {
        passage.text = without_markup(&passage.text);
    }
    passages.retain(|passage| !passage.text.is_empty());
    passages
}

/// Adds a line of Markdown, unless it is nothing but markup.
fn add(text: &mut String, line: &str) {
    let line = line.trim();
    let markup = line.starts_with(['<', '|']) || line.starts_with("```");
    if line.is_empty() || markup {
        return;
    }
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(line);
}

/// The text of a section. What stands in code is meant as it is, also where it goes on in the next line: `bash(cargo test:*)`.
fn without_markup(text: &str) -> String {
    let part = |(n, part): (usize, &str)| {
        if n % 2 == 0 { part.replace('*', "") } else { part.to_owned() }
    };
    let plain: String = text.split('`').enumerate().map(part).collect();
    without_links(&plain)
}

/// `[text](target)` becomes `text`.
fn without_links(line: &str) -> String {
    let mut plain = String::new();
    let mut rest = line;
    while let Some((before, (text, after))) = next_link(rest) {
        plain.push_str(before);
        plain.push_str(text);
        rest = after;
    }
    plain + rest
}

/// What is before the first link, its text, and what is behind it.
fn next_link(line: &str) -> Option<(&str, (&str, &str))> {
    let (before, rest) = line.split_once('[')?;
    let (text, rest) = rest.split_once("](")?;
    let (_, after) = rest.split_once(')')?;
    Some((before, (text, after)))
}

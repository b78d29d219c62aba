//! Where each file of the repository stands in the book, and links that lead there.
//!
//! A README links files as they lie beside it; in the book the same file is a page, or a section of one.
//! Invariant: a link between files never leads out of the book; to a file that is not in it, only its words stay.

use std::collections::BTreeMap;

use crate::tidy::markdown;
use crate::workspace::Workspace;

/// The files of the repository that stand at the root and are pages.
pub const ROOT_PAGES: [(&str, &str); 11] = [
    ("README.md", "index.md"),
    ("GLOSSARY.md", "glossary.md"),
    ("ARCHITECTURE.md", "architecture.md"),
    ("CONTRIBUTING.md", "contributing.md"),
    ("mock_servers/README.md", "mock_servers.md"),
    ("mcp/wire/README.md", "mcp_wire.md"),
    ("mcp/client/README.md", "mcp_client.md"),
    ("mcp/relay/README.md", "mcp_relay.md"),
    ("mcp/hub/README.md", "mcp_hub.md"),
    ("mcp/proxy/README.md", "mcp_proxy.md"),
    ("mcp/bridge/README.md", "mcp_bridge.md"),
];

/// The folder of the pages that are written by hand.
pub const WRITTEN: &str = "book/src/";

/// Where the files of the repository stand in the book: a page, or a section of one (`page.md#section`).
pub struct Shelf(BTreeMap<String, String>);

impl Shelf {
    /// The places of all files that the book shows.
    pub fn new(ws: &Workspace) -> Self {
        let home = |(path, _)| {
            let (folder, own) = str::split_once(path, '/').unwrap_or(("", path));
            let page = page_of(folder);
            let root = ROOT_PAGES.iter().find(|(file, _)| *file == path);
            let is_chapter = ws.chapters.iter().any(|chapter| chapter.name == folder);
            let home = match (root, path.strip_prefix(WRITTEN), own) {
                (Some((_, page)), ..) => (*page).to_owned(),
                (_, Some(page), _) => page.to_owned(),
                _ if !is_chapter => return None,
                (.., "README.md" | "src/lib.rs") => page,
                _ if own.starts_with("src/") => format!("{page}#{}", anchor(own)),
                _ if own.starts_with("exercises/ex") && own.ends_with(".rs") => {
                    format!("{page}#{}", anchor(own))
                }
                _ => return None,
            };
            Some((path.to_owned(), home))
        };
        Self(ws.tree.iter().filter_map(home).collect())
    }

    /// The Markdown of the file `from` with its links as the page `page` needs them.
    pub fn rewrite(&self, text: &str, from: &str, page: &str) -> String {
        let mut done = String::new();
        let mut at = 0;
        for (range, target) in markdown::links(text) {
            // A link by reference has its target elsewhere.
            let Some((words, _)) = text[range.clone()].rsplit_once("](") else {
                continue;
            };
            done += &text[at..range.start];
            done += &match self.target(&target, from, page) {
                Some(target) => format!("{words}]({target})"),
                None => words.trim_start_matches(['!', '[']).to_owned(),
            };
            at = range.end;
        }
        done + &text[at..]
    }

    /// Where a link leads; `None` when that is not in the book.
    fn target(&self, target: &str, from: &str, page: &str) -> Option<String> {
        if target.contains("://") || target.starts_with("mailto:") || target.starts_with('#') {
            return Some(target.to_owned());
        }
        let (path, fragment) = target.split_once('#').unwrap_or((target, ""));
        let path = markdown::resolve(from, path)?;
        let below = format!("{}/", path.trim_end_matches('/'));
        // Of a folder it is the first file.
        let inside = || {
            let (first, home) = self.0.range(below.clone()..).next()?;
            first.starts_with(&below).then_some(home)
        };
        let mut home = self.0.get(&path).or_else(inside)?.clone();
        if !home.contains('#') && !fragment.is_empty() {
            home += &format!("#{fragment}");
        }
        let section = home.strip_prefix(page).filter(|rest| rest.starts_with('#'));
        Some(section.map_or_else(|| relative(page, &home), str::to_owned))
    }
}

/// The page of a chapter.
pub fn page_of(chapter: &str) -> String {
    format!("chapters/{chapter}.md")
}

/// What a section about a file is called in links: `src/mcp.rs` is `src-mcp-rs`.
pub fn anchor(path: &str) -> String {
    path.to_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "-")
}

/// The way from one page to another.
pub fn relative(from: &str, to: &str) -> String {
    match (from.rsplit_once('/'), to.rsplit_once('/')) {
        (Some((one, _)), Some((other, file))) if one == other => file.to_owned(),
        _ => format!("{}{to}", "../".repeat(from.matches('/').count())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture;

    #[test]
    fn links_lead_to_pages_and_sections_or_keep_their_words() {
        let shelf = Shelf::new(&fixture::course(&[
            ("book/src/loop.md", "# The loop\n"),
            ("book/src/mechanisms/s02_tools.md", "# A tool\n"),
            ("s01_loop/src/repl/mod.rs", "//! The terminal.\n"),
        ]));
        #[rustfmt::skip]
        let lesson = [
            ("[x](src/toolbox.rs)", "[x](#src-toolbox-rs)"),
            ("[x](../s01_loop/README.md)", "[x](s01_loop.md)"),
            ("[x](../s01_loop/README.md#try-it)", "[x](s01_loop.md#try-it)"),
            ("[`x`](../s01_loop/src/bash.rs)", "[`x`](s01_loop.md#src-bash-rs)"),
            ("[x](../s01_loop/src/repl/)", "[x](s01_loop.md#src-repl-mod-rs)"),
            ("[x](../README.md)", "[x](../index.md)"),
            ("`a\nb` [x](src/toolbox.rs)", "`a\nb` [x](#src-toolbox-rs)"),
            ("1. [x](../s01_loop/exercises/ex1_first.rs), y.", "1. [x](s01_loop.md#exercises-ex1-first-rs), y."),
            // What is not in the book.
            ("see [the class](tests/class.rs).", "see the class."),
            ("[up](../../x.md)", "up"),
            // What stays.
            ("[x](https://example.org) [x](#try-it)", "[x](https://example.org) [x](#try-it)"),
            ("`[x](src/toolbox.rs)` a [list] and (more)", "`[x](src/toolbox.rs)` a [list] and (more)"),
            ("```text\n[x](src/toolbox.rs)\n```", "```text\n[x](src/toolbox.rs)\n```"),
        ];
        let written = [
            ("[x](../../../s02_tools/README.md)", "[x](../chapters/s02_tools.md)"),
            ("[x](../loop.md)", "[x](../loop.md)"),
        ];
        for (text, expected) in lesson {
            let made = shelf.rewrite(text, "s02_tools/README.md", "chapters/s02_tools.md");
            assert_eq!(made, expected);
        }
        for (text, expected) in written {
            let page = "mechanisms/s02_tools.md";
            assert_eq!(shelf.rewrite(text, &format!("{WRITTEN}{page}"), page), expected);
        }
    }
}

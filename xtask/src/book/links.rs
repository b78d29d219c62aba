//! Where each file of the repository stands in the book, and links that lead there.
//!
//! A README links files as they lie beside it; in the book the same file is a page, or a section of one.
//! Invariant: a link between files never leads out of the book; to a file that is not in it, only its words stay.

use std::collections::BTreeMap;

use crate::tidy::markdown;
use crate::workspace::Workspace;

/// The files of the repository that stand at the root and are pages.
pub const ROOT_PAGES: [(&str, &str); 5] = [
    ("README.md", "index.md"),
    ("GLOSSARY.md", "glossary.md"),
    ("ARCHITECTURE.md", "architecture.md"),
    ("CONTRIBUTING.md", "contributing.md"),
    ("mock_servers/README.md", "mock_servers.md"),
];

/// The folder of the pages that are written by hand.
pub const WRITTEN: &str = "book/src/";

/// Where the files of the repository stand in the book.
pub struct Shelf {
    homes: BTreeMap<String, Home>,
}

#[derive(Clone, Debug, PartialEq)]
struct Home {
    page: String,
    anchor: Option<String>,
}

impl Shelf {
    /// The places of all files that the book shows.
    pub fn new(ws: &Workspace) -> Self {
        let mut homes = BTreeMap::new();
        let mut put = |path: &str, page: &str, anchor: Option<String>| {
            let page = page.to_owned();
            homes.insert(path.to_owned(), Home { page, anchor });
        };
        for (path, page) in ROOT_PAGES {
            if ws.tree.text(path).is_some() {
                put(path, page, None);
            }
        }
        for (path, _) in ws.tree.iter() {
            if let Some(page) = path.strip_prefix(WRITTEN) {
                put(path, page, None);
            }
        }
        for chapter in &ws.chapters {
            let page = page_of(&chapter.name);
            for (path, _) in ws.tree.below(&chapter.name) {
                let own = &path[chapter.name.len() + 1..];
                let is_task = own.starts_with("exercises/ex") && own.ends_with(".rs");
                if own == "README.md" || own == "src/lib.rs" {
                    put(path, &page, None);
                } else if own.starts_with("src/") || is_task {
                    put(path, &page, Some(anchor(own)));
                }
            }
        }
        Self { homes }
    }

    /// The Markdown of the file `from` with its links as the page `page` needs them.
    pub fn rewrite(&self, text: &str, from: &str, page: &str) -> String {
        let mut done = String::new();
        let mut at = 0;
        for (range, target) in markdown::links(text) {
            let link = &text[range.clone()];
            // A link by reference has its target elsewhere.
            let Some((words, _)) = link.rsplit_once("](") else {
                continue;
            };
            done.push_str(&text[at..range.start]);
            done.push_str(&match self.target(&target, from, page) {
                Target::Stays => link.to_owned(),
                Target::Leads(target) => format!("{words}]({target})"),
                Target::Nowhere => words.trim_start_matches(['!', '[']).to_owned(),
            });
            at = range.end;
        }
        done + &text[at..]
    }

    fn target(&self, target: &str, from: &str, page: &str) -> Target {
        if target.contains("://") || target.starts_with("mailto:") || target.starts_with('#') {
            return Target::Stays;
        }
        let (path, fragment) = match target.split_once('#') {
            Some((path, fragment)) => (path, Some(fragment.to_owned())),
            None => (target, None),
        };
        let home = markdown::resolve(from, path).and_then(|path| self.home(&path));
        let Some(home) = home else {
            return Target::Nowhere;
        };
        let anchor = home.anchor.clone().or(fragment);
        let anchor = anchor.map(|anchor| format!("#{anchor}"));
        Target::Leads(match (home.page == page, anchor) {
            (true, Some(anchor)) => anchor,
            (_, anchor) => relative(page, &home.page) + &anchor.unwrap_or_default(),
        })
    }

    /// The place of a file, or of the first file of a folder; a page of the book may also be meant by its own name.
    fn home(&self, path: &str) -> Option<&Home> {
        let below = format!("{}/", path.trim_end_matches('/'));
        let page = path.strip_prefix(WRITTEN);
        let named = || {
            let page = page?.strip_suffix(".html").map(|page| format!("{page}.md"));
            let page = page.or(path.strip_prefix(WRITTEN).map(str::to_owned))?;
            self.homes.values().find(|home| home.page == page)
        };
        self.homes.get(path).or_else(named).or_else(|| {
            let mut inside = self.homes.range(below.clone()..);
            let (first, home) = inside.next()?;
            first.starts_with(&below).then_some(home)
        })
    }
}

enum Target {
    Stays,
    Leads(String),
    Nowhere,
}

/// The page of a chapter.
pub fn page_of(chapter: &str) -> String {
    format!("chapters/{chapter}.md")
}

/// What a section about a file is called in links: `src/mcp.rs` is `src-mcp-rs`.
pub fn anchor(path: &str) -> String {
    path.to_lowercase()
        .replace(|c: char| !c.is_ascii_alphanumeric(), "-")
}

/// The way from one page to another.
pub fn relative(from: &str, to: &str) -> String {
    let up = "../".repeat(from.matches('/').count());
    let folder = |page: &str| page.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    match (folder(from), folder(to)) {
        (Some(one), Some(other)) if one == other => to[one.len() + 1..].to_owned(),
        _ => format!("{up}{to}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture;

    fn shelf() -> Shelf {
        Shelf::new(&fixture::course(&[
            ("ARCHITECTURE.md", "# Architecture\n"),
            ("book/src/loop.md", "# The loop\n"),
            ("book/src/mechanisms/s02_tools.md", "# A tool\n"),
            ("s01_loop/src/repl/mod.rs", "//! The terminal.\n"),
            (
                "s01_loop/exercises/ex1_more.rs",
                "//! Exercise 1 · more (5 minutes).\n",
            ),
        ]))
    }

    fn from_readme(text: &str) -> String {
        shelf()
            .rewrite(text, "s02_tools/README.md", "chapters/s02_tools.md")
            .trim_end()
            .to_owned()
    }

    #[test]
    fn files_become_pages_and_sections() {
        for (link, expected) in [
            ("[x](src/toolbox.rs)", "[x](#src-toolbox-rs)"),
            ("[x](../s01_loop/README.md)", "[x](s01_loop.md)"),
            (
                "[x](../s01_loop/README.md#try-it)",
                "[x](s01_loop.md#try-it)",
            ),
            (
                "[`x`](../s01_loop/src/bash.rs)",
                "[`x`](s01_loop.md#src-bash-rs)",
            ),
            (
                "[x](../s01_loop/src/repl/)",
                "[x](s01_loop.md#src-repl-mod-rs)",
            ),
            ("[x](../README.md)", "[x](../index.md)"),
            ("[x](../ARCHITECTURE.md)", "[x](../architecture.md)"),
            ("`a\nb` [x](src/toolbox.rs)", "`a\nb` [x](#src-toolbox-rs)"),
            (
                "1. [x](../s01_loop/exercises/ex1_more.rs), y.",
                "1. [x](s01_loop.md#exercises-ex1-more-rs), y.",
            ),
        ] {
            assert_eq!(from_readme(link), expected);
        }
    }

    #[test]
    fn a_link_to_what_is_not_in_the_book_keeps_its_words() {
        assert_eq!(
            from_readme("see [the class](tests/class.rs)."),
            "see the class."
        );
        assert_eq!(from_readme("[up](../../x.md)"), "up");
    }

    #[test]
    fn other_sites_and_code_stay() {
        for text in [
            "[x](https://example.org)",
            "[x](#try-it)",
            "`[x](src/toolbox.rs)`",
            "a [list] and (more)",
            "```text\n[x](src/toolbox.rs)\n```",
            "`code that\ngoes on [x](src/toolbox.rs)`",
        ] {
            assert_eq!(from_readme(text), text);
        }
    }

    #[test]
    fn pages_written_by_hand_link_files_and_pages() {
        let from = |text: &str| {
            shelf()
                .rewrite(
                    text,
                    "book/src/mechanisms/s02_tools.md",
                    "mechanisms/s02_tools.md",
                )
                .trim_end()
                .to_owned()
        };
        assert_eq!(
            from("[x](../../../s02_tools/README.md)"),
            "[x](../chapters/s02_tools.md)"
        );
        assert_eq!(from("[x](../loop.md)"), "[x](../loop.md)");
        assert_eq!(
            from("[x](../chapters/s01_loop.html)"),
            "[x](../chapters/s01_loop.md)"
        );
    }
}

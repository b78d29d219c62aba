//! The book's table of contents.
//!
//! mdBook shows the pages that `SUMMARY.md` names and no others.
//! Invariant: every page is in it, once; a page is called what its own title says.

use super::Pages;
use super::links::{ROOT_PAGES, page_of};
use crate::workspace::Workspace;

/// The pages of the comparison and of the picture.
const PAIRS: &str = "pairs.md";
const LOOP: &str = "loop.md";
const MECHANISMS: &str = "mechanisms/";

/// The text of `SUMMARY.md`.
pub fn summary(ws: &Workspace, pages: &Pages) -> String {
    let mut lines = vec!["# Summary".to_owned(), String::new()];
    let mut named = Vec::new();
    let mut put = |lines: &mut Vec<String>, mark: &str, page: &str| {
        if let Some(text) = pages.get(page).filter(|_| page.ends_with(".md")) {
            lines.push(format!("{mark}[{}]({page})", title(text, page)));
            named.push(page.to_owned());
        }
    };
    put(&mut lines, "", ROOT_PAGES[0].1);
    lines.extend(["", "# The chapters", ""].map(str::to_owned));
    for chapter in &ws.chapters {
        put(&mut lines, "- ", &page_of(&chapter.name));
    }
    lines.extend(["", "# Side by side", ""].map(str::to_owned));
    put(&mut lines, "- ", PAIRS);
    put(&mut lines, "- ", LOOP);
    let nested = if pages.contains_key(LOOP) {
        "  - "
    } else {
        "- "
    };
    for page in pages.keys().filter(|page| page.starts_with(MECHANISMS)) {
        put(&mut lines, nested, page);
    }
    lines.extend(["", "# To look things up", ""].map(str::to_owned));
    for (_, page) in &ROOT_PAGES[1..] {
        put(&mut lines, "- ", page);
    }
    let rest = pages.keys().filter(|page| !named.contains(page));
    let rest: Vec<_> = rest.filter(|page| page.ends_with(".md")).collect();
    for page in rest {
        lines.push(format!("- [{}]({page})", title(&pages[page], page)));
    }
    lines.join("\n") + "\n"
}

/// The first heading of a page.
fn title<'a>(text: &'a str, page: &'a str) -> &'a str {
    let heading = text.lines().find_map(|line| line.strip_prefix("# "));
    heading.map_or(page, str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture;

    #[test]
    fn every_page_is_named_once_by_its_title() {
        let ws = fixture::course(&[]);
        let page = |name: &str, title: &str| (name.to_owned(), format!("# {title}\n\nText.\n"));
        let pages = Pages::from([
            page("index.md", "A course"),
            page("chapters/s01_loop.md", "s01 · The loop"),
            page("chapters/s02_tools.md", "s02 · Tools"),
            page("loop.md", "The loop of s20"),
            page("mechanisms/s02_tools.md", "A tool is a value"),
            page("glossary.md", "Glossary"),
            page("more.md", "More"),
            page("loop.svg", "no page"),
        ]);

        let summary = summary(&ws, &pages);

        let expected = "# Summary\n\n[A course](index.md)\n\n# The chapters\n\n- [s01 · The loop](chapters/s01_loop.md)\n\
            - [s02 · Tools](chapters/s02_tools.md)\n\n# Side by side\n\n- [The loop of s20](loop.md)\n\
            \x20 - [A tool is a value](mechanisms/s02_tools.md)\n\n# To look things up\n\n- [Glossary](glossary.md)\n\
            - [More](more.md)\n";
        assert_eq!(summary, expected);
    }
}

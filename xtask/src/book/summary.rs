//! The book's table of contents.
//!
//! mdBook shows the pages that `SUMMARY.md` names and no others.
//! Invariant: every page is in it, once; a page is called what its own title says.

use super::Pages;
use super::links::{ROOT_PAGES, page_of};
use crate::workspace::Workspace;

/// The pages that stand first.
const FIRST: [&str; 2] = [ROOT_PAGES[0].1, "how-to-read.md"];
/// The pages of the comparison and of the picture, and where the pages that the picture leads to begin.
const SIDE_BY_SIDE: [&str; 2] = ["pairs.md", "loop.md"];
const MECHANISMS: &str = "mechanisms/";

/// The text of `SUMMARY.md`.
pub fn summary(ws: &Workspace, pages: &Pages) -> String {
    let mechanisms = pages.keys().filter(|page| page.starts_with(MECHANISMS));
    let side_by_side = SIDE_BY_SIDE
        .map(str::to_owned)
        .into_iter()
        .chain(mechanisms.cloned());
    let mut parts = vec![
        ("", FIRST.map(str::to_owned).to_vec()),
        (
            "\n# The chapters\n\n",
            ws.chapters.iter().map(|it| page_of(&it.name)).collect(),
        ),
        ("\n# Side by side\n\n", side_by_side.collect()),
    ];
    let is_named = |page: &&String| parts.iter().any(|(_, named)| named.contains(page));
    let rest = pages
        .keys()
        .filter(|page| page.ends_with(".md") && !is_named(page));
    parts.push(("\n# To look things up\n\n", rest.cloned().collect()));
    let mut text = "# Summary\n\n".to_owned();
    for (heading, named) in parts {
        text += heading;
        for (page, shown) in named
            .iter()
            .filter_map(|page| Some((page, pages.get(page)?)))
        {
            let mark = match heading {
                "" => "",
                _ if page.starts_with(MECHANISMS) => "  - ",
                _ => "- ",
            };
            text += &format!("{mark}[{}]({page})\n", title(shown, page));
        }
    }
    text
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
            page("how-to-read.md", "How to read"),
            page("chapters/s01_loop.md", "s01 · The loop"),
            page("chapters/s02_tools.md", "s02 · Tools"),
            page("loop.md", "The loop of s20"),
            page("mechanisms/s02_tools.md", "A tool is a value"),
            page("glossary.md", "Glossary"),
            page("more.md", "More"),
            page("loop.svg", "no page"),
        ]);

        let summary = summary(&ws, &pages);

        let expected = "# Summary\n\n[A course](index.md)\n[How to read](how-to-read.md)\n\n# The chapters\n\n- [s01 · The loop](chapters/s01_loop.md)\n\
            - [s02 · Tools](chapters/s02_tools.md)\n\n# Side by side\n\n- [The loop of s20](loop.md)\n\
            \x20 - [A tool is a value](mechanisms/s02_tools.md)\n\n# To look things up\n\n- [Glossary](glossary.md)\n\
            - [More](more.md)\n";
        assert_eq!(summary, expected);
    }
}

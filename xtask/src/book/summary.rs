//! The book's table of contents.
//!
//! mdBook shows the pages that `SUMMARY.md` names and no others.
//! Invariant: every page is in it, once; a page is called what its own title says.

use super::Pages;

/// The headings, and the pages below each, or where their paths begin. The last takes all others.
const PARTS: [(&str, &[&str]); 4] = [
    ("", &["index.md", "how-to-read.md"]),
    ("\n# The chapters\n\n", &["chapters/"]),
    ("\n# Side by side\n\n", &["pairs.md", "loop.md", MECHANISMS]),
    ("\n# To look things up\n\n", &[""]),
];
/// The pages that the picture of the loop leads to.
const MECHANISMS: &str = "mechanisms/";

/// The text of `SUMMARY.md`.
pub fn summary(pages: &Pages) -> String {
    let mut rest: Vec<_> = pages.iter().filter(|(page, _)| page.ends_with(".md")).collect();
    let mut text = "# Summary\n\n".to_owned();
    for (heading, starts) in PARTS {
        text += heading;
        for start in starts {
            for (page, shown) in rest.extract_if(.., |(page, _)| page.starts_with(start)) {
                let mark = match heading {
                    "" => "",
                    _ if page.starts_with(MECHANISMS) => "  - ",
                    _ => "- ",
                };
                text += &format!("{mark}[{}]({page})\n", title(shown, page));
            }
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

    #[test]
    fn every_page_is_named_once_by_its_title() {
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

        let summary = summary(&pages);

        let expected = "# Summary\n\n[A course](index.md)\n[How to read](how-to-read.md)\n\n# The chapters\n\n- [s01 · The loop](chapters/s01_loop.md)\n\
            - [s02 · Tools](chapters/s02_tools.md)\n\n# Side by side\n\n- [The loop of s20](loop.md)\n\
            \x20 - [A tool is a value](mechanisms/s02_tools.md)\n\n# To look things up\n\n- [Glossary](glossary.md)\n\
            - [More](more.md)\n";
        assert_eq!(summary, expected);
    }
}

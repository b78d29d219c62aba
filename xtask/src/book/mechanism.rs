//! What is filled into a page that was written by hand: the picture, the lines of the last chapter, facts.
//!
//! A page about a mechanism says why; where it acts and who uses it is read from the code, so that it cannot grow old.
//! Invariant: a marker that cannot be filled stops the book with a sentence.

use anyhow::{Context, Result, bail, ensure};

use super::fences::fence;
use super::links::{WRITTEN, page_of, relative};
use crate::change;
use crate::rust;
use crate::workspace::{CARRIED, Chapter, LAST, MAIN, Workspace};

/// The picture of the loop.
const PICTURE: &str = "loop.svg";

/// The page with its markers filled.
///
/// # Errors
/// When a marker asks for what is not there.
pub fn filled(ws: &Workspace, page: &str, text: &str) -> Result<String> {
    let mut chapters = ws.chapters.iter();
    let chapter = chapters.find(|it| page.ends_with(&format!("/{}.md", it.name)));
    let place = || format!("book/src/{page}");
    let mut filled = String::new();
    for line in text.lines() {
        let marker = line.trim().strip_prefix("<!-- ").unwrap_or_default();
        let marker = marker.strip_suffix(" -->").unwrap_or_default();
        let (word, needles) = marker.split_once(": ").unwrap_or((marker, ""));
        filled += &match (word, chapter) {
            ("loop", _) => picture(ws, page, chapter)?,
            ("growth", _) => growth(ws),
            ("facts", Some(chapter)) => facts(ws, chapter, page),
            ("lines", Some(_)) => lines_of(ws, needles).with_context(place)?,
            ("facts" | "lines", None) => {
                bail!("{}: {word} needs a page that is named as a chapter is", place())
            }
            _ => line.to_owned(),
        };
        filled.push('\n');
    }
    Ok(filled)
}

/// The picture, with the station of the chapter marked. It stands in a script, which search passes by: its words would be found
/// on every page that shows it. `book/theme/folds.js` draws it.
fn picture(ws: &Workspace, page: &str, chapter: Option<&Chapter>) -> Result<String> {
    let path = format!("{WRITTEN}{PICTURE}");
    let svg = ws.tree.text(&path);
    let svg = svg.with_context(|| format!("there is no {path}; book/src/{page} shows it"))?;
    let up = "../".repeat(page.matches('/').count());
    let mut svg = svg.to_owned();
    for folder in ["chapters/", "mechanisms/"] {
        svg = svg.replace(&format!("href=\"{folder}"), &format!("href=\"{up}{folder}"));
    }
    if let Some(chapter) = chapter {
        let station = format!("id=\"station-{}\"", chapter.short());
        let is_there = svg.contains(&station);
        ensure!(is_there, "{path} has no element with {station}");
        svg = svg.replace(&station, &format!("{station} data-here"));
    }
    // An empty line would end the HTML and begin Markdown.
    let lines = svg.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines = lines.collect::<Vec<_>>().join("\n");
    Ok(format!(
        "<div class=\"loop-picture\">\n<noscript><img alt=\"The loop\" src=\"{up}{PICTURE}\"></noscript>\n\
         <script type=\"image/svg+xml\">\n{lines}\n</script>\n</div>\n"
    ))
}

/// How `main.rs` grows: a bar a chapter, which leads to its page.
fn growth(ws: &Workspace) -> String {
    let bar = |chapter: &Chapter| {
        let lines = ws.text(chapter, MAIN).unwrap_or_default().lines().count();
        format!(
            "<a href=\"{}\" title=\"{name}: {lines} lines\" style=\"--lines: {lines}\">{lines}<b>{}</b></a>\n",
            page_of(&chapter.name).replace(".md", ".html"),
            chapter.short(),
            name = chapter.name,
        )
    };
    let bars: String = ws.chapters.iter().map(bar).collect();
    format!("<div class=\"growth\">\n{bars}</div>\n")
}

/// The lines of the last chapter's `main.rs` at which the mechanism acts: those that hold one of the needles.
fn lines_of(ws: &Workspace, needles: &str) -> Result<String> {
    let last = ws.chapters.iter().rfind(|chapter| chapter.number <= LAST);
    let last = last.context("there is no chapter")?;
    let main = ws.text(last, MAIN).unwrap_or_default();
    let needles: Vec<&str> = needles.split(',').map(str::trim).collect();
    let missing = |it: &&&str| it.is_empty() || !main.contains(**it);
    if let Some(needle) = needles.iter().find(missing) {
        bail!("{} has no line with `{needle}`; name what is there", last.path(MAIN));
    }
    let mut shown = String::new();
    for (number, line) in (1..).zip(main.lines()) {
        if needles.iter().any(|needle| line.contains(needle)) {
            shown += &format!("{number:>3}  {}\n", line.trim());
        }
    }
    Ok(fence("rs", &shown))
}

/// Which tools the chapter brings, and which later chapters import it.
fn facts(ws: &Workspace, chapter: &Chapter, page: &str) -> String {
    let mut facts = String::new();
    let base = ws.base(chapter);
    for (agent, tools) in change::tools(ws, base, chapter) {
        let new = tools.iter().filter(|(mark, _)| base.is_none() || *mark == '+');
        let new: Vec<_> = new.map(|(_, name)| format!("`{name}`")).collect();
        if !new.is_empty() {
            facts += &format!("- Tools it brings the {agent}: {}\n", new.join(", "));
        }
    }
    let link = |chapter: &Chapter, text: &str| {
        format!("[{text}]({})", relative(page, &page_of(&chapter.name)))
    };
    for (what, carried) in [("The loop of", true), ("The library of", false)] {
        let imports_it = |later: &&Chapter| {
            let folder = later.path("src");
            let mut files = ws.tree.below(&folder).filter(|(path, file)| {
                let is_carried = CARRIED.iter().any(|carried| path.ends_with(carried));
                file.contains(&chapter.name) && is_carried == carried
            });
            files.any(|(_, file)| rust::lessons(file, &later.name).contains_key(&chapter.name))
        };
        let users = ws.after(chapter).filter(imports_it);
        let users: Vec<_> = users.map(|user| link(user, user.short())).collect();
        if !users.is_empty() {
            facts += &format!("- {what} these chapters imports it: {}\n", users.join(", "));
        }
    }
    facts + &format!("- Taught in {}\n", link(chapter, &chapter.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture;

    const SVG: &str = "<svg>\n\n  <a href=\"chapters/s02_tools.html\" id=\"station-s02\" class=\"station\">\n</a>\n<g id=\"station-s01\">\n</svg>\n";
    const MAIN_OF_LAST: &str = "use s01_loop::Client;\nuse s02_tools::{Toolbox, bash};\n\nstruct Agent {\n    tools: Toolbox,\n}\n\n\
        fn new() {\n    let more = Toolbox::new();\n    let x = more.with(bash());\n    self.tools.run(x); // bash\n}\n";

    fn fill(page: &str, text: &str) -> Result<String, String> {
        let ws = fixture::course(&[
            ("book/src/loop.svg", SVG),
            ("s01_loop/tests/pool.txt", "lead: bash\n"),
            ("s02_tools/src/main.rs", MAIN_OF_LAST),
            ("s02_tools/src/toolbox.rs", "//! T.\n\nuse s01_loop::Client;\n"),
        ]);
        filled(&ws, page, text).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn a_page_is_filled_from_the_code() {
        let mechanism = "mechanisms/s02_tools.md";
        let page = fill(mechanism, "# A\n\n<!-- loop -->\n").unwrap();
        let marked = "# A\n\n<div class=\"loop-picture\">\n<noscript><img alt=\"The loop\" src=\"../loop.svg\"></noscript>\n<script type=\"image/svg+xml\">\n<svg>\n<a href=\"../chapters/s02_tools.html\" id=\"station-s02\" data-here \
            class=\"station\">\n</a>\n<g id=\"station-s01\">\n</svg>\n</script>\n</div>\n\n";
        assert_eq!(page, marked);
        let whole = fill("loop.md", "<!-- loop -->").unwrap();
        assert!(whole.contains("href=\"chapters/s02") && !whole.contains("data-here"));

        let chart = fill("index.md", "<!-- growth -->").unwrap();
        let bar = "<a href=\"chapters/s02_tools.html\" title=\"s02_tools: 12 lines\" style=\"--lines: 12\">12<b>s02</b></a>\n";
        assert!(chart.contains(bar) && chart.matches("<a ").count() == 2, "{chart}");

        let lines =
            "```rs\n  9  let more = Toolbox::new();\n 11  self.tools.run(x); // bash\n```\n\n";
        assert_eq!(fill(mechanism, "<!-- lines: tools.run, let more -->").unwrap(), lines);
        let missing = "book/src/mechanisms/s02_tools.md: s02_tools/src/main.rs has no line with `tools.walk`; name what is there";
        assert_eq!(fill(mechanism, "<!-- lines: tools.run, tools.walk -->").unwrap_err(), missing);

        let facts = "- Tools it brings the lead: `bash`\n- The loop of these chapters imports it: [s02](../chapters/s02_tools.md)\n\
            - The library of these chapters imports it: [s02](../chapters/s02_tools.md)\n- Taught in [s01_loop](../chapters/s01_loop.md)\n\n";
        assert_eq!(fill("mechanisms/s01_loop.md", "<!-- facts -->").unwrap(), facts);
    }
}

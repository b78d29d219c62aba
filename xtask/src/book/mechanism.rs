//! What is filled into a page that was written by hand: the picture, the lines of the last chapter, facts.
//!
//! A page about a mechanism says why; where it acts and who uses it is read from the code, so that it cannot grow old.
//! Invariant: a marker that cannot be filled stops the book with a sentence.

use std::collections::BTreeSet;

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
    let mut filled = String::new();
    for line in text.lines() {
        let marker = line.trim().strip_prefix("<!-- ").unwrap_or_default();
        let marker = marker.strip_suffix(" -->").unwrap_or_default();
        let (word, needles) = marker.split_once(": ").unwrap_or((marker, ""));
        filled += &match (word, chapter) {
            ("loop", _) => picture(ws, page, chapter)?,
            ("growth", _) => growth(ws),
            ("facts", Some(chapter)) => facts(ws, chapter, page),
            ("lines", Some(_)) => {
                lines_of(ws, needles).with_context(|| format!("book/src/{page}"))?
            }
            ("facts" | "lines", None) => {
                bail!(
                    "book/src/{page}: the marker {word} needs a page that is named as a chapter is"
                )
            }
            _ => line.to_owned(),
        };
        filled.push('\n');
    }
    Ok(filled)
}

/// The picture, with the station of the chapter marked.
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
        ensure!(
            svg.contains(&station),
            "{path} has no element with {station}"
        );
        svg = svg.replace(&station, &format!("{station} data-here"));
    }
    // An empty line would end the HTML and begin Markdown.
    let lines = svg.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines = lines.collect::<Vec<_>>().join("\n");
    Ok(format!("<div class=\"loop-picture\">\n{lines}\n</div>\n"))
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
    if let Some(needle) = needles
        .iter()
        .find(|it| it.is_empty() || !main.contains(**it))
    {
        bail!(
            "{} has no line with `{needle}`; name what is there",
            last.path(MAIN)
        );
    }
    let lines = main.lines().enumerate();
    let shown = lines
        .filter(|(_, line)| needles.iter().any(|needle| line.contains(needle)))
        .map(|(number, line)| format!("{:>3}  {}", number + 1, line.trim()));
    Ok(fence("rs", &shown.collect::<Vec<_>>().join("\n")))
}

/// Which tools the chapter brings, what others can import, and who does.
fn facts(ws: &Workspace, chapter: &Chapter, page: &str) -> String {
    let mut lines = Vec::new();
    let base = ws.base(chapter);
    let quoted = |names: Vec<String>| {
        names
            .iter()
            .map(|it| format!("`{it}`"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    for (agent, mut tools) in change::tools(ws, base, chapter) {
        tools.retain(|(mark, _)| base.is_none() || *mark == '+');
        if !tools.is_empty() {
            let tools = quoted(tools.into_iter().map(|(_, name)| name).collect());
            lines.push(format!("- Tools it brings the {agent}: {tools}"));
        }
    }
    let items = public_items(ws.text(chapter, "src/lib.rs").unwrap_or_default());
    lines.push(format!(
        "- What it offers to others: {}",
        quoted(items.into_iter().collect())
    ));
    let link = |chapter: &Chapter, text: &str| {
        format!("[{text}]({})", relative(page, &page_of(&chapter.name)))
    };
    for (what, carried) in [("The loop of", true), ("The library of", false)] {
        let users = users(ws, chapter, carried).into_iter();
        let users = users
            .map(|user| link(user, user.short()))
            .collect::<Vec<_>>()
            .join(", ");
        if !users.is_empty() {
            lines.push(format!("- {what} these chapters imports it: {users}"));
        }
    }
    lines.push(format!("- Taught in {}", link(chapter, &chapter.name)));
    lines.join("\n") + "\n"
}

/// What `lib.rs` makes public.
fn public_items(lib: &str) -> BTreeSet<String> {
    let uses = rust::uses(lib).into_iter().filter(|(public, _)| *public);
    let names = uses.filter_map(|(_, path)| path.rsplit("::").next().map(str::to_owned));
    let modules = lib.lines().filter_map(|line| {
        let name = line.strip_prefix("pub mod ")?.trim_end_matches(';');
        Some(name.to_owned())
    });
    names.chain(modules).collect()
}

/// The later chapters that import it, in a carried file or in their own library.
fn users<'a>(ws: &'a Workspace, chapter: &'a Chapter, carried: bool) -> Vec<&'a Chapter> {
    let imports_it = |later: &&Chapter| {
        let folder = later.path("src");
        let files = ws.tree.below(&folder);
        let mut files = files.filter(|(path, _)| {
            let own = &path[later.name.len() + 1..];
            path.ends_with(".rs") && CARRIED.contains(&own) == carried
        });
        files.any(|(_, file)| {
            file.contains(&chapter.name)
                && rust::lessons(file, &later.name).contains_key(&chapter.name)
        })
    };
    ws.after(chapter).filter(imports_it).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture;

    const SVG: &str = "<svg>\n\n  <a href=\"chapters/s02_tools.html\" id=\"station-s02\" class=\"station\">\n</a>\n<g id=\"station-s01\">\n</svg>\n";
    const MAIN_OF_LAST: &str = "use s01_loop::Client;\nuse s02_tools::{Toolbox, bash};\n\nstruct Agent {\n    tools: Toolbox,\n}\n\n\
        fn new() {\n    let more = Toolbox::new();\n    let x = more.with(bash());\n    self.tools.run(x); // bash\n}\n";

    fn ws(changes: &[(&str, &str)]) -> Workspace {
        let own = [
            ("book/src/loop.svg", SVG),
            ("s02_tools/src/main.rs", MAIN_OF_LAST),
        ];
        fixture::course(&[&own[..], changes].concat())
    }

    fn fill(text: &str) -> Result<String, String> {
        filled(&ws(&[]), "mechanisms/s02_tools.md", text).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn the_station_of_the_page_is_marked_and_its_links_lead_up() {
        let page = fill("# A\n\n<!-- loop -->\n").unwrap();

        assert_eq!(
            page,
            "# A\n\n<div class=\"loop-picture\">\n<svg>\n<a href=\"../chapters/s02_tools.html\" id=\"station-s02\" \
             data-here class=\"station\">\n</a>\n<g id=\"station-s01\">\n</svg>\n</div>\n\n"
        );
        let whole = filled(&ws(&[]), "loop.md", "<!-- loop -->").unwrap();
        assert!(whole.contains("href=\"chapters/s02") && !whole.contains("data-here"));
    }

    #[test]
    fn the_front_page_shows_how_main_grows() {
        let chart = filled(&ws(&[]), "index.md", "<!-- growth -->").unwrap();

        let bar = "<a href=\"chapters/s02_tools.html\" title=\"s02_tools: 12 lines\" style=\"--lines: 12\">12<b>s02</b></a>\n";
        assert!(chart.contains(bar), "{chart}");
        assert_eq!(chart.matches("<a ").count(), 2);
    }

    #[test]
    fn the_lines_are_named_and_must_be_there() {
        let expected =
            "```rs\n  9  let more = Toolbox::new();\n 11  self.tools.run(x); // bash\n```\n\n";
        assert_eq!(
            fill("<!-- lines: tools.run, let more -->").unwrap(),
            expected
        );
        assert_eq!(
            fill("<!-- lines: tools.run, tools.walk -->").unwrap_err(),
            "book/src/mechanisms/s02_tools.md: s02_tools/src/main.rs has no line with `tools.walk`; name what is there"
        );
    }

    #[test]
    fn facts_say_what_is_brought_offered_and_used() {
        let ws = ws(&[
            ("s01_loop/tests/pool.txt", "lead: bash\n"),
            (
                "s01_loop/src/lib.rs",
                "pub mod bash;\nmod client;\npub use client::{Client, x::Y};\n",
            ),
            (
                "s02_tools/src/toolbox.rs",
                "//! T.\n\nuse s01_loop::Client;\n",
            ),
        ]);

        let facts = filled(&ws, "mechanisms/s01_loop.md", "<!-- facts -->").unwrap();

        assert_eq!(
            facts,
            "- Tools it brings the lead: `bash`\n- What it offers to others: `Client`, `Y`, `bash`\n\
             - The loop of these chapters imports it: [s02](../chapters/s02_tools.md)\n\
             - The library of these chapters imports it: [s02](../chapters/s02_tools.md)\n\
             - Taught in [s01_loop](../chapters/s01_loop.md)\n\n"
        );
    }
}

//! The page of a chapter: its README, the step, what came and went, its new files, its exercises.
//!
//! The README is the lesson; the rest is what it talks about, so that nobody needs a checkout to follow it.
//! Invariant: the README's words stay as they are, and everything behind them comes from the files as they are now.

use anyhow::{Result, ensure};

use super::exercises;
use super::fences::{fence, folded, html, quoted};
use super::links::{Shelf, WRITTEN, anchor, page_of};
use super::requests;
use crate::workspace::{CARRIED, Chapter, MAIN, Workspace};
use crate::{diff, header, step};

/// The page's Markdown.
///
/// # Errors
/// When an exercise is not in order.
pub fn page(ws: &Workspace, shelf: &Shelf, chapter: &Chapter) -> Result<String> {
    let name = page_of(&chapter.name);
    let readme = ws.text(chapter, "README.md").unwrap_or_default();
    let readme = without_front_matter(readme);
    let readme = shelf.rewrite(readme, &chapter.path("README.md"), &name);
    let (lesson, next) = split_next(&readme);
    let (title, rest) = lesson.split_once('\n').unwrap_or((&lesson, ""));
    let lesson = format!("{title}\n\n{}\n{rest}", facts(ws, chapter));
    let mut parts = vec![lesson, step(ws, chapter)];
    parts.extend(new_files(ws, chapter)?);
    if let Some(text) = exercises::section(ws, chapter)? {
        parts.push(shelf.rewrite(&text, &chapter.path("exercises/main.rs"), &name));
    }
    parts.push(next.to_owned());
    Ok(parts.join("\n"))
}

/// The README without its section *Next*, and that: what is read last stands last.
fn split_next(readme: &str) -> (String, &str) {
    let start = readme.find("\n## Next\n").unwrap_or(readme.len());
    let rest = &readme[start..];
    let end = start + rest.find("\n<details>").unwrap_or(rest.len());
    ([&readme[..start], &readme[end..]].concat(), &readme[start..end])
}

/// The text behind `---`, some lines, `---`.
fn without_front_matter(text: &str) -> &str {
    let rest = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
    rest.map_or(text, |(_, text)| text).trim_start()
}

/// How long the lesson takes, what it is compared with, where it acts, what rests.
fn facts(ws: &Workspace, chapter: &Chapter) -> String {
    let link = |name: &str| format!("[{name}]({name}.md)");
    let mut facts = vec![format!("{} minutes", chapter.minutes)];
    facts.extend(ws.base(chapter).map(|base| {
        let pair = format!("{}..{}", base.short(), chapter.short());
        let step = format!("[the step](#the-step) from {}", link(&base.name));
        format!("{step} · [any two chapters](../pairs.md#{pair})")
    }));
    let mechanism = format!("mechanisms/{}.md", chapter.name);
    if ws.tree.text(&format!("{WRITTEN}{mechanism}")).is_some() {
        facts.push(format!("[its place in the loop](../{mechanism})"));
    }
    if let Some(page) = requests::page_of(ws, chapter) {
        facts.push(format!("[request by request](../{page})"));
    }
    if !chapter.rests.is_empty() {
        let rests: Vec<_> = chapter.rests.iter().map(|name| link(name)).collect();
        facts.push(format!("rests here: {}", rests.join(", ")));
    }
    facts.join(" · ")
}

/// The diff of the carried files, each with its whole text folded; of the first chapter the whole text alone. Then the tools
/// and imports that came and went, in the words of `cargo x diff`.
fn step(ws: &Workspace, chapter: &Chapter) -> String {
    let short = chapter.short();
    let mut text = format!("## The step\n\n`cargo x diff {short}` prints the same.\n\n");
    let Some(base) = ws.base(chapter) else {
        let main = fence("rs", ws.text(chapter, MAIN).unwrap_or_default());
        let place = format!("<span id=\"{}\"></span>", anchor(MAIN));
        let all = format!("There is nothing before it, so this is all of `{MAIN}`");
        return text + &format!("{all}:\n\n{place}\n\n{main}\n");
    };
    let new = diff::files_of(ws, chapter);
    for file in CARRIED {
        if let Some(pair) = step::pair(ws, base, chapter, file) {
            text += &format!("{}\n", fence("diff", &diff::unified(&pair)));
        }
        let whole = ws.text(chapter, file).filter(|_| new.iter().all(|(path, _)| *path != file));
        if let Some(whole) = whole {
            let summary = html(&format!("The whole `{file}` of {}", chapter.name));
            text += &folded(Some(&anchor(file)), &summary, &quoted("rust", whole));
            text += "\n";
        }
    }
    let gains = diff::gains(ws, Some(base), chapter).join("\n");
    text + &format!("\n## Added and removed\n\n{}", fence("text", &gains))
}

/// Each file that the chapter brings, folded under the first sentence of its header: those to begin with, then the rest in a fold.
fn new_files(ws: &Workspace, chapter: &Chapter) -> Result<Option<String>> {
    let mut files = diff::files_of(ws, chapter);
    let place = |path: &str| chapter.read.iter().position(|it| it == path);
    files.sort_by_key(|(path, _)| place(path).unwrap_or(chapter.read.len()));
    let marked = files.partition_point(|(path, _)| place(path).is_some());
    ensure!(
        marked == chapter.read.len(),
        "{}: read names a file that is not new in it; name what is there",
        chapter.path("Cargo.toml")
    );
    if files.is_empty() {
        return Ok(None);
    }
    let shown = files.iter().map(|(path, file)| one_file(path, file));
    let mut first: Vec<_> = shown.collect();
    let rest = first.split_off(if marked > 0 { marked } else { first.len() });
    let library = format!("The library of {}. Read these:", chapter.name);
    let mut text = format!("## New files\n\n{library}\n\n{}", first.join("\n"));
    if !rest.is_empty() {
        text += &folded(None, "The other files", &rest.join("\n"));
    }
    Ok(Some(text + "\n"))
}

fn one_file(path: &str, file: &str) -> String {
    let sentence = header::first_sentence(file).unwrap_or_default();
    let lines = file.lines().count();
    let summary = format!("<code>{path}</code> · {lines} lines<br>{}", html(&sentence));
    folded(Some(&anchor(path)), &summary, &quoted("rust", file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture;

    fn made(chapter: &str, changes: &[(&str, &str)]) -> Result<String> {
        let ws = fixture::course(changes);
        page(&ws, &Shelf::new(&ws), ws.chapter(chapter)?)
    }

    #[test]
    fn a_page_is_the_readme_and_then_what_it_is_about() {
        let changes = [
            ("s01_loop/tests/pool.txt", "lead: bash\n"),
            ("s02_tools/tests/pool.txt", "lead: glob\n"),
            ("s01_loop/src/teammate.rs", "//! The teammate's loop.\n\nuse x;\n"),
            ("s02_tools/src/teammate.rs", "//! The teammate's loop.\n\nuse y;\n"),
        ];
        let first = made("s01", &changes).unwrap();
        let second = made("s02", &changes).unwrap();
        let parts = [
            "# s02_tools\n\n30 minutes · [the step](#the-step) from [s01_loop](s01_loop.md) · [any two chapters](../pairs.md#s01..s02)\n\nA chapter that",
            "## The step",
            "```diff\n--- s01_loop/src/main.rs\n+++ s02_tools/src/main.rs\n",
            "+++ s02_tools/src/teammate.rs\n",
            "<summary>The whole <code>src/teammate.rs</code> of s02_tools</summary>",
            "## Added and removed",
            "  s02_tools: +toolbox\n",
            "  lead: +glob, -bash\n",
            "## New files",
            "<details id=\"src-toolbox-rs\"><summary><code>src/toolbox.rs</code> · ",
            "<br>A toolbox: tools by name.</summary>\n\n<script type=\"text/plain\" class=\"file\" data-language=\"rust\">\n//! A toolbox",
            "## The exercises",
            "## Next",
        ];
        let mut rest = &second[..];
        for part in parts {
            let at = rest.find(part).unwrap_or_else(|| panic!("{part:?} is not in {rest}"));
            rest = &rest[at..];
        }
        assert_eq!(second.matches("id=\"src-teammate-rs\"").count(), 1);
        assert!(
            first.contains("<details id=\"src-teammate-rs\"><summary><code>src/teammate.rs</code>")
        );
        assert!(first.contains(
            "so this is all of `src/main.rs`:\n\n<span id=\"src-main-rs\"></span>\n\n```rs\n//! s01"
        ));
        assert!(!first.contains("+++ s01_loop/src/main.rs") && !first.contains("minutes: 30"));
        assert!(first.contains("See [the loop](#src-main-rs)."));
    }

    #[test]
    fn next_stands_last_and_the_files_to_read_first() {
        let readme = "# s02\n\n## Next\n\nOn.\n\n<details><summary>Notes</summary></details>\n";
        let made = |read: &str| {
            let course = format!("adds = \"tools\"\nbase = \"s01_loop\"\nread = [{read:?}]");
            let changes = [
                ("s02_tools/README.md", readme),
                ("s02_tools/Cargo.toml", &fixture::manifest("s02_tools", &course, "")),
                ("s02_tools/src/a.rs", "//! First by name.\n"),
            ];
            made("s02", &changes)
        };
        let shown = made("src/toolbox.rs").unwrap();
        let order = ["Notes", "Read these:", "src-toolbox-rs", "The other files", "src-a-rs"];
        let places = order.map(|words| shown.find(words).unwrap());
        assert!(places.is_sorted(), "{shown}");
        assert!(shown.ends_with("\n## Next\n\nOn.\n"), "{shown}");
        let told =
            "s02_tools/Cargo.toml: read names a file that is not new in it; name what is there";
        assert_eq!(made("src/gone.rs").unwrap_err().to_string(), told);
    }
}

//! "Request by request": the page of the loop with the record of a chapter's session in it.
//!
//! The session in a README is typed by a test, and the mock model keeps what it was asked. Nobody needs a server to look.
//! Invariant: the page is that of the mock model, and no text of the record can end the element that holds it.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::workspace::{Chapter, Workspace};
use crate::{cargo, session};

const PAGE: &str = "mock_servers/src/watch/page.html";
/// What it is headed with; in the book it is the chapter, and leads back to it.
const HEADING: &str = "<h1>The loop</h1>";
/// Where the page keeps its record; empty, it asks the server for one.
const EMPTY: [&str; 2] = ["<script type=\"application/json\" id=\"tape\">", "</script>"];

/// The page of a chapter in the book, if a session of it is recorded.
pub fn page_of(ws: &Workspace, chapter: &Chapter) -> Option<String> {
    ws.text(chapter, session::TEST).map(|_| format!("loop/{}.html", chapter.name))
}

fn shown_at(chapter: &Chapter) -> String {
    format!("chapters/{}.html", chapter.name)
}

/// The pages by their paths. Sessions that nobody has recorded since the last build are recorded now.
pub fn pages(ws: &Workspace) -> Result<Vec<(String, String)>> {
    let folder = cargo::target()?.join("debug/sessions");
    let record = |chapter: &Chapter| -> PathBuf { folder.join(format!("{}.jsonl", chapter.name)) };
    let shown: Vec<_> = ws.chapters.iter().filter_map(|it| Some((it, page_of(ws, it)?))).collect();
    if shown.iter().any(|(chapter, _)| !record(chapter).exists()) {
        session::run(ws, None, false)?;
    }
    let source = ws.tree.text(PAGE).unwrap_or_default();
    let pages = shown.into_iter().map(|(chapter, path)| {
        let record = record(chapter);
        let lines = fs::read_to_string(&record);
        let lines = lines.with_context(|| format!("reading {}", record.display()))?;
        let heading = format!("<h1><a href=\"../{}\">{}</a></h1>", shown_at(chapter), chapter.name);
        Ok((path, with_record(&source.replacen(HEADING, &heading, 1), &lines)))
    });
    pages.collect()
}

/// The page with these lines of JSON in it.
fn with_record(page: &str, lines: &str) -> String {
    let lines: Vec<_> = lines.lines().collect();
    // Inside JSON it stands in strings only.
    let record = format!("[{}]", lines.join(",")).replace('<', "\\u003c");
    page.replacen(&EMPTY.concat(), &EMPTY.join(&record), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_cannot_end_the_element_that_holds_it() {
        let page = format!("<body>{}", EMPTY.concat());
        let made = with_record(&page, "{\"text\":\"</script>\"}\n{}\n");
        let record = "[{\"text\":\"\\u003c/script>\"},{}]";
        assert_eq!(made, format!("<body>{}{record}{}", EMPTY[0], EMPTY[1]));
        let page = include_str!("../../../mock_servers/src/watch/page.html");
        assert!(page.contains(&EMPTY.concat()) && page.contains(HEADING));
    }
}

//! `cargo x book`: the course as a book that a browser shows, from a file or from a server.
//!
//! The chapters' READMEs are its text. Diffs, files, exercises and facts are put to them when it is made; mdbook does the rest.
//! Invariant: nothing that is generated is committed, and no link leads out of the book.

pub mod browser;
mod chapter;
mod exercises;
mod fences;
mod links;
mod mechanism;
mod pairs;
mod requests;
mod summary;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::cargo;
use crate::terminal;
use crate::workspace::Workspace;
use links::{ROOT_PAGES, Shelf, WRITTEN, page_of};

/// The book's source: texts by their paths in it.
type Pages = BTreeMap<String, String>;

/// What is copied beside the source as it is: settings, styles, scripts.
const AS_IT_IS: [&str; 2] = ["book/book.toml", "book/theme/"];
/// The oldest mdbook that the settings and scripts are written for.
const OLDEST: [u32; 2] = [0, 5];
const INSTALL: &str = "install it with: cargo install mdbook --locked";

/// What becomes of the book.
#[derive(clap::Args)]
pub struct Wish {
    /// Serve it on localhost; the page follows when cargo x book is run again elsewhere
    #[arg(long)]
    serve: bool,
    /// Try it in a real browser: chromium, driven by node
    #[arg(long, conflicts_with = "serve")]
    test: bool,
    /// Keep pictures of some pages there
    #[arg(long, value_name = "DIR", requires = "test")]
    screenshots: Option<PathBuf>,
}

/// Makes the book, and serves or tests it when asked to.
///
/// # Errors
/// When mdbook is missing or too old, a page cannot be made, or the browser finds a fault.
pub fn run(ws: &Workspace, wish: &Wish) -> Result<()> {
    if wish.test {
        return browser::test(ws, wish.screenshots.as_deref());
    }
    let folder = make(ws)?;
    if wish.serve {
        let served = Command::new("mdbook").arg("serve").arg(&folder).status();
        let served = served.context("starting mdbook")?;
        ensure!(served.success(), "mdbook serve: {served}");
        return Ok(());
    }
    let index = folder.join("html/index.html");
    Ok(terminal::print(&format!("{}\n", index.display()))?)
}

/// Fails with one line that says what to install when mdbook is not there, or is too old.
fn mdbook_is_there() -> Result<()> {
    let Ok(output) = Command::new("mdbook").arg("--version").output() else {
        bail!("mdbook is missing; {INSTALL}");
    };
    let said = String::from_utf8_lossy(&output.stdout);
    let numbers = said.trim().trim_start_matches("mdbook v").split('.');
    let version: Vec<u32> = numbers.map_while(|it| it.parse().ok()).take(2).collect();
    if version < OLDEST.to_vec() {
        bail!("{} is too old for the book; {INSTALL}", said.trim());
    }
    Ok(())
}

/// Makes the book anew; its folder, in which `html` is what a browser shows.
fn make(ws: &Workspace) -> Result<PathBuf> {
    mdbook_is_there()?;
    let folder = cargo::target()?.join("book");
    for old in ["src", "theme"].map(|name| folder.join(name)) {
        if old.exists() {
            fs::remove_dir_all(&old).with_context(|| format!("emptying {}", old.display()))?;
        }
    }
    for (path, text) in pages(ws)? {
        put(&folder.join("src").join(path), &text)?;
    }
    for (path, page) in requests::pages(ws)? {
        put(&folder.join("src").join(path), &page)?;
    }
    for (path, file) in ws.tree.iter() {
        if AS_IT_IS.iter().any(|it| path.starts_with(it)) {
            put(&folder.join(&path["book/".len()..]), file)?;
        }
    }
    let output = Command::new("mdbook").arg("build").arg(&folder).output();
    let output = output.context("starting mdbook")?;
    let said = String::from_utf8_lossy(&output.stderr);
    let warns = said.lines().any(|it| it.trim_start().starts_with("WARN"));
    if !output.status.success() || warns {
        bail!("mdbook build: {}\n{}", output.status, said.trim());
    }
    Ok(folder)
}

fn put(path: &Path, text: &str) -> Result<()> {
    let folder = path.parent().unwrap_or(path);
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, text));
    written.with_context(|| format!("writing {}", path.display()))
}

/// The whole source.
fn pages(ws: &Workspace) -> Result<Pages> {
    let shelf = Shelf::new(ws);
    let mut pages = Pages::new();
    let files = ws.tree.iter();
    let written = files.filter_map(|(path, _)| Some((path, path.strip_prefix(WRITTEN)?)));
    for (path, page) in ROOT_PAGES.into_iter().chain(written) {
        let Some(text) = ws.tree.text(path) else {
            continue;
        };
        let text = if page.ends_with(".md") {
            shelf.rewrite(&mechanism::filled(ws, page, text)?, path, page)
        } else {
            text.to_owned()
        };
        pages.insert(page.to_owned(), text);
    }
    for chapter in &ws.chapters {
        pages.insert(page_of(&chapter.name), chapter::page(ws, &shelf, chapter)?);
    }
    pages.insert(pairs::FILE.to_owned(), pairs::script(ws));
    pages.insert("SUMMARY.md".to_owned(), summary::summary(&pages));
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture;

    #[test]
    fn the_book_has_a_page_for_each_chapter_and_each_text() {
        let picture = ("book/src/loop.md", "# The loop\n\n<!-- loop -->\n");
        let ws = fixture::course(&[picture, ("book/src/loop.svg", "<svg></svg>\n")]);
        let made = pages(&ws).unwrap();
        let names: Vec<_> = made.keys().map(String::as_str).collect();
        let expected = [
            "SUMMARY.md",
            "architecture.md",
            "chapters/s01_loop.md",
            "chapters/s02_tools.md",
            "contributing.md",
            "index.md",
            "loop.md",
            "loop.svg",
            "pairs-data.js",
        ];
        assert_eq!(names, expected);
        assert!(made["index.md"].contains("| [s01_loop](chapters/s01_loop.md) |"));
        assert!(made["loop.md"].contains("<svg></svg>"));

        let error = pages(&fixture::course(&[picture])).unwrap_err().to_string();
        assert_eq!(error, "there is no book/src/loop.svg; book/src/loop.md shows it");
    }
}

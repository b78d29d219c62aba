//! `cargo x book`: the course as a book that a browser shows, from a file or from a server.
//!
//! The chapters' READMEs are its text. Diffs, files, exercises and facts are put to them when it is made.
//! Invariant: nothing that is generated is committed, and no link leads out of the book.

mod browser;
mod chapter;
mod fences;
mod links;
mod mdbook;
mod mechanism;
mod pairs;
mod summary;
mod tasks;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::kit;
use crate::terminal;
use crate::workspace::Workspace;
use links::{ROOT_PAGES, Shelf, WRITTEN, page_of};

/// The book's source: texts by their paths in it.
type Pages = BTreeMap<String, String>;

/// What is copied beside the source as it is: settings, styles, scripts.
const THEME: &str = "book/theme/";

/// The subcommand.
pub fn command() -> Command {
    let flag = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
    Command::new("book")
        .about("Make the book from the READMEs, the diffs and the exercises; print where it is")
        .arg(flag("serve").help(
            "Serve it on localhost; the page follows when cargo x book is run again elsewhere",
        ))
        .arg(
            flag("test")
                .conflicts_with("serve")
                .help("Try it in a real browser: chromium, driven by node"),
        )
        .arg(
            Arg::new("screenshots")
                .long("screenshots")
                .value_name("DIR")
                .requires("test")
                .value_parser(clap::value_parser!(PathBuf))
                .help("Keep pictures of some pages there"),
        )
}

/// Makes the book, and serves or tests it when asked to.
///
/// # Errors
/// When mdbook is missing or too old, a page cannot be made, or the browser finds a fault.
pub fn run(ws: &Workspace, args: &ArgMatches) -> Result<()> {
    let place = Place::new()?;
    if args.get_flag("test") {
        let pictures = args.get_one::<PathBuf>("screenshots");
        return browser::test(ws, &place, pictures.map(PathBuf::as_path));
    }
    let mdbook = mdbook::find()?;
    write(ws, &place)?;
    if args.get_flag("serve") {
        return mdbook::serve(&mdbook, &place);
    }
    mdbook::build(&mdbook, &place)?;
    Ok(terminal::print(&format!(
        "{}\n",
        place.html().join("index.html").display()
    ))?)
}

/// Whether this machine has what [`run`] with `--test` needs.
///
/// # Errors
/// What is missing, in one line.
pub fn can_be_tested() -> Result<()> {
    browser::tools().map(drop)
}

/// Where the book is made.
struct Place {
    folder: PathBuf,
}

impl Place {
    fn new() -> Result<Self> {
        let folder = kit::target()?.join("book");
        Ok(Self { folder })
    }

    /// What mdbook makes.
    fn html(&self) -> PathBuf {
        self.folder.join("html")
    }
}

/// Writes the source, all of it anew.
fn write(ws: &Workspace, place: &Place) -> Result<()> {
    for old in ["src", "theme"].map(|name| place.folder.join(name)) {
        if old.exists() {
            fs::remove_dir_all(&old).with_context(|| format!("emptying {}", old.display()))?;
        }
    }
    let put = |path: &Path, text: &str| -> Result<()> {
        let folder = path.parent().unwrap_or(path);
        fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
        fs::write(path, text).with_context(|| format!("writing {}", path.display()))
    };
    for (path, text) in pages(ws)? {
        put(&place.folder.join("src").join(path), &text)?;
    }
    for (path, file) in ws.tree.iter() {
        if path == "book/book.toml" || path.starts_with(THEME) {
            put(&place.folder.join(&path["book/".len()..]), &file.text)?;
        }
    }
    Ok(())
}

/// The whole source.
fn pages(ws: &Workspace) -> Result<Pages> {
    mechanism::complete(ws)?;
    let shelf = Shelf::new(ws);
    let mut pages = Pages::new();
    for (path, page) in ROOT_PAGES {
        if let Some(text) = ws.tree.text(path) {
            let filled = mechanism::filled(ws, page, text)?;
            pages.insert(page.to_owned(), shelf.rewrite(&filled, path, page));
        }
    }
    for (path, file) in ws.tree.iter() {
        let Some(page) = path.strip_prefix(WRITTEN) else {
            continue;
        };
        let text = if page.ends_with(".md") {
            let filled = mechanism::filled(ws, page, &file.text)?;
            shelf.rewrite(&filled, path, page)
        } else {
            file.text.clone()
        };
        pages.insert(page.to_owned(), text);
    }
    for chapter in &ws.chapters {
        pages.insert(page_of(&chapter.name), chapter::page(ws, &shelf, chapter)?);
    }
    pages.insert(pairs::FILE.to_owned(), pairs::script(ws));
    pages.insert("SUMMARY.md".to_owned(), summary::summary(ws, &pages));
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture;

    #[test]
    fn the_book_has_a_page_for_each_chapter_and_each_text() {
        let ws = fixture::course(&[
            ("book/src/loop.md", "# The loop\n\n<!-- loop -->\n"),
            ("book/src/loop.svg", "<svg></svg>\n"),
            ("book/src/pairs.md", "# Any two chapters\n"),
        ]);

        let pages = pages(&ws).unwrap();

        let names: Vec<_> = pages.keys().map(String::as_str).collect();
        for name in [
            "SUMMARY.md",
            "chapters/s01_loop.md",
            "chapters/s02_tools.md",
            "contributing.md",
            "index.md",
            "loop.md",
            "loop.svg",
            "pairs-data.js",
            "pairs.md",
        ] {
            assert!(names.contains(&name), "{name} is not in {names:?}");
        }
        assert!(pages["index.md"].contains("| [s01_loop](chapters/s01_loop.md) |"));
        assert!(pages["loop.md"].contains("<svg></svg>"));
    }

    #[test]
    fn a_picture_that_is_missing_stops_the_book_with_a_sentence() {
        let ws = fixture::course(&[("book/src/loop.md", "# The loop\n\n<!-- loop -->\n")]);

        assert_eq!(
            pages(&ws).unwrap_err().to_string(),
            "there is no book/src/loop.svg; book/src/loop.md shows it"
        );
    }
}

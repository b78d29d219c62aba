//! `cargo x start s05 DIR`: a copy of the course in which a student builds the mechanism of a chapter.
//!
//! Its types, signatures and comments stand there, its bodies are `todo!()`, and the chapter's own tests grade it.
//! Invariant: nothing that a person has is overwritten; the course itself stays as it is.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::bodies;
use crate::copy::Copy;
use crate::workspace::{Chapter, Workspace};
use crate::{git, terminal};

/// Makes the copy, commits it, so that `git diff` shows what the student has written, and says how to go on.
///
/// # Errors
/// When the folder holds something already, or cannot be written.
pub fn run(ws: &Workspace, chapter: &Chapter, folder: &Path) -> Result<()> {
    if let Some(Chapter { name, .. }) = started(ws) {
        bail!(
            "this is a copy already, in which you build {name}; start the next one in the course itself"
        );
    }
    let emptied = bodies::take_out(ws, chapter)?;
    let root = fresh(ws, folder)?;
    let mut hash = DefaultHasher::new();
    root.hash(&mut hash);
    let mark = format!("start.d{:06x}", hash.finish() & 0xff_ffff);
    let copy = Copy::make(ws, &root)?;
    copy.mark(ws, &mark)?;
    copy.share_build(ws)?;
    let manifest = fs::read_to_string(root.join("Cargo.toml"));
    let manifest = manifest.context("reading the copy's Cargo.toml")?;
    let Chapter { name, .. } = chapter;
    copy.write("Cargo.toml", format!("{manifest}\n{MARK}\nchapter = {name:?}\n"))?;
    let mut list = String::new();
    for file in &emptied {
        let path = chapter.path(&file.file);
        copy.write(&path, &file.text)?;
        let names: Vec<_> = file.bodies.iter().map(|(name, _)| name.as_str()).collect();
        list += &format!("  {path}  {}\n", names.join(", "));
    }
    copy.keep()?;
    let commit = format!(
        "-c user.name=cargo-x-start -c user.email=start@localhost -c commit.gpgsign=false \
         commit --quiet --no-verify --message=start-of-{name}"
    );
    git::run(&root, &commit.split(' ').collect::<Vec<_>>())?;
    let shown = folder.display().to_string();
    let text = format!(
        "{shown} is the course without these bodies:\n{list}\nThe README of the chapter says what they do, their comments say it closer, and its tests grade you; the words that \
         the model and the user read are in the tests:\n  cd {}\n  cargo x check {}\nWhat you have written so far: git diff\n",
        shell_words::quote(&shown),
        chapter.short()
    );
    Ok(terminal::print(&text)?)
}

/// The chapter that this checkout was started for.
pub fn started(ws: &Workspace) -> Option<&Chapter> {
    ws.chapter(ws.metadata.started.get("chapter")?).ok()
}

const MARK: &str = "# What `cargo x check` grades here.\n[workspace.metadata.started]";

/// The folder, made when it is not there; it has to be empty, and outside of the course, which would hold itself otherwise.
fn fresh(ws: &Workspace, folder: &Path) -> Result<PathBuf> {
    let doing = || format!("making {}", folder.display());
    let absolute = std::path::absolute(folder).with_context(doing)?;
    let mut above = absolute.ancestors();
    let there = above.find_map(|folder| folder.canonicalize().ok());
    let course = ws.root.canonicalize().with_context(doing)?;
    ensure!(
        !there.is_some_and(|there| there.starts_with(course)),
        "{} lies inside the course; name a folder beside it",
        folder.display()
    );
    fs::create_dir_all(folder).with_context(doing)?;
    let is_empty = fs::read_dir(folder).with_context(doing)?.next().is_none();
    ensure!(is_empty, "{} is not empty; name a folder that is not there yet", folder.display());
    folder.canonicalize().with_context(doing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture;

    #[test]
    fn a_folder_that_holds_something_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let mut course = fixture::course(&[]);
        course.root = dir.path().join("course");
        fs::create_dir(&course.root).unwrap();
        assert!(fresh(&course, &dir.path().join("new/one")).is_ok());
        assert!(fresh(&course, &course.root.join("../two")).is_ok());

        let inside = fresh(&course, &course.root.join("new/one")).unwrap_err();
        assert!(inside.to_string().ends_with("name a folder beside it"));
        let error = fresh(&course, dir.path()).unwrap_err().to_string();
        assert!(error.ends_with("is not empty; name a folder that is not there yet"), "{error}");
    }

    #[test]
    fn a_checkout_says_what_it_was_started_for() {
        let course = fixture::course(&[]);
        assert_eq!(started(&course), None);

        let manifest = course.tree.text("Cargo.toml").unwrap();
        let manifest = format!("{manifest}\n{MARK}\nchapter = \"s02_tools\"\n");
        let copy = fixture::course(&[("Cargo.toml", &manifest)]);
        assert_eq!(started(&copy).unwrap().name, "s02_tools");
    }
}

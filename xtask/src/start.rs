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

/// Makes the copy and says how to go on.
///
/// # Errors
/// When the folder holds something already, or cannot be written.
pub fn run(ws: &Workspace, chapter: &Chapter, folder: &Path) -> Result<()> {
    if let Some(chapter) = started(ws) {
        bail!(
            "this is a copy already, in which you build {}; start the next one in the course itself",
            chapter.name
        );
    }
    let emptied = bodies::take_out(ws, chapter)?;
    ensure!(
        !emptied.is_empty(),
        "{} names no bodies to write; there is nothing to start",
        chapter.path("Cargo.toml")
    );
    let root = fresh(ws, folder)?;
    let mut name = DefaultHasher::new();
    root.hash(&mut name);
    let copy = Copy::make(
        ws,
        &root,
        &format!("start.d{:06x}", name.finish() & 0xff_ffff),
    )?;
    copy.share_build(ws)?;
    let manifest =
        fs::read_to_string(root.join("Cargo.toml")).context("reading the copy's Cargo.toml")?;
    copy.write(
        "Cargo.toml",
        &format!("{manifest}\n{MARK}\nchapter = \"{}\"\n", chapter.name),
    )?;
    let mut list = String::new();
    for (path, file) in &emptied {
        copy.write(path, &file.text)?;
        let mut names: Vec<_> = file.bodies.iter().map(|(name, _)| name.as_str()).collect();
        let place = |name: &&str| {
            let entry = |entry: &String| chapter.path(entry) == format!("{path}::{name}");
            chapter.start.iter().position(entry)
        };
        names.sort_by_key(place);
        list += &format!("  {path}  {}\n", names.join(", "));
    }
    first_commit(&root, chapter)?;
    let text = format!(
        "{} is the course without these bodies:\n{list}\nThe README of the chapter says what they do, their comments say it closer, and its tests grade you; the words that \
         the model and the user read are in the tests:\n  cd {}\n  cargo x check {}\nWhat you have written so far: git diff\n",
        folder.display(),
        typed(folder),
        chapter.short()
    );
    Ok(terminal::print(&text)?)
}

/// A folder as a shell wants it.
fn typed(folder: &Path) -> String {
    let name = folder.display().to_string();
    match name.contains(|c: char| !(c.is_alphanumeric() || "/._-".contains(c))) {
        true => format!("'{}'", name.replace('\'', r"'\''")),
        false => name,
    }
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
    ensure!(
        is_empty,
        "{} is not empty; name a folder that is not there yet",
        folder.display()
    );
    folder.canonicalize().with_context(doing)
}

/// The start as a commit, so that `git diff` shows what the student has written.
fn first_commit(root: &Path, chapter: &Chapter) -> Result<()> {
    git::run(root, &["init", "--quiet"])?;
    git::run(root, &["add", "--all"])?;
    let message = format!("--message=The start of {}", chapter.name);
    let who = [
        "user.name=cargo x start",
        "user.email=start@localhost",
        "commit.gpgsign=false",
    ];
    let settings = who.iter().flat_map(|setting| ["-c", setting]);
    let commit = ["commit", "--quiet", "--no-verify", &message];
    git::run(root, &settings.chain(commit).collect::<Vec<_>>())?;
    Ok(())
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
        assert!(
            error.ends_with("is not empty; name a folder that is not there yet"),
            "{error}"
        );
    }

    #[test]
    fn a_folder_can_be_typed() {
        assert_eq!(typed(Path::new("../my-course")), "../my-course");
        assert_eq!(typed(Path::new("my course")), "'my course'");
        assert_eq!(typed(Path::new("tim's")), r"'tim'\''s'");
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

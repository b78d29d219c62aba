//! The files of a checkout, as git lists them: committed ones and new ones, never ignored ones.
//!
//! Every command reads the course through this one value, so a test can lay a course out in a few lines of text.
//! Invariant: paths are relative to the workspace and separated by `/`, on every system.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use anyhow::{Context, Result};

use crate::git;

/// A checkout's files by path.
#[derive(Default)]
pub struct Tree {
    files: BTreeMap<String, File>,
}

/// One file of the checkout.
pub struct File {
    /// The whole text; empty when the file is not UTF-8 or is a symbolic link.
    pub text: String,
    /// Whether the path is a symbolic link.
    pub symlink: bool,
}

impl Tree {
    /// Reads every file below `root` that git does not ignore.
    ///
    /// # Errors
    /// When `root` is in no git checkout, or a listed file cannot be read.
    pub fn read(root: &Path) -> Result<Self> {
        let which = ["-z", "--cached", "--others", "--exclude-standard"];
        let listed = git::run(root, &[&["ls-files"][..], &which].concat())?;
        let mut files = BTreeMap::new();
        for path in listed.split_terminator('\0') {
            let file = read_file(&root.join(path)).with_context(|| format!("reading {path}"))?;
            files.extend(file.map(|file| (path.to_owned(), file)));
        }
        Ok(Self { files })
    }

    /// A tree of committed files with these paths and texts. A later text replaces an earlier one of the same path.
    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Self {
        let file = |text: &str| File {
            text: text.to_owned(),
            symlink: false,
        };
        let files = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), file(text)));
        Self {
            files: files.collect(),
        }
    }

    /// The text of the file at `path`, when there is one.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(|file| file.text.as_str())
    }

    /// The file at `path`, when there is one.
    pub fn file(&self, path: &str) -> Option<&File> {
        self.files.get(path)
    }

    /// Whether there is a file below this folder.
    pub fn is_folder(&self, path: &str) -> bool {
        self.below(path.trim_end_matches('/')).next().is_some()
    }

    /// All files in the order of their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &File)> {
        self.files.iter().map(|(path, file)| (path.as_str(), file))
    }

    /// The files below `folder` (no trailing slash), in the order of their paths.
    pub fn below<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = (&'a str, &'a File)> {
        self.iter().filter(move |(path, _)| {
            path.strip_prefix(folder)
                .is_some_and(|rest| rest.starts_with('/'))
        })
    }
}

/// The file at `path`, or `None` when it was deleted but not yet committed as deleted, or is a folder.
fn read_file(path: &Path) -> io::Result<Option<File>> {
    let kind = match path.symlink_metadata() {
        Ok(metadata) => metadata.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if kind.is_dir() {
        return Ok(None);
    }
    let text = if kind.is_symlink() {
        String::new()
    } else {
        String::from_utf8(fs::read(path)?).unwrap_or_default()
    };
    let symlink = kind.is_symlink();
    Ok(Some(File { text, symlink }))
}

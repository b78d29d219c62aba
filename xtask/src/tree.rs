//! The files of a checkout, as git lists them: committed ones and new ones, never ignored ones.
//!
//! Every command reads the course through this one value, so a test can lay a course out in a few lines of text.
//! Invariant: paths are relative to the workspace and separated by `/`, on every system.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::git;

/// A checkout's files by path: their whole text, which is empty for one that is not UTF-8.
#[derive(Default)]
pub struct Tree(pub BTreeMap<String, String>);

impl Tree {
    /// Reads every file below `root` that git does not ignore.
    ///
    /// # Errors
    /// When `root` is in no git checkout, or a listed file cannot be read.
    pub fn read(root: &Path) -> Result<Self> {
        let which = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let listed = git::run(root, &which)?;
        let mut files = BTreeMap::new();
        for path in listed.split_terminator('\0') {
            let place = root.join(path);
            // Another one is deleted but not yet committed as deleted, or a folder.
            if place.is_file() {
                let bytes = fs::read(place).with_context(|| format!("reading {path}"))?;
                files.insert(path.to_owned(), String::from_utf8(bytes).unwrap_or_default());
            }
        }
        Ok(Self(files))
    }

    /// The text of the file at `path`, when there is one.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(String::as_str)
    }

    /// Whether there is a file at this path, or below it.
    pub fn holds(&self, path: &str) -> bool {
        self.text(path).is_some() || self.below(path.trim_end_matches('/')).next().is_some()
    }

    /// All files in the order of their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The files below `folder` (no trailing slash), in the order of their paths.
    pub fn below<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.iter().filter(move |(path, _)| {
            let rest = path.strip_prefix(folder);
            rest.is_some_and(|rest| rest.starts_with('/'))
        })
    }
}

//! A copy of the course in a git repository of its own, to be changed and built there.
//!
//! Reference patches and emptied bodies are tried in a copy, so that nobody's own files are ever touched.
//! Invariant: a copy shares what cargo built of other people's crates and nothing of ours; its version keeps them apart.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::cargo::{self, cargo};
use crate::git;
use crate::tree::Tree;
use crate::workspace::Workspace;

/// A copy of the course.
pub struct Copy {
    /// Its folder.
    pub root: PathBuf,
    /// Where cargo builds what a program is made of: the course's own place, or one of the copy's.
    build_dir: PathBuf,
}

/// Where cargo keeps what it has built, within a build directory.
const BUILT: [&str; 3] = ["debug/.fingerprint", "debug/build", "debug/deps"];
/// What a person's own cargo reads in a copy.
const SETTINGS: &str = ".cargo/config.toml";

impl Copy {
    /// Copies the course to `root`, in the version `0.1.0-MARK`. What lies there already and is the same stays untouched, so
    /// that cargo need not build it again; what lies there of another day's course goes.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn make(ws: &Workspace, root: &Path, mark: &str) -> Result<Self> {
        let copy = Self {
            root: root.to_owned(),
            build_dir: build_dir()?,
        };
        fs::create_dir_all(root).with_context(|| format!("making {}", root.display()))?;
        git::run(root, &["init", "--quiet"])?;
        for (path, _) in Tree::read(root)?.iter() {
            if ws.tree.text(path).is_none() {
                fs::remove_file(root.join(path)).with_context(|| format!("removing {path}"))?;
            }
        }
        for (path, text) in ws.tree.iter() {
            if path == "Cargo.toml" {
                copy.write(path, &marked(text, mark)?)?;
            } else {
                let bytes = fs::read(ws.root.join(path));
                copy.write(path, bytes.with_context(|| format!("reading {path}"))?)?;
            }
        }
        // The lock file has the version of our own packages, too.
        let update = ["update", "--workspace", "--offline", "--quiet"];
        cargo::succeeds(&mut copy.cargo(&update))?;
        copy.keep()?;
        Ok(copy)
    }

    /// Makes what lies there now what [`Copy::restore`] comes back to.
    ///
    /// # Errors
    /// When git refuses.
    pub fn keep(&self) -> Result<()> {
        git::run(&self.root, &["add", "--all"]).map(drop)
    }

    /// Gives all files back that were changed, and takes away those that are new.
    ///
    /// # Errors
    /// When git refuses.
    pub fn restore(&self) -> Result<()> {
        git::run(&self.root, &["checkout", "--quiet", "."])?;
        git::run(&self.root, &["clean", "--quiet", "--force", "-d"]).map(drop)
    }

    /// Writes a file of the copy, unless it is the same already.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) -> Result<()> {
        let path = self.root.join(path);
        if fs::read(&path).is_ok_and(|there| there == text.as_ref()) {
            return Ok(());
        }
        let folder = path.parent().unwrap_or(&self.root);
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, text));
        written.with_context(|| format!("writing {}", path.display()))
    }

    /// Builds in a place of the copy's own from now on, so that what it builds can be thrown away. What the course has built
    /// of other people's crates is there too, as links to the same files.
    ///
    /// # Errors
    /// When a link cannot be made.
    pub fn build_apart(mut self) -> Result<Self> {
        let own = self.root.join("target/build");
        for place in BUILT {
            let from = self.build_dir.join(place);
            let doing = || format!("linking {}", from.display());
            link(&from, &own.join(place)).with_context(doing)?;
        }
        self.build_dir = own;
        Ok(self)
    }

    /// Has a person's own cargo build in the course's place.
    ///
    /// # Errors
    /// When the settings cannot be written.
    pub fn share_build(&self, ws: &Workspace) -> Result<()> {
        let settings = ws.tree.text(SETTINGS).unwrap_or_default();
        let build_dir = self.build_dir.display().to_string();
        // What cargo has built of other people's crates need not be built again.
        let settings = format!("{settings}\n[build]\nbuild-dir = {build_dir:?}\n");
        self.write(SETTINGS, settings)
    }

    /// Cargo in the copy.
    pub fn cargo(&self, args: &[&str]) -> Command {
        let mut command = cargo(args);
        command
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", self.root.join("target"))
            .env("CARGO_BUILD_BUILD_DIR", &self.build_dir);
        command
    }
}

/// Links all files below `from` into `to`, those that are not there yet. Cargo leaves the files of a crate alone as long as
/// the crate need not be built again, and ours are built under another name here.
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    if !from.exists() {
        return Ok(());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let (entry, to) = entry.map(|entry| (entry.path(), to.join(entry.file_name())))?;
        if entry.is_dir() {
            link(&entry, &to)?;
        } else if !to.exists() && fs::hard_link(&entry, &to).is_err() {
            // A file system without links, or another one.
            fs::copy(&entry, &to)?;
        }
    }
    Ok(())
}

/// The workspace's manifest with another version, and with no word about what is not used yet.
fn marked(manifest: &str, mark: &str) -> Result<String> {
    const VERSION: &str = "version = \"0.1.0\"\n";
    const LINTS: &str = "[workspace.lints.rust]\n";
    let is_usual = manifest.contains(VERSION) && manifest.contains(LINTS);
    ensure!(is_usual, "Cargo.toml has no version 0.1.0, or no lints");
    let manifest = manifest.replacen(VERSION, &format!("version = \"0.1.0-{mark}\"\n"), 1);
    Ok(manifest.replacen(LINTS, &format!("{LINTS}unused = \"allow\"\n"), 1))
}

/// Where cargo builds what a program is made of: where the person says, or where it has built this program.
///
/// # Errors
/// When this program cannot tell where it lies.
pub fn build_dir() -> Result<PathBuf> {
    match std::env::var_os("CARGO_BUILD_BUILD_DIR") {
        Some(folder) => std::path::absolute(folder).context("looking for the build folder"),
        None => cargo::target(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_is_linked_and_what_is_there_stays() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        for (path, text) in [("from/a/libx.rlib", "x"), ("from/y", "y"), ("to/y", "own")] {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        link(&from, &to).unwrap();
        link(&dir.path().join("nowhere"), &to).unwrap();

        let read = |path: &str| fs::read_to_string(to.join(path)).unwrap();
        assert_eq!((read("a/libx.rlib"), read("y")), ("x".into(), "own".into()));
    }
}

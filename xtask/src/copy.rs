//! A copy of the course in a folder of its own, to be changed and built there.
//!
//! Reference patches and emptied bodies are tried in a copy, so that nobody's own files are ever touched.
//! Invariant: a copy shares what cargo built of other people's crates and nothing of ours; its version keeps them apart.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::cargo::{self, cargo};
use crate::workspace::{Chapter, Workspace};

/// A copy of the course.
pub struct Copy {
    /// Its folder.
    pub root: PathBuf,
    /// Where cargo builds what a program is made of: the course's own place, or one of the copy's.
    build_dir: PathBuf,
}

/// Where cargo keeps what it has built, within a build directory.
const BUILT: [&str; 3] = ["debug/.fingerprint", "debug/build", "debug/deps"];

impl Copy {
    /// Copies the course to `root`, in the version `0.1.0-MARK`. What lies there already and is the same stays untouched, so
    /// that cargo need not build it again; what lies there of another day's chapter goes.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn make(ws: &Workspace, root: &Path, mark: &str) -> Result<Self> {
        let copy = Self {
            root: root.to_owned(),
            build_dir: build_dir()?,
        };
        for (path, file) in ws.tree.iter().filter(|(_, file)| !file.symlink) {
            match path {
                "Cargo.toml" => copy.write(path, &marked(&file.text, mark)?)?,
                "Cargo.lock" => copy.write(path, &marked_lock(&file.text, mark))?,
                _ => copy.bring(ws, path)?,
            }
        }
        for chapter in &ws.chapters {
            copy.remove_others(ws, &chapter.name)?;
        }
        Ok(copy)
    }

    /// Gives a chapter its own files again, and takes away all others.
    ///
    /// # Errors
    /// When a file cannot be read, written or removed.
    pub fn restore(&self, ws: &Workspace, chapter: &Chapter) -> Result<()> {
        let files = ws.tree.below(&chapter.name);
        for (path, _) in files.filter(|(_, file)| !file.symlink) {
            self.bring(ws, path)?;
        }
        self.remove_others(ws, &chapter.name)
    }

    /// Writes a file as the course has it.
    fn bring(&self, ws: &Workspace, path: &str) -> Result<()> {
        let bytes = fs::read(ws.root.join(path)).with_context(|| format!("reading {path}"))?;
        self.write_bytes(path, &bytes)
    }

    /// Removes what the course does not have in this folder: a file that a patch has made, say.
    fn remove_others(&self, ws: &Workspace, folder: &str) -> Result<()> {
        let place = self.root.join(folder);
        let doing = || format!("emptying {}", place.display());
        if !place.exists() {
            return Ok(());
        }
        for entry in fs::read_dir(&place).with_context(doing)? {
            let entry = entry.with_context(doing)?;
            let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if entry.file_type().with_context(doing)?.is_dir() {
                self.remove_others(ws, &path)?;
            } else if ws.tree.file(&path).is_none() {
                fs::remove_file(entry.path()).with_context(doing)?;
            }
        }
        Ok(())
    }

    /// Writes a file of the copy, unless it is the same already.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: &str, text: &str) -> Result<()> {
        self.write_bytes(path, text.as_bytes())
    }

    fn write_bytes(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let path = self.root.join(path);
        if fs::read(&path).is_ok_and(|there| there == bytes) {
            return Ok(());
        }
        let doing = || format!("writing {}", path.display());
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).with_context(doing)?;
        }
        fs::write(&path, bytes).with_context(doing)
    }

    /// Builds in a place of the copy's own from now on, so that what it builds can be thrown away. What the course has built
    /// of other people's crates is there too, as links to the same files.
    ///
    /// # Errors
    /// When a link cannot be made.
    pub fn build_apart(mut self) -> Result<Self> {
        let own = self.root.join("build");
        for place in BUILT {
            let from = self.build_dir.join(place);
            let doing = || format!("linking {}", from.display());
            link(&from, &own.join(place)).with_context(doing)?;
        }
        self.build_dir = own;
        Ok(self)
    }

    /// Lets a person's cargo build in the copy as [`Copy::cargo`] does.
    ///
    /// # Errors
    /// When the settings cannot be written.
    pub fn share_build(&self, ws: &Workspace) -> Result<()> {
        const SETTINGS: &str = ".cargo/config.toml";
        let settings = ws.tree.text(SETTINGS).unwrap_or_default();
        let build_dir = self.build_dir.display().to_string();
        self.write(SETTINGS, &format!("{settings}\n# What cargo has built of other people's crates need not be built again.\n[build]\nbuild-dir = {build_dir:?}\n"))
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
    ensure!(
        manifest.contains(VERSION) && manifest.contains(LINTS),
        "Cargo.toml has no {} or no {}",
        VERSION.trim(),
        LINTS.trim()
    );
    let manifest = manifest.replacen(VERSION, &format!("version = \"0.1.0-{mark}\"\n"), 1);
    Ok(manifest.replacen(LINTS, &format!("{LINTS}unused = \"allow\"\n"), 1))
}

/// The lock file with the same version for our own packages, as cargo would write it: a person's `git diff` stays empty.
fn marked_lock(lock: &str, mark: &str) -> String {
    let version = format!("\nversion = \"0.1.0-{mark}\"");
    let packages = lock
        .split("\n\n")
        .map(|package| match package.contains("\nsource = ") {
            true => package.to_owned(),
            false => package.replacen("\nversion = \"0.1.0\"", &version, 1),
        });
    packages.collect::<Vec<_>>().join("\n\n")
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

    #[test]
    fn a_copy_has_a_version_of_its_own_and_does_not_mind_what_is_unused() {
        let manifest = "[workspace.package]\nversion = \"0.1.0\"\n\n[workspace.lints.rust]\nmissing_docs = \"warn\"\n";

        assert_eq!(
            marked(manifest, "start.d1").unwrap(),
            "[workspace.package]\nversion = \"0.1.0-start.d1\"\n\n[workspace.lints.rust]\nunused = \"allow\"\nmissing_docs = \"warn\"\n"
        );
        assert!(marked("[workspace]\n", "a").is_err());
    }

    #[test]
    fn the_lock_file_has_our_own_packages_in_the_new_version() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"0.1.0\"\nsource = \"registry\"\n\n\
            [[package]]\nname = \"s01_loop\"\nversion = \"0.1.0\"\ndependencies = [\n \"a\",\n]\n";

        let ours = "name = \"s01_loop\"\nversion = \"0.1.0";
        assert_eq!(
            marked_lock(lock, "x"),
            lock.replace(ours, &format!("{ours}-x"))
        );
    }
}

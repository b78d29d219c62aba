//! A copy of the course in a git repository of its own, to be changed and built there.
//!
//! Reference patches and emptied bodies are tried in a copy, so that nobody's own files are ever touched.
//! Invariant: what cargo built for the course is never written by a cargo in a copy: it builds in a place of its own, or keeps
//! ours apart by another version.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::cargo::{self, cargo};
use crate::git;
use crate::workspace::{Member, Workspace};

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
    /// Copies the course to `root`, an empty folder. A file is as old as it is in the course.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn make(ws: &Workspace, root: &Path) -> Result<Self> {
        let copy = Self {
            root: root.to_owned(),
            build_dir: build_dir()?,
        };
        fs::create_dir_all(root).with_context(|| format!("making {}", root.display()))?;
        git::run(root, &["init", "--quiet"])?;
        for (path, _) in ws.tree.iter() {
            let copied = as_it_is(&ws.root.join(path), &root.join(path));
            copied.with_context(|| format!("copying {path}"))?;
        }
        copy.keep()?;
        Ok(copy)
    }

    /// Gives the copy the version `0.1.0-MARK`, under which cargo builds our crates beside those of the course.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn mark(&self, ws: &Workspace, mark: &str) -> Result<()> {
        self.write("Cargo.toml", marked(ws.tree.text("Cargo.toml").unwrap_or_default(), mark)?)?;
        // The lock file has the version of our own packages, too.
        let update = ["update", "--workspace", "--offline", "--quiet"];
        cargo::succeeds(&mut self.cargo(&update))?;
        self.keep()
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

    /// Writes a file of the copy.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) -> Result<()> {
        let path = self.root.join(path);
        let folder = path.parent().unwrap_or(&self.root);
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, text));
        written.with_context(|| format!("writing {}", path.display()))
    }

    /// Builds in a place of the copy's own from now on, so that what it builds can be thrown away. The libraries that the
    /// course has built are there too, as links to the same files.
    ///
    /// # Errors
    /// When a link cannot be made.
    pub fn build_apart(mut self, ws: &Workspace) -> Result<Self> {
        let own = self.root.join("target/build");
        let ours: Vec<_> = ws.members.iter().filter_map(Member::package).collect();
        for place in BUILT {
            let from = self.build_dir.join(place);
            let doing = || format!("linking {}", from.display());
            link(&from, &own.join(place), &ours).with_context(doing)?;
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

/// Links all files below `from` into `to`; of `ours` the libraries alone, for tests and programs hold the paths of the course.
///
/// A compiler writes a library under another name and renames it, which leaves a link alone. Cargo's notes on one of ours
/// it writes in place, so they are copied.
fn link(from: &Path, to: &Path, ours: &[&str]) -> std::io::Result<()> {
    if !from.exists() {
        return Ok(());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let name = entry?.file_name();
        let (from, to) = (from.join(&name), to.join(&name));
        let name = name.to_string_lossy();
        let is_ours = name.rsplit_once('-').is_some_and(|(package, _)| {
            ours.contains(&package.strip_prefix("lib").unwrap_or(package))
        });
        if from.is_dir() && is_ours {
            let notes = fs::read_dir(&from)?.collect::<Result<Vec<_>, _>>()?;
            if notes.iter().any(|note| note.file_name().to_string_lossy().starts_with("lib-")) {
                let mut copied =
                    notes.iter().map(|it| as_it_is(&it.path(), &to.join(it.file_name())));
                copied.try_for_each(|copied| copied)?;
            }
        } else if from.is_dir() {
            link(&from, &to, ours)?;
        } else if (!is_ours || name.ends_with(".rlib") || name.ends_with(".rmeta"))
            && fs::hard_link(&from, &to).is_err()
        {
            // A file system without links, or another one.
            as_it_is(&from, &to)?;
        }
    }
    Ok(())
}

/// Copies a file with its age: by that, cargo knows whether what it has built is of today.
fn as_it_is(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to.parent().unwrap_or(to))?;
    fs::copy(from, to)?;
    File::open(to)?.set_modified(fs::metadata(from)?.modified()?)
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
    fn what_is_built_is_linked_and_of_ours_the_libraries_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        let built = ["bytes-1/lib-bytes", "s05_todo-1/lib-s05_todo", "s05_todo-2/bin-s05_todo"];
        let deps =
            ["libs05_todo-1.rlib", "s05_todo-3", "s05_todo-1.d", "libbytes-1.rlib", "bytes-1.d"];
        for path in built.iter().chain(&deps) {
            fs::create_dir_all(from.join(path).parent().unwrap()).unwrap();
            fs::write(from.join(path), path).unwrap();
        }
        link(&from, &to, &["s05_todo"]).unwrap();
        link(&dir.path().join("nowhere"), &to, &[]).unwrap();

        let is_there = |path: &&&str| to.join(path).exists();
        let there: Vec<_> = built.iter().chain(&deps).filter(is_there).copied().collect();
        assert_eq!(there, [built[0], built[1], deps[0], deps[3], deps[4]]);
        // Cargo writes its notes anew; those of the course stay.
        fs::write(to.join(built[1]), "other").unwrap();
        assert_eq!(fs::read_to_string(from.join(built[1])).unwrap(), built[1]);
    }
}

//! A copy of the course in a folder of its own, to be changed and built there.
//!
//! Reference patches and emptied bodies are tried in a copy, so that nobody's own files are ever touched.
//! Invariant: a copy shares what cargo built of other people's crates and nothing of ours; its version keeps them apart.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::cargo::cargo;
use crate::workspace::Workspace;

/// A copy of the course.
pub struct Copy {
    /// Its folder.
    pub root: PathBuf,
    /// Where cargo builds what a program is made of; the course's own.
    build_dir: PathBuf,
}

impl Copy {
    /// Copies the course to `root`, in the version `0.1.0-MARK`. What lies there already and is the same stays untouched, so
    /// that cargo need not build it again.
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
                // Cargo writes the new version into it.
                "Cargo.lock" if copy.root.join(path).exists() => {}
                _ => copy.write_bytes(
                    path,
                    &fs::read(ws.root.join(path)).with_context(|| format!("reading {path}"))?,
                )?,
            }
        }
        Ok(copy)
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

    /// Lets a person's cargo build in the copy as [`Copy::cargo`] does.
    ///
    /// # Errors
    /// When the settings cannot be written.
    pub fn share_build(&self, ws: &Workspace) -> Result<()> {
        const SETTINGS: &str = ".cargo/config.toml";
        let settings = ws.tree.text(SETTINGS).unwrap_or_default();
        let build_dir = self.build_dir.display();
        self.write(SETTINGS, &format!("{settings}\n# What cargo has built of other people's crates need not be built again.\n[build]\nbuild-dir = '{build_dir}'\n"))
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

/// Where cargo builds what a program is made of: where the person says, or where it has built this program.
///
/// # Errors
/// When this program cannot tell where it lies.
pub fn build_dir() -> Result<PathBuf> {
    if let Some(folder) = std::env::var_os("CARGO_BUILD_BUILD_DIR") {
        return Ok(folder.into());
    }
    let own = std::env::current_exe().context("looking for the target folder")?;
    let target = own.ancestors().nth(2);
    Ok(target.context("looking for the target folder")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_a_version_of_its_own_and_does_not_mind_what_is_unused() {
        let manifest = "[workspace.package]\nversion = \"0.1.0\"\n\n[workspace.lints.rust]\nmissing_docs = \"warn\"\n";

        assert_eq!(
            marked(manifest, "start.d1").unwrap(),
            "[workspace.package]\nversion = \"0.1.0-start.d1\"\n\n[workspace.lints.rust]\nunused = \"allow\"\nmissing_docs = \"warn\"\n"
        );
        assert!(marked("[workspace]\n", "a").is_err());
    }
}

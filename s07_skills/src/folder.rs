//! A folder of skills: one subfolder each, with a SKILL.md in it.
//!
//! Invariant: a broken skill is reported in one sentence and never affects the others.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use s02_tools::MAX_READ;

use crate::skill::Skill;

/// The file in a skill's folder that holds its description and its body.
pub(crate) const SKILL_FILE: &str = "SKILL.md";

/// The SKILL.md files below a folder, sorted by path; none when the folder is missing.
///
/// # Errors
/// When the folder is there and cannot be read.
pub(crate) fn skill_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let files = entries.flatten().map(|entry| entry.path().join(SKILL_FILE));
    // A folder without a SKILL.md is no skill. A SKILL.md that cannot be looked at, or links to nowhere, is a broken one.
    let mut files: Vec<PathBuf> = files
        .filter(|file| match fs::symlink_metadata(file) {
            Ok(_) => true,
            Err(error) => !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
        })
        .collect();
    files.sort();
    Ok(files)
}

/// Reads the skill in this file.
///
/// # Errors
/// Says in one sentence what is wrong with the file.
pub(crate) fn read_skill(file: &Path) -> Result<Skill> {
    let found = fs::metadata(file).map_err(|error| match error.kind() {
        ErrorKind::NotFound => anyhow!("it is a link to nowhere"),
        _ => error.into(),
    })?;
    // Reading a named pipe would block.
    ensure!(found.is_file(), "it is not a regular file");
    ensure!(
        found.len() <= MAX_READ as u64,
        "it has more than {MAX_READ} bytes; put the details into files beside it"
    );
    let text = String::from_utf8(fs::read(file)?).ok();
    Skill::read(&text.context("it is not UTF-8 text")?, file.parent())
}

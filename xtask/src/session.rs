//! `cargo x session s19`: the recorded session in a chapter's README, compared with what the chapter does, or written.
//!
//! The chapter's own test `session` types the lines, so that `cargo test` compares as well and nothing is built twice.
//! Invariant: what stands between the markers comes from a run, never from a hand.

use anyhow::{Result, bail, ensure};

use crate::cargo::{cargo, succeeds};
use crate::workspace::{Chapter, Workspace};

/// The name of the markers around a session in a README.
pub const MARKERS: &str = "session";
/// The test that records it.
const TEST: &str = "tests/class/session.rs";
/// Tells the test to write; `testkit::Session` reads it.
const WRITE: (&str, &str) = ("SESSION", "write");

/// Compares the session of `wanted`, or of every chapter that has one; or writes it into its README.
///
/// # Errors
/// When a README shows another session than the chapter's, or a run fails.
pub fn run(ws: &Workspace, wanted: Option<&Chapter>, write: bool) -> Result<()> {
    let recorded = |chapter: &&Chapter| ws.text(chapter, TEST).is_some();
    let chapters: Vec<_> = match wanted {
        Some(chapter) => vec![chapter],
        None => ws.chapters.iter().filter(recorded).collect(),
    };
    for chapter in chapters {
        let name = &chapter.name;
        ensure!(
            recorded(&chapter),
            "{name} has no {TEST}; write one that records a session"
        );
        let args = ["test", "--quiet", "--package", name, "--test", "class"];
        let mut command = cargo(&args);
        command.arg("session::");
        command.current_dir(&ws.root);
        if write {
            command.env(WRITE.0, WRITE.1);
        }
        if !succeeds(&mut command)? {
            bail!("the session of {name} is not what its README shows");
        }
    }
    Ok(())
}

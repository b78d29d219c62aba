//! `cargo x session s19`: the recorded session in a chapter's README, compared with what the chapter does, or written.
//!
//! The chapter's own test `session` types the lines, so that `cargo test` compares as well and nothing is built twice.
//! Invariant: what stands between the markers comes from a run, never from a hand.

use anyhow::{Result, ensure};

use crate::cargo::{cargo, succeeds};
use crate::workspace::{Chapter, Workspace};

/// The name of the markers around a session in a README.
pub const MARKERS: &str = "session";
/// The test that records it.
pub const TEST: &str = "tests/class/session.rs";

/// Compares the session of `wanted`, or of every chapter that has one; or writes it into its README.
///
/// # Errors
/// When a README shows another session than the chapter's, or a run fails.
pub fn run(ws: &Workspace, wanted: Option<&Chapter>, write: bool) -> Result<()> {
    let chosen = ws.chapters.iter().filter(|it| wanted.is_none_or(|wanted| wanted == *it));
    let recorded: Vec<_> = chosen.filter(|it| ws.text(it, TEST).is_some()).collect();
    ensure!(!recorded.is_empty(), "the chapter has no {TEST}; write one that records a session");
    let mut command = cargo(&["test", "--quiet", "--no-fail-fast", "--test", "main"]);
    command.args(recorded.iter().flat_map(|it| ["--package", &it.name]));
    command.arg("class::session::").current_dir(&ws.root);
    if write {
        // `testkit::Session` reads it.
        command.env("SESSION", "write");
    }
    ensure!(succeeds(&mut command)?, "a session is not what its README shows");
    Ok(())
}

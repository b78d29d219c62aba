//! `cargo x ci`: every check, in the order in which a mistake is found soonest.
//!
//! The one entry for contributors, hooks and CI, so that all of them see the same.
//! Invariant: it stops at the first failure and names the command that repeats only that step; what is skipped for want of a
//! program stands in the last line.

use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::book::browser;
use crate::cargo::{cargo, succeeds};
use crate::terminal;
use crate::workspace::Workspace;

/// The checks: their names, and how cargo is called. All that build take the whole workspace, so that every dependency is
/// built with one set of features.
const STEPS: [(&str, &str); 12] = [
    ("fmt", "fmt --all --check"),
    ("tidy", "x tidy"),
    ("budget", "x budget"),
    ("features", "x features"),
    ("clippy", "clippy --workspace --all-targets -- -D warnings"),
    // Tests may unwrap, their helpers among them, which clippy cannot tell from other code. With examples, so that no
    // dependency is built for fewer features.
    ("unwrap", "clippy --workspace --lib --bins --examples -- -D warnings -D clippy::unwrap_used"),
    ("machete", "machete"),
    ("deny", "deny check bans licenses sources"),
    ("doc", "doc --workspace --no-deps"),
    ("test", "test --workspace --no-fail-fast"),
    ("exercises", "x exercises"),
    ("book", "x book --test"),
];

/// What needs a network the first time; only on request.
const EXTERNAL: (&str, &str) = ("external", "x external");

/// Runs all checks; the external ones when asked to.
///
/// # Errors
/// When a check fails, or cargo cannot be started.
pub fn run(ws: &Workspace, external: bool) -> Result<()> {
    let started = Instant::now();
    let mut skipped = String::new();
    for (name, args) in STEPS.iter().chain(external.then_some(&EXTERNAL)) {
        if let Err(why) = needs(name) {
            let skip = format!("{name}: skipped; {why:#}");
            terminal::print(&format!("== {skip}\n"))?;
            skipped += &format!("; {skip}");
            continue;
        }
        let began = Instant::now();
        terminal::print(&format!("== {name}: cargo {args}\n"))?;
        let mut command = cargo(&args.split(' ').collect::<Vec<_>>());
        let passed = succeeds(command.current_dir(&ws.root).stdin(Stdio::null()))?;
        let seconds = began.elapsed().as_secs_f64();
        if !passed {
            bail!("{name} failed after {seconds:.1} s; to repeat it: cargo {args}");
        }
        terminal::print(&format!("== {name}: ok in {seconds:.1} s\n"))?;
    }
    let all = if skipped.is_empty() { "all" } else { "all other" };
    let seconds = started.elapsed().as_secs_f64();
    let last = format!("== {all} checks passed in {seconds:.1} s{skipped}\n");
    Ok(terminal::print(&last)?)
}

/// Fails with what this machine lacks for a step.
fn needs(step: &str) -> Result<()> {
    match step {
        "machete" | "deny" => {
            let name = format!("cargo-{step}");
            let started = Command::new(&name).arg("--version").output().map(drop);
            started.with_context(|| format!("{name} is missing; cargo install {name} --locked"))
        }
        "book" => browser::tools().map(drop),
        _ => Ok(()),
    }
}

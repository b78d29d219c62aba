//! `cargo x ci`: every check, in the order in which a mistake is found soonest.
//!
//! The one entry for contributors, hooks and CI, so that all of them see the same.
//! Invariant: nothing is begun after a failure, whose command is named, so that only that step is repeated; what is skipped
//! for want of a program stands in the last line.

use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::book::browser;
use crate::cargo::{cargo, succeeds};
use crate::terminal;
use crate::workspace::Workspace;

/// The checks: their names, and how cargo is called. All that build take the whole workspace, so that every dependency is
/// built with one set of features.
const STEPS: [Step; 10] = [
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
    // With an example for the same reason.
    ("doc", "doc --workspace --no-deps --lib --bin xtask --example forward"),
    ("build", "test --workspace --no-run"),
];

/// What runs then: tests and a browser wait more than they compute.
const THEN: [Step; 2] = [("test", "test --workspace --no-fail-fast"), ("book", "x book --test")];

/// What runs beside them, for it mostly compiles; what it says is shown at its end.
const BESIDE: Step = ("exercises", "x exercises");

/// What needs a network the first time; only on request.
const EXTERNAL: Step = ("external", "x external");

/// Its name, and how cargo is called.
type Step = (&'static str, &'static str);

/// Runs all checks; the external ones when asked to.
///
/// # Errors
/// When a check fails, or cargo cannot be started.
pub fn run(ws: &Workspace, external: bool) -> Result<()> {
    let started = Instant::now();
    let mut skipped = String::new();
    for step in &STEPS {
        skipped += &check(ws, step, false)?;
    }
    let (here, beside) = thread::scope(|scope| {
        let beside = scope.spawn(|| check(ws, &BESIDE, true));
        let here = THEN.iter().chain(external.then_some(&EXTERNAL));
        let here: Result<String> = here.map(|step| check(ws, step, false)).collect();
        (here, beside.join().expect("it ends with a result"))
    });
    if let (Err(here), Err(beside)) = (&here, &beside) {
        bail!("{here}\n{beside}");
    }
    skipped += &(here? + &beside?);
    let all = if skipped.is_empty() { "all" } else { "all other" };
    let seconds = started.elapsed().as_secs_f64();
    let last = format!("== {all} checks passed in {seconds:.1} s{skipped}\n");
    Ok(terminal::print(&last)?)
}

/// Runs a check; what is to be told at the end when it is skipped.
fn check(ws: &Workspace, (name, args): &Step, quietly: bool) -> Result<String> {
    if let Err(why) = needs(name) {
        let skip = format!("{name}: skipped; {why:#}");
        terminal::print(&format!("== {skip}\n"))?;
        return Ok(format!("; {skip}"));
    }
    let began = Instant::now();
    let beside = if quietly { ", beside what follows" } else { "" };
    terminal::print(&format!("== {name}: cargo {args}{beside}\n"))?;
    let mut command = cargo(&args.split(' ').collect::<Vec<_>>());
    command.current_dir(&ws.root).stdin(Stdio::null());
    let passed = if quietly {
        let output = command.output().context("starting cargo")?;
        terminal::print(&String::from_utf8_lossy(&output.stdout))?;
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
        output.status.success()
    } else {
        succeeds(&mut command)?
    };
    let seconds = began.elapsed().as_secs_f64();
    if !passed {
        bail!("{name} failed after {seconds:.1} s; to repeat it: cargo {args}");
    }
    terminal::print(&format!("== {name}: ok in {seconds:.1} s\n"))?;
    Ok(String::new())
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

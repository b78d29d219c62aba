//! `cargo x ci`: every check, in the order in which a mistake is found soonest.
//!
//! The one entry for contributors, hooks and CI, so that all of them see the same.
//! Invariant: it stops at the first failure and names the command that repeats only that step; what is skipped for want of a
//! program stands in the last line.

use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::book;
use crate::cargo::cargo;
use crate::git;
use crate::terminal;
use crate::workspace::Workspace;

/// A check: a call of cargo.
struct Step {
    name: &'static str,
    /// Separated by blanks.
    args: &'static str,
    /// An environment variable and what is added to its value.
    env: Option<(&'static str, &'static str)>,
    /// Says what this machine lacks for it; the step is skipped then.
    needs: Option<fn() -> Result<()>>,
}

const STEPS: [Step; 13] = [
    step("fmt", "fmt --all --check"),
    step("tidy", "x tidy"),
    step("budget", "x budget"),
    step("features", "x features"),
    step("clippy", "clippy --workspace --all-targets -- -D warnings"),
    // Tests may unwrap, their helpers among them, which clippy cannot tell from other code.
    step(
        "unwrap",
        "clippy --workspace -- -D warnings -D clippy::unwrap_used",
    ),
    Step {
        needs: Some(|| installed("cargo-machete")),
        ..step("machete", "machete")
    },
    Step {
        needs: Some(|| installed("cargo-deny")),
        ..step("deny", "deny check bans licenses sources")
    },
    // The default members: all but mcp/*, whose wishes would have every dependency built a second time.
    step("test", "test --no-fail-fast"),
    step("mcp", "test -p mcp_everything -p mcp_wire --no-fail-fast"),
    step("exercises", "x exercises"),
    Step {
        env: Some(("RUSTDOCFLAGS", "-D warnings")),
        ..step("doc", "doc --workspace --no-deps")
    },
    Step {
        needs: Some(|| book::browser::tools().map(drop)),
        ..step("book", "x book --test")
    },
];

/// What needs a network the first time; only on request.
const EXTERNAL: Step = step("external", "x external");

const fn step(name: &'static str, args: &'static str) -> Step {
    Step {
        name,
        args,
        env: None,
        needs: None,
    }
}

/// Runs all checks; the external ones when asked to.
///
/// # Errors
/// When a check fails, or cargo cannot be started.
pub fn run(ws: &Workspace, external: bool) -> Result<()> {
    let started = Instant::now();
    let mut skipped = Vec::new();
    for step in STEPS.iter().chain(external.then_some(&EXTERNAL)) {
        if let Some(why) = step.needs.and_then(|needs| needs().err()) {
            let skip = format!("{}: skipped; {why:#}", step.name);
            terminal::print(&format!("== {skip}\n"))?;
            skipped.push(skip);
            continue;
        }
        let began = Instant::now();
        terminal::print(&format!("== {}: {}\n", step.name, step.typed()))?;
        let status = step
            .command()
            .current_dir(&ws.root)
            .status()
            .with_context(|| format!("starting cargo for {}", step.name))?;
        let seconds = began.elapsed().as_secs_f64();
        if !status.success() {
            bail!(
                "{} failed after {seconds:.1} s; to repeat it: {}",
                step.name,
                step.typed()
            );
        }
        terminal::print(&format!("== {}: ok in {seconds:.1} s\n", step.name))?;
    }
    let seconds = started.elapsed().as_secs_f64();
    Ok(terminal::print(&last_line(&skipped, seconds))?)
}

/// Whether a subcommand of cargo is there.
fn installed(name: &str) -> Result<()> {
    let started = Command::new(name).arg("--version").output();
    started.with_context(|| format!("{name} is missing; cargo install {name} --locked"))?;
    Ok(())
}

/// What stands at the end, where everybody looks.
fn last_line(skipped: &[String], seconds: f64) -> String {
    match skipped {
        [] => format!("== all checks passed in {seconds:.1} s\n"),
        _ => format!(
            "== all other checks passed in {seconds:.1} s; {}\n",
            skipped.join("; ")
        ),
    }
}

impl Step {
    fn command(&self) -> Command {
        let args: Vec<_> = self.args.split(' ').collect();
        let mut command = cargo(&args);
        command.stdin(Stdio::null());
        // A git hook points git at the repository it runs for; the tests' own repositories must not follow it.
        for name in git::ELSEWHERE {
            command.env_remove(name);
        }
        if let Some((name, added)) = self.env {
            command.env(name, joined(std::env::var(name).ok(), added));
        }
        command
    }

    /// The step as a person types it.
    fn typed(&self) -> String {
        let set = self
            .env
            .map(|(name, value)| format!("{name}=\"{value}\" "))
            .unwrap_or_default();
        format!("{set}cargo {}", self.args)
    }
}

/// What the user had set, and ours after it.
fn joined(own: Option<String>, added: &str) -> String {
    own.filter(|own| !own.is_empty())
        .map_or(added.to_owned(), |own| format!("{own} {added}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_shown_as_it_can_be_typed() {
        let typed: Vec<_> = STEPS.iter().map(Step::typed).collect();

        assert_eq!(typed[1], "cargo x tidy");
        assert_eq!(
            typed[11],
            "RUSTDOCFLAGS=\"-D warnings\" cargo doc --workspace --no-deps"
        );
    }

    #[test]
    fn a_step_does_not_follow_the_git_hook_that_calls_it() {
        let command = STEPS[8].command();

        assert!(
            command
                .get_envs()
                .any(|(name, value)| name == "GIT_DIR" && value.is_none())
        );
    }

    #[test]
    fn what_was_skipped_is_said_last() {
        assert_eq!(last_line(&[], 1.0), "== all checks passed in 1.0 s\n");
        assert_eq!(
            last_line(&["book: skipped; chromium is missing".to_owned()], 1.0),
            "== all other checks passed in 1.0 s; book: skipped; chromium is missing\n"
        );
    }

    #[test]
    fn what_the_user_has_set_is_kept() {
        assert_eq!(
            joined(Some("--cfg docsrs".to_owned()), "-D warnings"),
            "--cfg docsrs -D warnings"
        );
        assert_eq!(joined(None, "-D warnings"), "-D warnings");
    }
}

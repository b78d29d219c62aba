//! `cargo x ci`: every check, in the order in which a mistake is found soonest.
//!
//! The one entry for contributors, hooks and CI, so that all of them see the same.
//! Invariant: it stops at the first failure and names the command that repeats only that step.

use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::cargo::cargo;
use crate::terminal;
use crate::workspace::Workspace;

/// A check: a call of cargo.
struct Step {
    name: &'static str,
    args: &'static [&'static str],
    /// An environment variable and what is added to its value.
    env: Option<(&'static str, &'static str)>,
}

const STEPS: [Step; 9] = [
    step("fmt", &["fmt", "--all", "--check"]),
    step("tidy", &["x", "tidy"]),
    step("budget", &["x", "budget"]),
    step("features", &["x", "features"]),
    step(
        "clippy",
        &[
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ],
    ),
    step("test", &["test", "--workspace"]),
    step("exercises", &["x", "exercises"]),
    Step {
        env: Some(("RUSTDOCFLAGS", "-D warnings")),
        ..step("doc", &["doc", "--workspace", "--no-deps"])
    },
    step("book", &["x", "book", "--test", "--skip-missing"]),
];

/// What needs a network the first time; only on request.
const EXTERNAL: Step = step("external", &["x", "external"]);

const fn step(name: &'static str, args: &'static [&'static str]) -> Step {
    Step {
        name,
        args,
        env: None,
    }
}

/// Runs all checks; the external ones when asked to.
///
/// # Errors
/// When a check fails, or cargo cannot be started.
pub fn run(ws: &Workspace, external: bool) -> Result<()> {
    let started = Instant::now();
    for step in STEPS.iter().chain(external.then_some(&EXTERNAL)) {
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
    Ok(terminal::print(&format!(
        "== all checks passed in {:.1} s\n",
        started.elapsed().as_secs_f64()
    ))?)
}

impl Step {
    fn command(&self) -> Command {
        let mut command = cargo(self.args);
        command.stdin(Stdio::null());
        // A git hook points git at the repository it runs for; the tests' own repositories must not follow it.
        for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_PREFIX"] {
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
        format!("{set}cargo {}", self.args.join(" "))
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
            typed[7],
            "RUSTDOCFLAGS=\"-D warnings\" cargo doc --workspace --no-deps"
        );
    }

    #[test]
    fn a_step_does_not_follow_the_git_hook_that_calls_it() {
        let command = STEPS[5].command();

        assert!(
            command
                .get_envs()
                .any(|(name, value)| name == "GIT_DIR" && value.is_none())
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

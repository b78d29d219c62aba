//! One run of a subagent: the loop once more, with an end to it.
//!
//! It is the body of the lead's loop, without Stop hooks; its last reply is its result.
//! Invariant: a run takes at most [`MAX_ROUNDS`] rounds and ends in a report, or in an error that says why there is none.

use std::fmt::Display;
use std::sync::Arc;

use anyhow::{Error, Result, anyhow};
use kit::{cut, grouped};
use s01_loop::{History, Repl, Reply, System};
use s02_tools::Toolbox;
use s04_hooks::Hooks;

use crate::model::Model;

/// The most rounds a subagent may take.
pub const MAX_ROUNDS: usize = 30;

/// The most characters of a job that are shown when it begins.
const HEADLINE_CHARS: usize = 60;

/// A subagent. Dropping its work ends it with everything it has started.
pub struct Subagent {
    pub name: String,
    pub model: Arc<dyn Model>,
    pub system: System,
    pub tools: Toolbox,
    pub hooks: Hooks,
    pub repl: Repl,
}

impl Subagent {
    /// Does the job and returns the last words about it.
    pub async fn work(&self, description: &str) -> Result<String> {
        // Several subagents may run at once; this line shows which has which job.
        self.repl.remark(&headline(description));
        let mut history = History::default();
        history.user(description);
        let specs = self.tools.specs();
        for round in 1..=MAX_ROUNDS {
            let sent = self.model.send(&self.system, &mut history, &specs).await;
            let reply =
                sent.map_err(|error| self.stopped(format!("stopped in round {round}: {error}")))?;
            history.reply(&reply);
            if !reply.wants_tools() {
                let report = self.report(&reply)?;
                let tokens = grouped(history.tokens());
                self.repl
                    .remark(&format!("[done in round {round}: a conversation of {tokens} tokens]"));
                return Ok(report);
            }
            run_calls(&reply, &self.tools, &self.hooks, &self.repl, &mut history).await;
        }
        Err(self.stopped(format!(
            "not done after {MAX_ROUNDS} rounds, the most there are; hand on smaller jobs"
        )))
    }

    /// The last words, if there are any.
    fn report(&self, reply: &Reply) -> Result<String> {
        let text = reply.message().text();
        match (text.trim(), reply.is_cut()) {
            ("", true) => Err(self.stopped("its report was cut off before its first word")),
            ("", false) => Err(self.stopped("ended without a report")),
            (text, true) => Ok(format!(
                "{text}\n\n[The report was cut off here: it is longer than a reply may be.]"
            )),
            (text, false) => Ok(text.to_owned()),
        }
    }

    fn stopped(&self, why: impl Display) -> Error {
        anyhow!("{}: {why}. What it has changed stays changed.", self.name)
    }
}

/// Runs the calls of a reply under these hooks, shows what came of them, and answers each: what the lead's loop does, for
/// any other agent.
pub async fn run_calls(
    reply: &Reply,
    tools: &Toolbox,
    hooks: &Hooks,
    repl: &Repl,
    history: &mut History,
) {
    for batch in tools.batches(reply.tool_calls()) {
        let mut steps = Vec::new();
        for call in batch {
            steps.push(hooks.pre_tool(tools, call).await);
        }
        let mut running = tools.run(steps);
        while let Some((call, output)) = running.next().await {
            let output = hooks.post_tool(&call, output).await;
            repl.result(&call, &output);
            history.answer(&call, output);
        }
    }
}

/// The first line of a job, or as much of it as fits on a line of the screen.
fn headline(description: &str) -> String {
    let first = description.trim().lines().next().unwrap_or_default();
    cut(first, HEADLINE_CHARS)
}

//! The tools of worktrees: create, remove, keep.
//!
//! Invariants: no worktree is removed automatically; work that exists nowhere else is discarded only when the user says
//! so, whatever a rule allows; a change that has begun is finished, also when the turn is cancelled.

use std::future::Future;

use anyhow::{Context, Result};
use s01_loop::{ToolCall, ToolSpec};
use s02_tools::{Access, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::worktrees::Worktrees;

#[derive(Debug, Deserialize, JsonSchema)]
struct CreateWorktree {
    /// A short name: a-z, 0-9, - and _.
    name: String,
    /// The task whose owner shall work in it.
    task_id: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct RemoveWorktree {
    /// Its name.
    name: String,
    /// Whether uncommitted files, and commits that are on no other branch, may be lost.
    #[serde(default)]
    discard_changes: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct KeepWorktree {
    /// Its name.
    name: String,
}

impl Worktrees {
    /// create_worktree, remove_worktree and keep_worktree.
    pub fn tools(&self) -> [Tool; 3] {
        [
            self.tool(
                "create_worktree",
                "Create a git worktree on a branch of its own, from the last commit. Bound to a task, it is where the \
                 task's owner works.",
                |worktrees, CreateWorktree { name, task_id }| async move {
                    worktrees.create(&name, task_id.as_deref()).await
                },
            ),
            self.tool(
                "remove_worktree",
                "Remove a worktree and its branch. Refused while it holds work that is nowhere else.",
                |worktrees, RemoveWorktree { name, discard_changes }| async move {
                    worktrees.remove(&name, discard_changes).await
                },
            )
            .asks_when(reason_to_ask),
            self.tool(
                "keep_worktree",
                "Keep a worktree and its branch for review, and say so.",
                |worktrees, KeepWorktree { name }| async move { worktrees.keep(&name).await },
            ),
        ]
    }

    fn tool<Input, Work>(
        &self,
        name: &str,
        description: &str,
        work: fn(Self, Input) -> Work,
    ) -> Tool
    where
        Input: DeserializeOwned + JsonSchema + 'static,
        Work: Future<Output = Result<String>> + Send + 'static,
    {
        let worktrees = self.clone();
        Tool::new(ToolSpec::new::<Input>(name, description), move |call| {
            let done =
                call.args::<Input>().map(|input| tokio::spawn(work(worktrees.clone(), input)));
            async move {
                match done {
                    // Goes on when the turn is cancelled: half a worktree would be in the way.
                    Ok(done) => done.await.context("it broke down").flatten().into(),
                    Err(error) => Err::<String, _>(error).into(),
                }
            }
        })
        .touching(Access::Harness)
    }
}

/// Why a removal is asked about.
fn reason_to_ask(call: &ToolCall) -> Option<String> {
    let RemoveWorktree {
        name,
        discard_changes,
    } = call.args().ok()?;
    discard_changes
        .then(|| format!("files and commits that are only in the worktree {name} would be lost"))
}

//! The tools of the board: what a model may do with tasks.
//!
//! Invariant: an agent acts under its own name; no argument says who it is.

use anyhow::{Result, bail};
use s02_tools::{Access, Tool};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::board::{Board, Listed, NewTask};
use crate::task::{Status, Task};

#[derive(Debug, Deserialize, JsonSchema)]
struct ListTasks {}

#[derive(Debug, Deserialize, JsonSchema)]
struct TaskId {
    /// The id of the task, as list_tasks shows it.
    task_id: String,
}

impl Board {
    /// All tools of the board, for this agent.
    pub fn tools(&self, agent: &str) -> Vec<Tool> {
        vec![
            self.create_task(),
            self.list_tasks(),
            self.get_task(),
            self.claim_task(agent, false),
            self.complete_task(agent),
        ]
    }

    /// The tools of an agent that works on tasks, one at a time, but does not make them.
    pub fn worker_tools(&self, agent: &str) -> [Tool; 3] {
        [self.list_tasks(), self.claim_task(agent, true), self.complete_task(agent)]
    }

    /// The board as a model and a user read it, one line a task.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn shown(&self) -> Result<String> {
        let (listed, damaged) = self.list()?;
        let mut lines: Vec<String> = listed.iter().map(line).collect();
        if lines.is_empty() {
            lines.push("the board is empty".to_owned());
        }
        lines.extend(damaged);
        Ok(lines.join("\n"))
    }

    fn create_task(&self) -> Tool {
        let board = self.clone();
        let description = "Put a task on the board, which outlives this session. Create the tasks it is blocked by first.";
        Tool::blocking("create_task", description, move |new: NewTask| {
            let task = board.create(new)?;
            let mut created = format!("created {}: {}", task.id, task.subject);
            if !task.blocked_by.is_empty() {
                created += &format!(" (blocked by {})", task.blocked_by.join(", "));
            }
            Ok(created)
        })
        .touching(Access::Harness)
    }

    fn list_tasks(&self) -> Tool {
        let board = self.clone();
        Tool::blocking(
            "list_tasks",
            "List all tasks with their ids, statuses, owners and blockers.",
            move |_: ListTasks| board.shown(),
        )
        .touching(Access::Nothing)
    }

    fn get_task(&self) -> Tool {
        let board = self.clone();
        Tool::blocking("get_task", "Show one task in full.", move |input: TaskId| {
            let listed = board.get(&input.task_id)?;
            let mut text = line(&listed);
            if !listed.task.description.is_empty() {
                text = format!("{text}\n\n{}", listed.task.description);
            }
            Ok(text)
        })
        .touching(Access::Nothing)
    }

    /// A worker holds one task at a time, and is shown it whole when it claims it: it has no get_task.
    fn claim_task(&self, agent: &str, is_worker: bool) -> Tool {
        let (board, agent) = (self.clone(), agent.to_owned());
        let description =
            "Make yourself the owner of a pending task that nothing blocks, before you work on it.";
        Tool::blocking("claim_task", description, move |input: TaskId| {
            if is_worker && let Some(held) = board.held_by(&agent)?.first() {
                bail!("you work on {}; complete it first", held.id);
            }
            let task = board.claim(&input.task_id, &agent)?;
            let mut yours = format!("{} is yours: {}", task.id, task.subject);
            if is_worker && !task.description.is_empty() {
                yours += &format!("\n{}", task.description);
            }
            Ok(yours)
        })
        .touching(Access::Harness)
    }

    fn complete_task(&self, agent: &str) -> Tool {
        let (board, agent) = (self.clone(), agent.to_owned());
        let description =
            "Complete a task that is yours, after its work is done. Says what is unblocked by it.";
        Tool::blocking("complete_task", description, move |input: TaskId| {
            let (task, freed) = board.complete(&input.task_id, &agent)?;
            Ok(format!("{} is completed: {}{}", task.id, task.subject, unblocked(&freed)))
        })
        .touching(Access::Harness)
    }
}

fn unblocked(freed: &[Task]) -> String {
    let lines = freed.iter().map(|task| format!("\nunblocked: {} {}", task.id, task.subject));
    lines.collect()
}

/// `[~] 0002-k3f9x2ab write tests (alice) · blocked by 0001-…`
fn line(listed: &Listed) -> String {
    let task = &listed.task;
    let mark = match task.status {
        Status::Pending => "[ ]",
        Status::InProgress => "[~]",
        Status::Completed => "[x]",
    };
    let owner = match &task.owner {
        Some(owner) if listed.is_orphan => {
            format!(" ({owner}, whose session has ended: free to claim)")
        }
        Some(owner) => format!(" ({owner})"),
        None => String::new(),
    };
    let mut line = format!("{mark} {} {}{owner}", task.id, task.subject);
    if !listed.waits_for.is_empty() {
        line += &format!(" · blocked by {}", listed.waits_for.join(", "));
    }
    line
}

//! The working directory of an agent.
//!
//! Invariants: it follows from the task that the agent holds and is stored nowhere; it lies inside the task's worktree,
//! whatever a task file or a link says; no call runs in the directory of a task that its caller does not hold any more.

use std::fs;
use std::future::{Ready, ready};
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use s02_tools::{Access, Workspace};
use s04_hooks::{HookOutput, PreTool};
use s12_tasks::Task;

use crate::binding::worktree_of;
use crate::worktrees::Worktrees;

impl Worktrees {
    /// The workspace of an agent: the worktree of the task it holds, or else this one.
    ///
    /// # Errors
    /// When the board cannot be read, or the worktree is gone.
    pub fn work_dir(&self, agent: &str, ws: &Workspace) -> Result<Workspace> {
        let held = self.board.held_by(agent)?;
        let Some(name) = held.iter().find_map(worktree_of) else {
            return Ok(ws.clone());
        };
        ensure!(self.is_there(name), "the worktree {name} of its task is gone");
        let directory = self.directory(name);
        let directory =
            fs::canonicalize(&directory).with_context(|| format!("opening the worktree {name}"))?;
        let inside = directory.join(self.below_repository());
        fs::create_dir_all(&inside).with_context(|| format!("opening the worktree {name}"))?;
        let work_dir = ws.moved_to(inside)?;
        ensure!(work_dir.root().starts_with(&directory), "the worktree {name} leads out of itself");
        Ok(work_dir)
    }

    /// Makes an agent the owner of the task whose id the lead has named in these texts, unless it holds one. Of several,
    /// it is the one that is named first and can be claimed.
    ///
    /// # Errors
    /// When the board cannot be read or written.
    pub fn assign<'a>(
        &self,
        agent: &str,
        texts: impl IntoIterator<Item = &'a String>,
    ) -> Result<()> {
        let told = texts.into_iter().filter(|text| is_of_lead(text));
        let text: String = told.cloned().collect::<Vec<_>>().join("\n");
        // Each id has a hyphen, so a text without one needs no look at the board.
        if !text.contains('-') || !self.board.held_by(agent)?.is_empty() {
            return Ok(());
        }
        let (listed, _) = self.board.list()?;
        let named = listed
            .iter()
            .filter(|listed| listed.is_claimable())
            .filter_map(|listed| Some((text.find(&listed.task.id)?, &listed.task.id)));
        if let Some((_, id)) = named.min() {
            self.board.claim_first(agent, |task| task.id == *id)?;
        }
        Ok(())
    }

    /// True if a task can be worked on: it has no worktree, or one that exists.
    pub fn is_ready(&self, task: &Task) -> bool {
        worktree_of(task).is_none_or(|name| self.is_there(name))
    }

    /// PreToolUse: blocks a call that was made before its caller's directory changed.
    pub fn gate(&self) -> impl Fn(PreTool) -> Ready<HookOutput> + Send + Sync + 'static {
        let worktrees = self.clone();
        move |event| ready(worktrees.check_work_dir(&event))
    }

    fn check_work_dir(&self, event: &PreTool) -> HookOutput {
        let touches = event.tools.get(&event.call.name).map(|tool| tool.touches());
        let (Some(caller), Some(touches)) = (&event.caller, touches) else {
            return HookOutput::Go;
        };
        match touches {
            Access::Nothing | Access::Harness => return HookOutput::Go,
            Access::Command | Access::FileToRead | Access::FileToWrite | Access::Anything => {}
        }
        match self.work_dir(&caller.name, &self.ws) {
            Ok(work_dir) if work_dir.root() == caller.policy.workspace().root() => HookOutput::Go,
            Ok(work_dir) => HookOutput::Block(format!(
                "your working directory has changed, to {}; call again, and it runs there",
                self.ws.shown(work_dir.root())
            )),
            Err(error) => HookOutput::Block(format!("{error:#}")),
        }
    }

    /// The path of the workspace inside the repository.
    fn below_repository(&self) -> PathBuf {
        let root = self.ws.root();
        let repository = root.ancestors().find(|folder| folder.join(".git").exists());
        let below = repository.and_then(|repository| root.strip_prefix(repository).ok());
        below.unwrap_or("".as_ref()).to_owned()
    }
}

/// Only the lead assigns tasks.
fn is_of_lead(text: &str) -> bool {
    !text.starts_with("<mail ") || text.starts_with("<mail from=\"lead\"")
}

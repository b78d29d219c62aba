//! The binding of a task to its worktree.
//!
//! Invariant: a task has at most one worktree, bound before a teammate claims it, so no directory changes during the work.

use anyhow::{Result, bail, ensure};
use s12_tasks::{Board, Listed, Status, Task};
use s15_mailbox::LEAD;

/// The field of a task that names its worktree.
const FIELD: &str = "worktree";

/// The worktree that a task says it has.
pub(crate) fn worktree_of(task: &Task) -> Option<&str> {
    task.extra.get(FIELD)?.as_str()
}

/// Binds a task to a worktree, unless it has one, is completed, or a teammate works on it already.
pub(crate) fn bind(board: &Board, id: &str, name: &str) -> Result<()> {
    board.update(id, |task| {
        if let Some(name) = worktree_of(task) {
            bail!("task {id} has the worktree {name} already");
        }
        ensure!(
            task.status != Status::Completed,
            "task {id} is completed already"
        );
        match &task.owner {
            Some(owner) if owner != LEAD && !board.get(id)?.is_orphan => bail!(
                "{owner} works on task {id} already, in another directory; bind a worktree before a task is claimed"
            ),
            Some(_) | None => {}
        }
        task.extra.insert(FIELD.into(), name.into());
        Ok(())
    })?;
    Ok(())
}

/// Unbinds all tasks from a worktree.
pub(crate) fn unbind(board: &Board, name: &str) -> Result<()> {
    for listed in bound(board, name)? {
        board.update(&listed.task.id, |task| {
            task.extra.remove(FIELD);
            Ok(())
        })?;
    }
    Ok(())
}

/// The teammate that works in a worktree at the moment.
pub(crate) fn worker_in(board: &Board, name: &str) -> Result<Option<String>> {
    let at_work = bound(board, name)?.into_iter().find(|listed| {
        listed.task.status == Status::InProgress
            && !listed.is_orphan
            && listed.task.owner.as_deref() != Some(LEAD)
    });
    Ok(at_work.and_then(|listed| listed.task.owner))
}

fn bound(board: &Board, name: &str) -> Result<Vec<Listed>> {
    let (mut listed, _) = board.list()?;
    listed.retain(|listed| worktree_of(&listed.task) == Some(name));
    Ok(listed)
}

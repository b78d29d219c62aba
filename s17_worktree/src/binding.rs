//! Which task is worked on in which worktree.
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

/// Fails for a task that cannot be bound to a worktree.
pub(crate) fn check(board: &Board, id: &str) -> Result<()> {
    let Listed {
        task, is_orphan, ..
    } = board.get(id)?;
    check_unbound(&task)?;
    ensure!(
        task.status != Status::Completed,
        "task {id} is completed already"
    );
    match &task.owner {
        Some(owner) if owner != LEAD && !is_orphan => bail!(
            "{owner} works on task {id} already, in another directory; bind a worktree before a task is claimed"
        ),
        Some(_) | None => Ok(()),
    }
}

/// Binds a task to a worktree.
pub(crate) fn bind(board: &Board, id: &str, name: &str) -> Result<()> {
    board.update(id, |task| {
        // Somebody may have bound or claimed it since it was checked; now the board is locked.
        check(board, id)?;
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

fn check_unbound(task: &Task) -> Result<()> {
    match worktree_of(task) {
        Some(name) => bail!("task {} has the worktree {name} already", task.id),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use s02_tools::Workspace;
    use s12_tasks::NewTask;

    use super::*;

    #[test]
    fn a_task_that_was_claimed_since_it_was_checked_gets_no_worktree() {
        let dir = tempfile::tempdir().unwrap();
        let board = Board::open(&Workspace::at(dir.path()).unwrap());
        let new = NewTask {
            subject: "Write the API".into(),
            ..NewTask::default()
        };
        let id = board.create(new).unwrap().id;
        check(&board, &id).unwrap();
        board.claim(&id, "alice").unwrap();
        let refusal = bind(&board, &id, "api").unwrap_err().to_string();
        assert!(refusal.contains("alice works on task"), "{refusal}");
        assert_eq!(worktree_of(&board.get(&id).unwrap().task), None);
    }
}

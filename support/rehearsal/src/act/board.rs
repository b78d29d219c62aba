//! Acts on the board of tasks, and the worktrees of tasks.
//!
//! Invariants: which task is meant is read from the board, never guessed; a task whose work cannot be rehearsed stays open.

use serde_json::json;

use super::write::write;
use crate::run::{Outcome, Run, Stop, Went, fail};
use crate::speak::{listed, refusal, sentence, shown, why};
use crate::tasks::{self, OnBoard, TaskSpec};
use crate::tools::Can;
use crate::understand;

pub(super) fn make_tasks(run: &Run, specs: &[TaskSpec]) -> Went {
    let call = |spec: &TaskSpec| {
        let mut args = json!({"subject": spec.subject});
        if !spec.blocked_by.is_empty() {
            args["blockedBy"] = json!(spec.blocked_by);
        }
        (Can::CreateTask, args)
    };
    run.each(specs, call, |spec, done| {
        if done.failed {
            return Outcome::failed(format!(
                "I did not create “{}”: {}.",
                spec.subject,
                why(&done.text)
            ));
        }
        let id = tasks::id_in(&done.text).map(|id| (id, spec.subject.clone()));
        Outcome {
            tasks: id.into_iter().collect(),
            ..Outcome::told(format!("I {}.", done.text.trim()))
        }
    })
}

fn look_at_board(run: &Run) -> Result<(Vec<OnBoard>, String), Stop> {
    let done = run.call(Can::ListTasks, json!({}))?;
    Ok((tasks::board(&done.text), done.text))
}

/// The task that the words mean.
fn meant(
    run: &Run,
    words: &str,
    fits: impl Fn(&OnBoard) -> bool,
) -> Result<(String, String), Stop> {
    let (board, _) = look_at_board(run)?;
    let task = tasks::meant(words, &board, fits).or_else(|why| fail(sentence(&why)))?;
    Ok((task.id.clone(), task.subject.clone()))
}

pub(super) fn show_board(run: &Run, unblocked: bool) -> Went {
    let (board, text) = look_at_board(run)?;
    if !unblocked {
        return Ok(Outcome::told(shown(&text)).tagged("The board", &text));
    }
    let free = board.iter().filter(|task| task.is_free());
    let free: Vec<String> = free.map(|task| format!("{} ({})", task.subject, task.id)).collect();
    Ok(Outcome::told(match free.as_slice() {
        [] => "No task is unblocked now.".to_owned(),
        free => format!("Unblocked now: {}.", listed(free)),
    }))
}

pub(super) fn claim(run: &Run, words: &str) -> Went {
    let (id, subject) = meant(run, words, OnBoard::is_free)?;
    run.text(Can::ClaimTask, json!({"task_id": id}), "That did not work")?;
    let told = format!("I claimed {id}: {subject}.");
    Ok(Outcome {
        tasks: vec![(id, subject)],
        ..Outcome::told(told)
    })
}

pub(super) fn complete(run: &Run, words: &str) -> Went {
    let is_it = matches!(words.split_whitespace().next(), Some("it" | "it." | "that"));
    let (id, subject) = match run.tasks().pop().filter(|_| is_it) {
        Some(task) => task,
        None => meant(run, words, |task| task.mark != ' ' && task.mark != 'x')?,
    };
    let text = run.text(Can::CompleteTask, json!({"task_id": id}), "That did not work")?;
    let unblocked =
        text.lines().filter_map(|line| line.strip_prefix("unblocked: ")?.split_once(' '));
    let unblocked: Vec<String> =
        unblocked.map(|(id, subject)| format!("{subject} ({id})")).collect();
    let next = if unblocked.is_empty() {
        String::new()
    } else {
        format!("\nUnblocked now: {}.", listed(&unblocked))
    };
    Ok(Outcome::told(format!("I completed {id}: {subject}.{next}")))
}

/// Takes a task that is free, does it, completes it.
pub(super) fn work_board(run: &Run) -> Went {
    for _ in 0..6 {
        let (board, _) = look_at_board(run)?;
        let Some(task) = board.iter().find(|task| task.is_free()) else {
            return Ok(Outcome::told("No task on the board is free. I am ready for the next one."));
        };
        let done = run.call(Can::ClaimTask, json!({"task_id": task.id}))?;
        if !done.failed {
            return do_task(run, &task.id, &task.subject, false);
        }
    }
    Ok(Outcome::failed("Others took every task that I wanted."))
}

pub(super) fn do_task(run: &Run, id: &str, subject: &str, claims: bool) -> Went {
    let has_board = run.world.tools.can(Can::CompleteTask);
    if claims && has_board {
        let done = run.call(Can::ClaimTask, json!({"task_id": id}))?;
        if done.failed {
            return Ok(done.or_why(""));
        }
    }
    let work = do_subject(run, subject)?;
    if work.failed || !has_board {
        return Ok(Outcome {
            text: format!("{}\n(task {id})", work.text),
            ..work
        });
    }
    let done = run.call(Can::CompleteTask, json!({"task_id": id}))?;
    Ok([work, done.or_why(format!("I completed {id}: {subject}."))].into_iter().collect())
}

/// The work of a task: what its subject asks for. What cannot be rehearsed is said, and the task stays open.
fn do_subject(run: &Run, subject: &str) -> Went {
    if let Some((path, text)) = tasks::sample(subject) {
        return write(run, &path, &text, true);
    }
    let steps = understand::plan(subject, run.world).or_else(|no| {
        fail(format!("I did not do “{subject}”, and it stays open: {}", refusal(&no)))
    })?;
    let inner = run.within();
    super::plan(&inner, &steps)?;
    Ok(inner.before.into_inner().into_iter().collect())
}

pub(super) fn worktrees(run: &Run) -> Went {
    let mut all = run.tasks();
    if all.is_empty() {
        let (board, _) = look_at_board(run)?;
        let pending = board.into_iter().filter(|task| task.mark == ' ');
        all = pending.map(|task| (task.id, task.subject)).collect();
    }
    if all.is_empty() {
        return Ok(Outcome::failed("There is no task that a worktree could be bound to."));
    }
    let name = |(id, subject): &(String, String)| {
        let subject = subject.to_lowercase();
        let subject = subject.trim_start_matches("write ").trim_end_matches(".md");
        let slug: String = subject
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .take(24)
            .collect();
        format!("{}-{}", slug.trim_matches('-'), id.split('-').next().unwrap_or(id))
    };
    let call =
        |task: &(String, String)| (Can::MakeTree, json!({"name": name(task), "task_id": task.0}));
    run.each(&all, call, |_, done| done.or_why(format!("I {}.", done.text.trim())))
}

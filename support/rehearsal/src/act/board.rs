//! Acts on the board of tasks, and the worktrees of tasks.
//!
//! Invariant: which task is meant is read from the board, never guessed.

use serde_json::json;

use super::outcome;
use super::write::{create, write};
use crate::create::Content;
use crate::engine::{Outcome, Run, Stop, Went};
use crate::people::sentence;
use crate::plan::TaskSpec;
use crate::speak::{listed, shown, why};
use crate::tasks::{self, OnBoard};
use crate::tools::Can;
use crate::understand::{self};

pub(crate) fn make_tasks(run: &Run, specs: &[TaskSpec]) -> Went {
    let wanted = specs.iter().map(|spec| {
        (
            Can::CreateTask,
            if spec.blocked_by.is_empty() {
                json!({"subject": spec.subject})
            } else {
                json!({"subject": spec.subject, "blockedBy": spec.blocked_by})
            },
        )
    });
    let done = run.calls(wanted.collect())?;
    let mut told = Outcome::default();
    let mut texts = Vec::new();
    for (spec, done) in specs.iter().zip(&done) {
        let id = done.text.strip_prefix("created ").and_then(|rest| rest.split(':').next()).filter(|_| !done.failed);
        told.failed |= done.failed;
        told.tasks.extend(id.map(|id| (id.to_owned(), spec.subject.clone())));
        texts.push(if done.failed {
            format!("I did not create “{}”: {}.", spec.subject, why(&done.text))
        } else {
            format!("I {}.", done.text.trim())
        });
    }
    told.text = texts.join("\n");
    Ok(told)
}

pub(crate) fn look_at_board(run: &Run) -> Result<(Vec<OnBoard>, String), Stop> {
    let done = run.call(Can::ListTasks, json!({}))?;
    Ok((tasks::board(&done.text), done.text))
}

pub(crate) fn with_ids(tasks: &[&OnBoard]) -> String {
    listed(&tasks.iter().map(|task| format!("{} ({})", task.subject, task.id)).collect::<Vec<_>>())
}

pub(crate) fn show_board(run: &Run, unblocked: bool) -> Went {
    let (board, text) = look_at_board(run)?;
    if !unblocked {
        return Ok(Outcome::told(shown(&text)).tagged("The board", &text));
    }
    let free: Vec<&OnBoard> = board.iter().filter(|task| task.is_free()).collect();
    Ok(Outcome::told(if free.is_empty() {
        "No task is unblocked now.".to_owned()
    } else {
        format!("Unblocked now: {}.", with_ids(&free))
    }))
}

pub(crate) fn show_task(run: &Run, words: &str) -> Went {
    let (board, _) = look_at_board(run)?;
    match tasks::meant(&words.replace(" in full", "").replace("about", ""), &board, |_| true) {
        Ok(task) => super::call::tool(run, Can::GetTask, &json!({"task_id": task.id})),
        Err(why) => Ok(Outcome::failed(sentence(&why))),
    }
}

pub(crate) fn claim(run: &Run, words: &str) -> Went {
    let (board, _) = look_at_board(run)?;
    match tasks::meant(words, &board, OnBoard::is_free) {
        Ok(task) => {
            let done = run.call(Can::ClaimTask, json!({"task_id": task.id}))?;
            let mut told = outcome(&done, format!("I claimed {}: {}.", task.id, task.subject));
            if !done.failed {
                told.tasks.push((task.id.clone(), task.subject.clone()));
            }
            Ok(told)
        }
        Err(why) => Ok(Outcome::failed(sentence(&why))),
    }
}

pub(crate) fn complete(run: &Run, words: &str) -> Went {
    let own = run.tasks();
    let is_it = words.split_whitespace().next().is_some_and(|word| word == "it" || word == "it.") || words == "that";
    let task = match own.last().filter(|_| is_it) {
        Some(task) => task.clone(),
        None => {
            let (board, _) = look_at_board(run)?;
            match tasks::meant(words, &board, |task| task.mark != ' ' && task.mark != 'x') {
                Ok(task) => (task.id.clone(), task.subject.clone()),
                Err(why) => return Ok(Outcome::failed(sentence(&why))),
            }
        }
    };
    let done = run.call(Can::CompleteTask, json!({"task_id": task.0}))?;
    let unblocked = done
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("unblocked: ")?.split_once(' '))
        .map(|(id, subject)| format!("{subject} ({id})"))
        .collect::<Vec<_>>();
    let next = if unblocked.is_empty() { String::new() } else { format!("\nUnblocked now: {}.", listed(&unblocked)) };
    Ok(outcome(&done, format!("I completed {}: {}.{next}", task.0, task.1)))
}

/// Takes a task that is free, does it, completes it.
pub(crate) fn work_board(run: &Run) -> Went {
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

pub(crate) fn do_task(run: &Run, id: &str, subject: &str, claims: bool) -> Went {
    let has_board = run.world.tools.can(Can::CompleteTask);
    if claims && has_board {
        let done = run.call(Can::ClaimTask, json!({"task_id": id}))?;
        if done.failed {
            return Ok(outcome(&done, String::new()));
        }
    }
    let work = do_subject(run, subject)?;
    if work.failed || !has_board {
        return Ok(Outcome { text: format!("{}\n(task {id})", work.text), ..work });
    }
    let done = run.call(Can::CompleteTask, json!({"task_id": id}))?;
    Ok(Outcome {
        failed: done.failed,
        ..Outcome::told(format!("{}\n{}", work.text, outcome(&done, format!("I completed {id}: {subject}.")).text))
    })
}

/// The work of a task: what its subject asks for. What nobody can rehearse is noted down under its name, and said so.
pub(crate) fn do_subject(run: &Run, subject: &str) -> Went {
    let sample = subject.strip_prefix("write notes/").and_then(|rest| rest.strip_suffix(".md"));
    let known = sample
        .and_then(|name| tasks::SAMPLES.iter().find(|(known, _)| name.trim_end_matches(char::is_numeric) == *known));
    if let (Some(name), Some((_, line))) = (sample, known) {
        return write(run, &format!("notes/{name}.md"), &format!("# {name}\n\n{line}"), true);
    }
    let plan = understand::plan(subject, run.world);
    if plan.refusal.is_none() {
        let inner = run.within();
        inner.plan(&plan)?;
        let outcomes = inner.before.into_inner();
        let texts: Vec<String> =
            outcomes.iter().map(|outcome| outcome.text.clone()).filter(|text| !text.is_empty()).collect();
        return Ok(Outcome {
            failed: outcomes.iter().any(|outcome| outcome.failed),
            ..Outcome::told(texts.join("\n"))
        });
    }
    let name: String =
        subject.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(40).collect();
    let path = format!("notes/{}.md", name.trim_matches('-').replace("--", "-"));
    let went = create(run, &path, &Content::Nothing).map(|went| Outcome { failed: false, ..went })?;
    Ok(Outcome {
        text: format!("“{subject}” is more than a rehearsal can do; {path} stands for it. {}", went.text),
        ..went
    })
}

pub(crate) fn worktrees(run: &Run) -> Went {
    let mut all = run.tasks();
    if all.is_empty() {
        let (board, _) = look_at_board(run)?;
        all =
            board.iter().filter(|task| task.mark == ' ').map(|task| (task.id.clone(), task.subject.clone())).collect();
    }
    if all.is_empty() {
        return Ok(Outcome::failed("There is no task that a worktree could be bound to."));
    }
    let name = |(id, subject): &(String, String)| {
        let slug: String = subject
            .to_lowercase()
            .trim_start_matches("write ")
            .trim_end_matches(".md")
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .take(24)
            .collect();
        format!("{}-{}", slug.trim_matches('-'), id.split('-').next().unwrap_or(id))
    };
    let done =
        run.calls(all.iter().map(|task| (Can::MakeTree, json!({"name": name(task), "task_id": task.0}))).collect())?;
    let failed = done.iter().any(|done| done.failed);
    let texts: Vec<String> = done.iter().map(|done| outcome(done, format!("I {}.", done.text.trim())).text).collect();
    Ok(Outcome { failed, ..Outcome::told(texts.join("\n")) })
}

//! How each act goes: straight code over results, which stops where a result is still missing.
//!
//! Invariants: a file is written over only when the request named it and gave its content; a change is an edit of what was
//! read; where nothing was said about a content, nothing is put there.

mod board;
mod call;
mod look;
mod python;
mod team;
mod write;

use serde_json::json;

use crate::clause::Join;
use crate::history;
use crate::plan::{Act, Step};
use crate::run::{Outcome, Run, Stop, Went, fail};
use crate::slots::Slots;
use crate::table::{Make, Row};
use crate::tools::Can;

/// Runs a plan to its end, or to the next thing that is missing.
pub fn plan(run: &Run, steps: &[Step]) -> Result<(), Stop> {
    let mut at = 0;
    while at < steps.len() {
        let beside = |other: &Step| other.join == Join::And && other.act.stands_alone();
        let more = if steps[at].act.stands_alone() {
            steps[at + 1..].iter().take_while(|step| beside(step)).count()
        } else {
            0
        };
        let end = at + 1 + more;
        group(run, &steps[at..end])?;
        let failed = run.before.borrow().iter().any(|outcome| outcome.failed);
        if failed && steps[end..].iter().any(|step| !step.act.stands_alone()) {
            run.before.borrow_mut().push(Outcome::told("I left the rest."));
            return Ok(());
        }
        at = end;
    }
    Ok(())
}

/// Runs steps that may stand beside each other.
fn group(run: &Run, steps: &[Step]) -> Result<(), Stop> {
    let (mut wanted, mut said, mut other) = (Vec::new(), String::new(), None);
    let mut outcomes = Vec::new();
    for step in steps {
        match go(&step.act, run) {
            Ok(outcome) => outcomes.push(outcome),
            Err(Stop::Call(calls, note)) => {
                wanted.extend(calls);
                said.push_str(&note);
            }
            Err(Stop::Fail(why)) => outcomes.push(Outcome::failed(why)),
            Err(stop) => other = Some(stop),
        }
    }
    if !wanted.is_empty() {
        return Err(Stop::Call(wanted, said));
    }
    run.before.borrow_mut().extend(outcomes);
    other.map_or(Ok(()), Err)
}

/// Does the next thing of an act.
fn go(act: &Act, run: &Run) -> Went {
    match act {
        Act::Row(row, slots) => of_row(row, slots, run),
        Act::Say(text) => Ok(Outcome::told(text)),
        Act::Shell(command, in_background) => call::command_line(run, command, *in_background),
        Act::Named(name, input) => call::named(run, name, input, ""),
        Act::Create(path, content) => write::create(run, path, content),
        Act::Replace(path, old, new) => write::replace(run, path, old, new),
        Act::Todo(items) => {
            let todos: Vec<_> =
                items.iter().map(|item| json!({"content": item, "status": "pending"})).collect();
            run.call(Can::Todo, json!({ "todos": todos }))?;
            Ok(Outcome::told(format!(
                "The plan has {} items; I have done none of them yet.",
                items.len()
            )))
        }
        Act::Delegate(jobs) => call::delegate(run, jobs),
        Act::Skill(name, follows) => call::skill(run, name, *follows),
        Act::Tasks(specs) => board::make_tasks(run, specs),
        Act::DoTask(id, subject, claims) => board::do_task(run, id, subject, *claims),
        Act::Spawn(name, role, job, plan_first) => team::spawn(run, name, role, job, *plan_first),
        Act::Message(to, text) => {
            let done = run.call(Can::Send, json!({"to": to, "content": text}))?;
            Ok(Outcome {
                teammate: Some(to.clone()),
                ..done.or_why(format!("I wrote to {to}."))
            })
        }
        Act::Answer {
            whose,
            all,
            approve,
            feedback,
        } => team::answer_plans(run, (whose, *all), *approve, feedback),
        Act::Schedule(when, prompt, durable) => call::schedule(run, when, prompt, *durable),
        Act::Connect(all) => run.each(
            all,
            |server| (Can::Connect, json!({"name": server})),
            |_, done| Outcome {
                failed: done.failed,
                ..Outcome::told(&done.text)
            },
        ),
        Act::Serve(server, words) => call::serve(run, server, words),
    }
}

/// The same for what a row makes of its slots.
fn of_row(row: &Row, slots: &Slots, run: &Run) -> Went {
    let path = slots.paths.first().map_or("", String::as_str);
    let dir = slots.dir.as_deref();
    let count = slots.number.unwrap_or_default();
    let told = |text: String| Ok(Outcome::told(text));
    match row.make {
        Make::Shell => call::command_line(run, &slots.filled(row.template), false),
        Make::Say => told(row.template.to_owned()),
        Make::Tool => match slots.call(row.template) {
            Some((can, args)) => call::tool(run, can, args),
            None => fail(format!("`{}` is no call.", row.template)),
        },
        Make::Read => look::read(run, &slots.paths),
        Make::About => look::about(run, &slots.paths),
        Make::ReadAll => look::read_all(run, dir.unwrap_or("."), slots),
        Make::List => look::list(run, dir.unwrap_or(".")),
        Make::Find => look::find(run, &slots.pattern()),
        Make::Exists => look::exists(run, path, &slots.said),
        Make::Framework => look::framework(run),
        Make::Verify => look::verify(run),
        Make::Mend => python::mend(run, slots),
        Make::Package => python::package(run, dir.unwrap_or("."), &slots.paths),
        Make::Long => write::write_new(
            run,
            if path.is_empty() { "long_module.py" } else { path },
            &python::long(count),
        ),
        Make::ShowLong => told(format!("```python\n{}```", python::long(count))),
        Make::Abilities => told(history::abilities(run.world, row.template == "all")),
        Make::Skills => told(history::skills(run.world)),
        Make::Tools => told(history::tools(run.world)),
        Make::Recall => told(history::recall(run.world, &slots.said)),
        Make::SoFar => told(history::so_far(run.world)),
        Make::Board => board::show_board(run, row.template == "unblocked"),
        Make::Claim => board::claim(run, &slots.rest),
        Make::Complete => board::complete(run, &slots.rest),
        Make::WorkBoard => board::work_board(run),
        Make::Worktrees => board::worktrees(run),
        Make::CancelCron => call::cancel(run, &slots.rest),
        Make::Inbox => team::inbox(run),
        Make::Leave => team::leave(run, &slots.names),
        Make::AskPlan => team::ask_plan(run, &slots.names, &slots.rest),
        Make::OwnPlan => team::own_plan(run, &slots.said),
        Make::Report => team::report(run, &slots.names),
        // What a frame makes of them stands in the plan in their place.
        Make::Answer | Make::WaitForThem | Make::LoadSkill | Make::Remember | Make::WriteSkill => {
            Ok(Outcome::default())
        }
    }
}

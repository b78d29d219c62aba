//! How each act goes: straight code over results, which stops where a result is still missing.
//!
//! Invariants: a file is written over only when the request named it and gave its content; a change is an edit of what was
//! read; where nothing was said about a content, nothing is put there.

mod board;
mod call;
mod look;
mod team;
mod write;

use serde_json::json;

pub(crate) use look::{paths, reading};
pub(crate) use write::{changing, there, without_numbers, write};

use crate::engine::{Done, Outcome, Run, Went};
use crate::history;
use crate::plan::Act;
use crate::python;
use crate::speak::why;
use crate::tools::Can;

/// Does the next thing of an act.
pub fn go(act: &Act, run: &Run) -> Went {
    match act {
        Act::Say(text) => Ok(Outcome::told(text)),
        Act::Shell(command, in_background) => call::command_line(run, command, *in_background),
        Act::Tool(can, args) => call::tool(run, *can, args),
        Act::Named(name, input) => call::named(run, name, input),
        Act::Read(paths) => look::read(run, paths),
        Act::Lines(path, count, from_top) => look::lines(run, path, *count, *from_top),
        Act::About(paths) => look::about(run, paths),
        Act::ReadAll(dir, kind) => look::read_all(run, dir, kind.as_deref()),
        Act::List(dir) => look::list(run, dir.as_deref()),
        Act::Find(pattern) => look::found(run, pattern),
        Act::Count(pattern) => look::count(run, pattern),
        Act::Exists(path, shows) => look::exists(run, path, *shows),
        Act::Framework => look::framework(run),
        Act::Verify => look::verify(run),
        Act::Create(path, content) => write::create(run, path, content),
        Act::Replace(path, old, new) => write::replace(run, path, old, new),
        Act::Append(path, line) => write::append(run, path, line),
        Act::Mend(path, aspects) => python::mend(run, path.as_deref(), aspects),
        Act::Review(dir) => python::review(run, dir),
        Act::Package(dir, files) => python::package(run, dir, files),
        Act::Long(path, count) => write::long(run, path.as_deref(), *count),
        Act::Todo(items) => {
            run.call(Can::Todo, json!({"todos": items.iter().map(|item| json!({"content": item, "status": "pending"})).collect::<Vec<_>>()}))?;
            Ok(Outcome::told(format!("The plan has {} items; I have done none of them yet.", items.len())))
        }
        _ => go_on(act, run),
    }
}

/// The same for acts with other agents, with the board, the clock, and about itself.
fn go_on(act: &Act, run: &Run) -> Went {
    match act {
        Act::Delegate(jobs) => call::delegate(run, jobs),
        Act::Skill(name, follows) => call::skill(run, name, *follows),
        Act::Tasks(specs) => board::make_tasks(run, specs),
        Act::Board(unblocked) => board::show_board(run, *unblocked),
        Act::ShowTask(words) => board::show_task(run, words),
        Act::Claim(words) => board::claim(run, words),
        Act::Complete(words) => board::complete(run, words),
        Act::WorkBoard => board::work_board(run),
        Act::DoTask(id, subject, claims) => board::do_task(run, id, subject, *claims),
        Act::OwnPlan(aim) => team::own_plan(run, aim),
        Act::Worktrees => board::worktrees(run),
        Act::Worktree(name, task) => {
            let args = match task {
                Some(task) => json!({"name": name, "task_id": task}),
                None => json!({"name": name}),
            };
            call::tool(run, Can::MakeTree, &args)
        }
        Act::Spawn(name, role, job, plan_first) => team::spawn(run, name, role, job, *plan_first),
        Act::Message(to, text) => {
            let done = run.call(Can::Send, json!({"to": to, "content": text}))?;
            Ok(outcome(&done, format!("I wrote to {to}.")).tagged("teammate", to))
        }
        Act::AskPlan(names, about) => team::ask_plan(run, names, about.as_deref()),
        Act::Answer(names, approve, feedback) => team::answer_plans(run, names, *approve, feedback),
        Act::Leave(names) => team::leave(run, names),
        Act::Report(names) => team::report(run, names),
        Act::Inbox => team::inbox(run),
        Act::Schedule(when, prompt, durable) => call::schedule(run, when, prompt, *durable),
        Act::CancelCron(words) => call::cancel(run, words),
        Act::Connect(servers) => {
            let done = run.calls(servers.iter().map(|server| (Can::Connect, json!({"name": server}))).collect())?;
            let failed = done.iter().any(|done| done.failed);
            Ok(Outcome {
                failed,
                ..Outcome::told(done.iter().map(|done| done.text.clone()).collect::<Vec<_>>().join("\n"))
            })
        }
        Act::Serve(server, words) => call::serve(run, server.as_deref(), words),
        Act::Tools => Ok(Outcome::told(history::tools(run.world))),
        Act::Recall(question) => Ok(Outcome::told(history::recall(run.world, question))),
        Act::FirstRequest => Ok(Outcome::told(history::first_request(run.world))),
        Act::Requests => Ok(Outcome::told(history::requests(run.world))),
        Act::WhatDidYouDo => Ok(Outcome::told(history::what_was_done(run.world, run.from))),
        _ => Ok(Outcome::default()),
    }
}

impl Outcome {
    fn tagged(mut self, title: &str, body: &str) -> Self {
        self.found.push((title.to_owned(), body.to_owned()));
        self
    }
}

/// What is told of a call: this when it worked, else why it did not.
pub fn outcome(done: &Done, told: String) -> Outcome {
    if done.failed { Outcome::failed(format!("That did not work: {}.", why(&done.text))) } else { Outcome::told(told) }
}

fn is_missing(text: &str) -> bool {
    let low = text.to_lowercase();
    ["no such file", "not found", "does not exist", "cannot find", "there is no file"]
        .iter()
        .any(|words| low.contains(words))
}

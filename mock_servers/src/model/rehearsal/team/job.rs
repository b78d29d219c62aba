//! The job of a teammate, as its conversation gives it: by its prompt, by mail, or by a task that was claimed for it.
//!
//! Invariant: the newest job counts; a letter that asks for nothing is no job.

use std::sync::Arc;

use super::letters::Letter;
use super::works;
use crate::model::rehearsal::asked::{Asked, elements, request_in};
use crate::model::rehearsal::offer::Offer;
use crate::model::rehearsal::phrases::first_line;
use crate::model::rehearsal::steps;
use crate::model::{Block, Message, Request, Role};

/// How the lead's request for a plan begins, up to what it is for.
const WANTED: &str = "Before you change anything, send a plan with submit_plan for: ";

/// How a prompt that gives a task begins.
const TASK: &str = "Your task is ";

/// What a teammate is to do.
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// The words of the job.
    pub text: String,
    /// The task it is, by id.
    pub task: Option<String>,
    /// The message it came with.
    pub at: usize,
    /// Whether a plan comes first.
    pub plan_first: bool,
}

/// The newest job in a teammate's conversation.
pub fn job(request: &Request, mail: &[Letter]) -> Job {
    let mut job = Job::default();
    for (at, message) in request.messages.iter().enumerate() {
        if let Some(Asked::New(text)) = request_in(message) {
            job = from_prompt(&text, at);
        }
        for letter in mail.iter().filter(|letter| letter.at == at) {
            if let Some(what) = letter.text.strip_prefix(WANTED) {
                let is_done = request.messages[job.at..at].iter().any(is_answer);
                if is_done {
                    job = Job {
                        text: what.to_owned(),
                        at,
                        plan_first: true,
                        ..Job::default()
                    };
                }
                job.plan_first = true;
            } else if !is_response(letter) && asks(request, &letter.text) {
                job = from_prompt(&letter.text, at);
            }
        }
        for block in message.blocks.iter().filter(|_| message.role == Role::User) {
            let Block::Text(text) = block else { continue };
            for note in elements(text).filter(|element| element.name == "claimed_task") {
                job = claimed(note.inside, at, job);
            }
        }
    }
    job
}

/// Whether a message asks for something that the table knows.
fn asks(request: &Request, text: &str) -> bool {
    let plan = steps::plan(&[text.to_owned()], Offer::of(request, &[]), || None);
    text.starts_with(TASK)
        || works::adds_table(text)
        || plan.steps.iter().any(|step| !step.intent.by.is_empty())
}

fn from_prompt(text: &str, at: usize) -> Job {
    let plan_first =
        text.contains(works::PLAN_FIRST) || text.to_lowercase().contains("submit a plan");
    let text = text.replace(works::PLAN_FIRST, "");
    let given = text
        .trim()
        .strip_prefix(TASK)
        .and_then(|rest| rest.split_once(": "));
    let (task, text) = match given {
        Some((id, rest)) => (Some(id.to_owned()), first_line(rest).to_owned()),
        None => (None, text.trim().to_owned()),
    };
    Job {
        text,
        task,
        at,
        plan_first,
    }
}

/// The task in a note that the harness has claimed it; going on with a task keeps what was done for it.
fn claimed(note: &str, at: usize, before: Job) -> Job {
    let note = note.trim();
    let given = note
        .strip_prefix("You have claimed task ")
        .and_then(|rest| rest.split_once(": "));
    let Some((id, rest)) = given else {
        let same = before
            .task
            .as_ref()
            .is_some_and(|id| note.contains(id.as_str()));
        let again = note
            .strip_prefix("Go on with your task ")
            .and_then(|rest| rest.split_once(": "));
        return match again.filter(|_| !same) {
            Some((id, rest)) => Job {
                text: rest
                    .split(". Complete it")
                    .next()
                    .unwrap_or(rest)
                    .to_owned(),
                task: Some(id.to_owned()),
                at,
                plan_first: false,
            },
            None => before,
        };
    };
    let lines = rest
        .lines()
        .filter(|line| !line.starts_with("Do it, then complete"));
    let text = lines.collect::<Vec<_>>().join("\n").trim().to_owned();
    Job {
        text,
        task: Some(id.to_owned()),
        at,
        plan_first: false,
    }
}

/// Whether a message ends a turn of the teammate's.
pub fn is_answer(message: &Arc<Message>) -> bool {
    let calls = |block: &Block| matches!(block, Block::ToolUse { .. });
    message.role == Role::Assistant && !message.blocks.iter().any(calls)
}

/// Whether a letter answers a plan.
pub fn is_response(mail: &Letter) -> bool {
    mail.kind == "plan_approval_response"
}

/// Whether a letter asks for a plan.
pub fn is_wanted(mail: &Letter) -> bool {
    mail.text.starts_with(WANTED)
}

/// Whether the answer to a plan is yes.
pub fn is_yes(mail: &Letter) -> bool {
    mail.text.starts_with("Your plan is approved")
}

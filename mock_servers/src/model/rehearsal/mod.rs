//! The rehearsal brain: plays a language model so that a newcomer needs no key and no network.
//!
//! ```text
//! request ─ turn ─▶ what the user asked for, what was done since
//!         ─ steps ─▶ the plan: rows of the table `intents`, their slots filled from the words
//!         ─ progress ─▶ the next calls ─▶ tool_use blocks
//!                    └▶ nothing left ──▶ answer: text made from the results
//! ```
//!
//! It keeps no state: every reply is worked out from the conversation in the request, so a test that runs twice sees the
//! same twice. A side call, a subagent or a teammate is known by its system prompt: `Rehearsal::answer` is the one
//! place to tell them apart.
//! Invariant: it calls only tools on offer, never sends an empty text, and ends every turn.

mod answer;
mod asked;
mod direct;
mod gist;
mod intents;
mod lookup;
mod pattern;
mod phrases;
mod progress;
mod slots;
mod small_talk;
mod split;
mod steps;
mod table;
mod tokens;
mod turn;
mod verdict;
mod words;

use super::{Brain, Reply, Request, Tool, says};
use progress::Next;
use steps::Plan;
use turn::Turn;

/// The brain a newcomer meets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rehearsal;

impl Brain for Rehearsal {
    fn answer(&self, request: &Request) -> Reply {
        let turn = Turn::read(&request.messages);
        if let Some(reply) = called_by_name(&turn, &request.tools) {
            return reply;
        }
        let plan = steps::plan(&turn.requests, || turn.last_path());
        if plan.steps.is_empty() {
            return says(without_steps(&plan, &turn, request));
        }
        match progress::next(&plan, &turn, &request.tools) {
            Next::Call(calls) => {
                let mut steps: Vec<usize> = calls.iter().map(|(step, _)| *step).collect();
                steps.dedup();
                let steps = steps.into_iter().map(|step| &plan.steps[step]);
                let reply = says(answer::announce(steps));
                calls.into_iter().fold(reply, |reply, (_, call)| {
                    reply.and_calls(call.tool, call.input)
                })
            }
            Next::Answer(outcomes) => says(answer::tell(&plan, &outcomes, &turn, &request.tools)),
        }
    }
}

/// The reply to a request that names a tool on offer: the call, then what came of it.
fn called_by_name(turn: &Turn, tools: &[Tool]) -> Option<Reply> {
    let [request] = &turn.requests[..] else {
        return None;
    };
    let (name, input) = direct::call(request, tools)?;
    match turn.calls.last() {
        Some(past) => Some(says(phrases::called(name, past.content, past.is_error))),
        None => Some(says(format!("I will call {name}.")).and_calls(name, input)),
    }
}

/// What it says when there is nothing to do.
fn without_steps(plan: &Plan, turn: &Turn, request: &Request) -> String {
    let asked = turn.requests.join("\n");
    let tokens = tokens::tokenize(&asked);
    if small_talk::asks_abilities(&tokens) {
        return answer::abilities("I am the rehearsal model of this course.", &request.tools);
    }
    match plan.chat {
        Some(reply) if plan.unknown.is_empty() => reply.to_owned(),
        _ => answer::abilities(
            "I am only a rehearsal model, and this is outside what I can rehearse.",
            &request.tools,
        ),
    }
}

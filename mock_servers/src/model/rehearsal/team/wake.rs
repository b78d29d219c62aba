//! What mail sets going again: requests, also earlier ones, whose next step waited for it.
//!
//! Invariant: a step that waited is made once, because its call stands in the conversation afterwards.

use super::hiring;
use crate::model::Request;
use crate::model::rehearsal::asked::{Asked, request_in};
use crate::model::rehearsal::offer::Offer;
use crate::model::rehearsal::progress::{self, Calls, Next};
use crate::model::rehearsal::servers::Servers;
use crate::model::rehearsal::steps::{self, Plan};
use crate::model::rehearsal::turn::Turn;
use crate::model::rehearsal::{answer, events};

/// The most requests that are looked at.
const MOST: usize = 12;

/// What mail has set going.
pub enum Woken {
    /// Calls that waited, and the plan they belong to.
    Calls(Plan, Calls),
    /// What has been done since the last answer.
    Told(Vec<String>),
}

/// Looks through the requests whose steps may wait, the newest first, leaving out the first `skip` of them.
pub fn go_on(request: &Request, skip: usize) -> Woken {
    let mut told = Vec::new();
    let offers = request
        .tools
        .iter()
        .any(|tool| tool.name == "spawn_teammate");
    let messages = &request.messages;
    let asked = messages
        .iter()
        .enumerate()
        .rev()
        .filter_map(|(at, message)| match request_in(message) {
            Some(Asked::New(text)) => Some((at, text)),
            Some(Asked::More(_)) | None => None,
        });
    for (at, text) in asked.skip(skip).take(if offers { MOST } else { 0 }) {
        let requests = vec![text];
        let team = hiring::team(request, &requests);
        let turn = Turn::since(messages, &request.system, requests, at + 1);
        let servers = Servers::of(request, &turn.requests, turn.start);
        let offer = Offer::of(request, &team).with_servers(&servers);
        let plan = steps::plan(&turn.requests, offer, || turn.last_path());
        if plan.steps.iter().all(|step| step.intent.awaits.is_none()) {
            continue;
        }
        match progress::next(&plan, &turn, &request.tools) {
            Next::Call(calls) => return Woken::Calls(plan, calls),
            Next::Answer(outcomes, _) => {
                let from = events::unanswered(messages).saturating_sub(turn.start);
                told.extend(answer::news(&plan, &outcomes, from, &turn, &request.tools));
            }
        }
    }
    Woken::Told(told)
}

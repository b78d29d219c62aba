//! What mail sets going again: requests, also earlier ones, whose next step waited for it.
//!
//! Invariant: a step that waited is made once, because its call stands in the conversation afterwards.

use super::hiring;
use crate::model::rehearsal::asked::{Asked, is_interrupted, request_in};
use crate::model::rehearsal::offer::Offer;
use crate::model::rehearsal::progress::{self, Calls, Next};
use crate::model::rehearsal::servers::Servers;
use crate::model::rehearsal::steps::{self, Plan, Step};
use crate::model::rehearsal::table::Awaits;
use crate::model::rehearsal::turn::Turn;
use crate::model::rehearsal::{answer, events};
use crate::model::{Block, Message, Request};
use std::sync::Arc;

/// The most requests that are looked at.
const MOST: usize = 12;

/// What mail has set going.
pub enum Woken {
    /// Calls that waited, and the plan they belong to.
    Calls(Plan, Calls),
    /// What has been done since the last answer.
    Told(Vec<String>),
}

/// Whether the user stopped the work on the request in this message: nothing of it goes on by itself.
fn was_stopped(messages: &[Arc<Message>], at: usize) -> bool {
    let mut later = messages[at + 1..].iter();
    let next = later
        .clone()
        .position(|message| matches!(request_in(message), Some(Asked::New(_))));
    next.is_some_and(|next| {
        later
            .by_ref()
            .take(next + 1)
            .any(|message| is_interrupted(message))
    })
}

/// Whether a message hires somebody, or holds mail or a summary of such things.
fn tells_of_a_team(message: &Message) -> bool {
    message.blocks.iter().any(|block| match block {
        Block::ToolUse { name, .. } => name == "spawn_teammate",
        Block::Text(text) => text.contains("<mail") || text.contains("spawn_teammate"),
        Block::ToolResult { content, .. } => content.contains("<mail"),
        Block::Other(_) => false,
    })
}

/// Looks through the requests whose steps may wait, the newest first, leaving out the first `skip` of them.
pub fn go_on(request: &Request, skip: usize) -> Woken {
    let mut told = Vec::new();
    let messages = &request.messages;
    let offers = request
        .tools
        .iter()
        .any(|tool| tool.name == "spawn_teammate");
    // Where nobody was hired and no mail has come, nothing waits for any.
    let offers = offers && messages.iter().any(|message| tells_of_a_team(message));
    let asked = messages
        .iter()
        .enumerate()
        .rev()
        .filter_map(|(at, message)| match request_in(message) {
            Some(Asked::New(text)) => Some((at, text)),
            Some(Asked::More(_)) | None => None,
        });
    let mut newest = None;
    let mut is_watched = false;
    for (number, (at, text)) in asked.take(if offers { MOST + skip } else { 0 }).enumerate() {
        let newest = *newest.get_or_insert(at);
        if was_stopped(messages, at) {
            continue;
        }
        let requests = vec![text];
        let team = hiring::team(request, &requests);
        let turn = Turn::since(messages, &request.system, requests, at + 1);
        let servers = Servers::of(request, &turn.requests, turn.start);
        let offer = Offer::of(request, &team).with_servers(&servers);
        let mut plan = steps::plan(&turn.requests, offer, || turn.last_path());
        // The team is watched once.
        let watches = |step: &Step| step.intent.awaits == Some(Awaits::All);
        let is_watching = plan.steps.last().is_some_and(watches);
        if is_watching && std::mem::replace(&mut is_watched, true) {
            plan.steps.pop();
        }
        if number < skip {
            continue;
        }
        if plan.steps.iter().all(|step| step.intent.awaits.is_none()) {
            continue;
        }
        match progress::next(&plan, &turn, &request.tools) {
            Next::Call(calls) => return Woken::Calls(plan, calls),
            Next::Answer(outcomes, _) => {
                let from = events::unanswered(messages);
                let from = if skip > 0 { from.max(newest + 1) } else { from };
                let from = from.saturating_sub(turn.start);
                let news = answer::news(&plan, &outcomes, from, &turn, &request.tools);
                told.extend(news.into_iter().filter(|line| !line.is_empty()));
            }
        }
    }
    Woken::Told(told)
}

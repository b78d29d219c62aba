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

mod abilities;
mod announce;
mod answer;
mod asked;
mod board;
mod comments;
mod continued;
mod direct;
mod edits;
mod events;
mod facts;
mod findings;
mod follow_up;
mod gist;
mod intents;
mod jobs;
mod left;
mod likeness;
mod lookup;
mod offer;
mod parts;
mod pattern;
mod phrases;
mod progress;
mod python;
mod recall;
mod recap;
mod rounds;
mod sentences;
mod servers;
mod side_calls;
mod skills;
mod slots;
mod small_talk;
mod split;
mod steps;
mod style;
mod table;
mod task_words;
mod team;
mod time_words;
mod todos;
mod tokens;
mod turn;
mod verdict;
mod vocabulary;
mod words;

use super::{Brain, Reply, ReplyBlock, Request, Tool, says};
use continued::Continued;
use offer::Offer;
use progress::{Calls, Next};
use rounds::Rounds;
use servers::Servers;
use steps::{Plan, Step};
use style::Style;
use team::wake::{self, Woken};
use team::{hiring, mate};
use turn::Turn;

/// How it speaks of itself.
const WHO: &str = "I am the rehearsal model of this course";

/// The brain a newcomer meets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rehearsal;

impl Brain for Rehearsal {
    fn answer(&self, request: &Request) -> Reply {
        if let Some(cut) = Continued::of(request)
            && let Some(rest) = cut.rest(self.answer(&cut.request))
        {
            return rest;
        }
        if let Some(reply) = side_calls::answer(request) {
            return reply;
        }
        match mate::answer(request, Self::work) {
            Some(reply) => reply,
            None => Self::work(request),
        }
    }
}

impl Rehearsal {
    /// The reply to the request of a user, or to what came by itself.
    fn work(request: &Request) -> Reply {
        if events::woken(&request.messages).is_none() {
            let reply = Self::newest(request);
            let [ReplyBlock::Text(text)] = &reply.blocks[..] else {
                return reply;
            };
            // Mail that came meanwhile may be what an earlier request waits for.
            return match wake::go_on(request, 1) {
                Woken::Calls(plan, calls) => call(&plan, calls, Rounds::default()),
                Woken::Told(told) => {
                    let new = told
                        .into_iter()
                        .filter(|line| !text.contains(line.as_str()));
                    says(
                        std::iter::once(text.clone())
                            .chain(new)
                            .collect::<Vec<_>>()
                            .join("\n"),
                    )
                }
            };
        }
        match wake::go_on(request, 0) {
            Woken::Calls(plan, calls) => call(&plan, calls, Rounds::default()),
            Woken::Told(told) => {
                let news = events::told_since_the_request(&request.messages);
                says([news, told].concat().join("\n"))
            }
        }
    }

    /// The reply to the newest request.
    fn newest(request: &Request) -> Reply {
        let turn = Turn::read(&request.messages, &request.system);
        if let Some(reply) = called_by_name(&turn, &request.tools) {
            return reply;
        }
        // Its words are those of requests as well.
        if let [asked] = &turn.requests[..]
            && small_talk::asks_all_abilities(&tokens::tokenize(asked))
        {
            return says(abilities::abilities(WHO, &request.tools));
        }
        let team = hiring::team(request, &turn.requests);
        let servers = Servers::of(request, &turn.requests, turn.start);
        let offer = Offer::of(request, &team).with_servers(&servers);
        let mut plan = steps::plan(&turn.requests, offer, || turn.last_path());
        if let Some(meant) = follow_up::meant(&plan, &turn) {
            plan = steps::plan(&[meant], offer, || turn.last_path());
        }
        let writes = |step: &Step| step.intent.changes || step.intent.told.contains("{long");
        if plan.steps.iter().any(writes) {
            plan.obey(Style::known(&turn));
        }
        if plan.steps.is_empty() {
            return says(without_steps(&plan, &turn, request));
        }
        match progress::next(&plan, &turn, &request.tools) {
            Next::Call(calls) => call(&plan, calls, turn.rounds),
            Next::Answer(outcomes, ended) => {
                let mut told = vec![answer::tell(&plan, &outcomes, ended, &turn, &request.tools)];
                told.extend(events::told_since_the_request(&request.messages));
                says(told.join("\n"))
            }
        }
    }
}

/// Calls with their announcement.
fn call(plan: &Plan, calls: Calls, rounds: Rounds) -> Reply {
    let reply = says(announce::announce(plan, &calls, rounds));
    let calls = calls.wanted.into_iter().map(|wanted| wanted.call);
    calls.fold(reply, |reply, call| reply.and_calls(call.tool, call.input))
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
    if small_talk::asks_abilities(&asked, &tokens) {
        return abilities::beginning(WHO, &request.tools);
    }
    match plan.chat {
        Some(reply) if plan.unknown.is_empty() => reply.to_owned(),
        // `ok`: nothing but words that lead to a request.
        None if plan.unknown.is_empty()
            && let Some(reply) = small_talk::reply(&tokens) =>
        {
            reply.to_owned()
        }
        _ => abilities::examples(
            "I am only a rehearsal model, and this is outside what I can rehearse",
            &request.tools,
        ),
    }
}

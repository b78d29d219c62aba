//! From a request to steps: which row of the table each asks for, and what it is done to.
//!
//! Invariant: nothing the user asked for is dropped; what no row fits is kept as not understood.

mod meaning;
mod merged;
mod planner;
pub mod served;
mod staffed;

use super::offer::Offer;
use super::slots::Slots;
use super::split::fragments;
use super::style::Style;
use super::table::Intent;
use super::tokens::tokenize;
use super::words;
use planner::Planner;

/// The most steps of one request.
const MAX_STEPS: usize = 24;

/// The row that loads a skill.
const LOAD: &str = "load a skill";

/// The row that does what a skill says.
pub const FOLLOW: &str = "follow a skill";

/// The row that only writes a plan.
pub const PLAN: &str = "make a plan";

/// The row that writes a long module.
const LONG: &str = "write a long module";

/// What a request comes to.
#[derive(Debug, Default)]
pub struct Plan {
    /// The steps, in the order they were asked for.
    pub steps: Vec<Step>,
    /// What no row of the table fits, as it was typed.
    pub unknown: Vec<String>,
    /// The answer to what was only said out of politeness.
    pub chat: Option<&'static str>,
    /// The MCP servers there are, by name.
    pub servers: Vec<String>,
}

impl Plan {
    /// Whether one step of this row is all it asks for.
    pub fn is_only(&self, row: &str) -> bool {
        let mut asked = self.steps.iter().filter(|step| !step.unasked);
        let is_it = asked.next().is_some_and(|step| step.intent.name == row);
        is_it && asked.next().is_none() && self.unknown.is_empty()
    }

    /// What is written is written in this style.
    pub fn obey(&mut self, style: Style) {
        self.steps
            .iter_mut()
            .for_each(|step| step.slots.style = style);
    }
}

/// One step.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its row of the table.
    pub intent: &'static Intent,
    /// What the words filled in.
    pub slots: Slots,
    /// What it is done to.
    pub objects: Objects,
    /// Whether the user asked for it after the step before, not beside it.
    pub waits: bool,
    /// The step without whose success it makes no sense.
    pub leans_on: Option<usize>,
    /// Whether nobody asked for it: another step needs it, and tells what came of it.
    pub unasked: bool,
    /// Whether it is a part of another step.
    pub part: bool,
    /// The first part of the step it belongs to.
    pub parts_from: usize,
    /// The most files of a listing it is done to.
    pub most: usize,
}

/// What a step is done to.
#[derive(Clone, Debug, PartialEq)]
pub enum Objects {
    /// Nothing that has a path.
    None,
    /// These paths.
    Named(Vec<String>),
    /// The files that an earlier step finds.
    Found(usize),
    /// Something named before; nobody knows what.
    Unclear,
}

impl Step {
    /// Another step was put in front.
    fn move_down(&mut self) {
        self.parts_from += 1;
        self.leans_on = self.leans_on.map(|on| on + 1);
        if let Objects::Found(on) = &mut self.objects {
            *on += 1;
        }
    }

    fn new(intent: &'static Intent, slots: Slots, objects: Objects) -> Self {
        Self {
            intent,
            slots,
            objects,
            waits: false,
            leans_on: None,
            unasked: false,
            part: false,
            parts_from: 0,
            most: usize::MAX,
        }
    }
}

/// Works out the plan. `last_path` says which path the conversation named last.
pub fn plan(requests: &[String], offer: Offer, last_path: impl Fn() -> Option<String>) -> Plan {
    let mut planner = Planner {
        plan: Plan {
            servers: offer.servers.names.clone(),
            ..Plan::default()
        },
        set_out: None,
        offer,
        last_path: &last_path,
    };
    for request in requests {
        let tokens = tokenize(request);
        for fragment in fragments(&tokens, offer) {
            planner.add(request, &fragment);
        }
        // A very long request is only read at its beginning.
        let rest = tokens.last().map_or("", |last| {
            request[last.end..]
                .trim_matches(|c: char| c.is_whitespace() || words::PUNCTUATION.contains(&c))
        });
        if !rest.is_empty() {
            planner.plan.unknown.push(rest.to_owned());
        }
    }
    planner.answer_plans();
    planner.plan
}

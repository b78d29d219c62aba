//! From a request to steps: which row of the table each asks for, and what it is done to.
//!
//! Invariant: nothing the user asked for is dropped; what no row fits is kept as not understood.

use super::intents::row;
use super::pattern::{self, Kind, Taken};
use super::slots::Slots;
use super::split::{Fragment, fragments};
use super::table::Intent;
use super::tokens::{Token, tokenize};
use super::{lookup, small_talk, words};

/// The most steps of one request.
const MAX_STEPS: usize = 24;

/// What a request comes to.
#[derive(Debug, Default)]
pub struct Plan {
    /// The steps, in the order they were asked for.
    pub steps: Vec<Step>,
    /// What no row of the table fits, as it was typed.
    pub unknown: Vec<String>,
    /// The answer to what was only said out of politeness.
    pub chat: Option<&'static str>,
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
    fn new(intent: &'static Intent, slots: Slots, objects: Objects) -> Self {
        Self {
            intent,
            slots,
            objects,
            waits: false,
            leans_on: None,
            unasked: false,
        }
    }
}

/// Works out the plan. `last_path` says which path the conversation named last.
pub fn plan(requests: &[String], last_path: impl Fn() -> Option<String>) -> Plan {
    let mut planner = Planner {
        plan: Plan::default(),
        set_out: None,
        last_path: &last_path,
    };
    for request in requests {
        let tokens = tokenize(request);
        for fragment in fragments(&tokens) {
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
    planner.plan
}

struct Planner<'p> {
    plan: Plan,
    /// The path of a fragment that only says where: `in a.txt, …`.
    set_out: Option<String>,
    last_path: &'p dyn Fn() -> Option<String>,
}

impl Planner<'_> {
    fn add(&mut self, request: &str, fragment: &Fragment) {
        let tokens = &fragment.tokens[..];
        if self.plan.steps.len() >= MAX_STEPS {
            return self.plan.unknown.push(typed(request, tokens));
        }
        match lookup::find(tokens) {
            Some((intent, taken)) => self.add_step(intent, request, fragment, &taken),
            None => match small_talk::reply(tokens) {
                Some(reply) => self.plan.chat = Some(reply),
                None => self.add_unknown(request, fragment),
            },
        }
    }

    fn add_unknown(&mut self, request: &str, fragment: &Fragment) {
        let named = paths(&fragment.tokens, &[]);
        let is_short = fragment.tokens.len() <= 3 && !named.is_empty();
        match self.plan.steps.last() {
            // `…, then Cargo.toml`: the verb of the step before still holds.
            Some(before) if before.intent.each && is_short => {
                let objects = Objects::Named(named);
                let step = Step {
                    objects,
                    waits: fragment.waits,
                    leans_on: None,
                    ..before.clone()
                };
                self.plan.steps.push(step);
            }
            _ => {
                self.set_out = named.into_iter().next().filter(|_| is_short);
                self.plan.unknown.push(typed(request, &fragment.tokens));
            }
        }
    }

    fn add_step(
        &mut self,
        intent: &'static Intent,
        request: &str,
        fragment: &Fragment,
        taken: &[Taken],
    ) {
        let tokens = &fragment.tokens[..];
        let mut step = Step {
            waits: fragment.waits,
            ..Step::new(intent, Slots::default(), Objects::None)
        };
        for slot in taken {
            let value = step.slots.take(request, tokens, slot);
            match (slot.name, slot.kind) {
                (name, Kind::It) => self.refer(&mut step, name),
                ("path", _) => step.objects = Objects::Named(vec![value]),
                _ => {}
            }
        }
        self.fill(&mut step);
        self.add_first(intent, tokens, taken, &mut step);
        if intent.each
            && let Objects::Named(named) = &mut step.objects
        {
            named.extend(paths(tokens, taken));
        }
        self.set_out = None;
        self.plan.steps.push(step);
    }

    /// Fills the slots that the words left empty.
    fn fill(&mut self, step: &mut Step) {
        for (name, value) in step.intent.fills {
            let empty = match *name {
                "path" => step.objects == Objects::None,
                name => step.slots.get(name).is_none(),
            };
            let value = if empty {
                step.slots.render(value, None)
            } else {
                String::new()
            };
            match (*name, value.as_str()) {
                (_, "") => {}
                (name, "it") => self.refer(step, name),
                ("path", _) => step.objects = Objects::Named(vec![value]),
                (name, _) => step.slots.set(name, value),
            }
        }
    }

    /// Puts the step in front that this one needs, unless the request already has one that reads or finds.
    fn add_first(&mut self, intent: &Intent, tokens: &[Token], taken: &[Taken], step: &mut Step) {
        let Some(first) = &intent.first else { return };
        let named = paths(tokens, taken);
        let mut before = Step {
            unasked: true,
            ..Step::new(row(first.intent), step.slots.clone(), Objects::None)
        };
        if first.path.is_empty() {
            before.waits = step.waits;
            self.fill(&mut before);
            step.objects = Objects::Found(self.plan.steps.len());
        } else if named.is_empty() && self.plan.steps.iter().any(|step| !step.intent.changes) {
            return;
        } else {
            before.objects = Objects::Named(if named.is_empty() {
                vec![first.path.to_owned()]
            } else {
                named
            });
        }
        self.plan.steps.push(before);
    }

    /// Puts what `it` means into a slot: what the last step with a path was about, else what was named last.
    fn refer(&mut self, step: &mut Step, slot: &'static str) {
        let (objects, leans_on) = self.meant();
        step.leans_on = leans_on;
        match objects {
            objects if slot == "path" => step.objects = objects,
            Objects::Named(paths) => step
                .slots
                .set(slot, paths.into_iter().next_back().unwrap_or_default()),
            Objects::None | Objects::Found(_) | Objects::Unclear => step.objects = Objects::Unclear,
        }
    }

    fn meant(&mut self) -> (Objects, Option<usize>) {
        if let Some(path) = self.set_out.take() {
            self.plan.unknown.pop();
            return (Objects::Named(vec![path]), None);
        }
        for (index, step) in self.plan.steps.iter().enumerate().rev() {
            let objects = match (step.slots.get("to"), &step.objects) {
                _ if step.intent.told.contains("{list}") => Objects::Found(index),
                (Some(to), _) => Objects::Named(vec![to.to_owned()]),
                (None, Objects::None) => continue,
                (None, objects) => objects.clone(),
            };
            return (objects, Some(index));
        }
        (
            (self.last_path)().map_or(Objects::Unclear, |path| Objects::Named(vec![path])),
            None,
        )
    }
}

/// The paths among the tokens that no slot took.
fn paths(tokens: &[Token], taken: &[Taken]) -> Vec<String> {
    let free = |index: &usize| {
        !taken
            .iter()
            .any(|slot| (slot.from..slot.to).contains(index))
    };
    let named = (0..tokens.len())
        .filter(free)
        .map(|index| &tokens[index])
        .filter(|token| pattern::is_path(token));
    named
        .map(|token| pattern::named_file(token).to_owned())
        .take(20)
        .collect()
}

fn typed(request: &str, tokens: &[Token]) -> String {
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
        return String::new();
    };
    request[first.start..last.end]
        .trim_end_matches(words::PUNCTUATION)
        .to_owned()
}

//! From a request to steps: which row of the table each asks for, and what it is done to.
//!
//! Invariant: nothing the user asked for is dropped; what no row fits is kept as not understood.

use super::intents::row;
use super::offer::Offer;
use super::pattern::{self, Kind, Taken};
use super::slots::Slots;
use super::split::{Fragment, fragments};
use super::style::Style;
use super::table::Intent;
use super::tokens::{Token, tokenize};
use super::{follow_up, jobs, lookup, parts, skills, small_talk, words};

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
        plan: Plan::default(),
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
    planner.plan
}

struct Planner<'p> {
    plan: Plan,
    /// The path of a fragment that only says where: `in a.txt, …`.
    set_out: Option<String>,
    offer: Offer<'p>,
    last_path: &'p dyn Fn() -> Option<String>,
}

impl Planner<'_> {
    fn add(&mut self, request: &str, fragment: &Fragment) {
        let tokens = &fragment.tokens[..];
        if self.plan.steps.len() >= MAX_STEPS {
            return self.plan.unknown.push(typed(request, tokens));
        }
        if self.goes_on(tokens) {
            return;
        }
        match lookup::find(tokens, self.offer) {
            Some((intent, taken)) => self.add_step(intent, request, fragment, &taken),
            None => match small_talk::reply(tokens) {
                Some(reply) => self.plan.chat = Some(reply),
                None => self.add_unknown(request, fragment),
            },
        }
    }

    /// Words that go on with the step before. True when they are settled.
    fn goes_on(&mut self, tokens: &[Token]) -> bool {
        let Some(last) = self.plan.steps.last_mut() else {
            return false;
        };
        if last.intent.name == PLAN && follow_up::starts_work(tokens) {
            self.carry_out();
            return true;
        }
        let target = follow_up::target(tokens).filter(|_| last.intent.name == LONG);
        let settled = target.is_some();
        if let Some(path) = target {
            last.objects = Objects::Named(vec![path]);
        }
        settled
    }

    /// The work of a plan that was only to be written takes its place, or follows it when it keeps no plan of its own.
    fn carry_out(&mut self) {
        let Some(step) = self.plan.steps.pop() else {
            return;
        };
        let what = step.slots.get("what").unwrap_or_default();
        let job = jobs::jobs(what, false).join(", ");
        let last_path = self.last_path;
        let work = plan(std::slice::from_ref(&job), self.offer, last_path);
        if !work.steps.iter().any(|step| step.intent.planned) {
            self.plan.steps.push(step);
        }
        for fragment in fragments(&tokenize(&job), self.offer) {
            self.add(&job, &fragment);
        }
    }

    fn add_unknown(&mut self, request: &str, fragment: &Fragment) {
        // `I also prefer …`: what stands in front of the step is only who says it.
        if fragment
            .tokens
            .iter()
            .all(|token| token.is_any(&["i", "we"]))
        {
            return;
        }
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
        if let Some(job) = step.slots.get("job").filter(|_| intent.whole) {
            let several = tokens.iter().any(|token| token.is_any(jobs::SEVERAL));
            let jobs = jobs::jobs(job, several);
            return self.add_jobs(&step, jobs);
        }
        if intent.needs == "load_skill" {
            skills::settle(&mut step, self.offer, request);
            if self.settle_skill(&mut step, request, fragment) {
                return;
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
        if step.slots.get("dir").is_some() {
            parts::settle_package(&mut step, paths(tokens, taken));
        }
        step.parts_from = self.plan.steps.len();
        let parts = parts::parts(&step, self.plan.steps.len(), tokens);
        self.plan.steps.extend(parts);
        self.plan.steps.push(step);
    }

    /// A skill is loaded before the work it is for, and followed by doing that work. True when the step is settled.
    fn settle_skill(&mut self, step: &mut Step, request: &str, fragment: &Fragment) -> bool {
        let loads = |step: &Step| step.intent.name == LOAD;
        if loads(step) {
            let at_first = fragment.tokens.iter().any(|token| token.is("first"));
            if at_first && !self.plan.steps.is_empty() {
                self.plan.steps.iter_mut().for_each(Step::move_down);
                self.plan.steps.insert(0, step.clone());
                return true;
            }
            return false;
        }
        let Some(at) = self.plan.steps.iter().rposition(loads) else {
            return false;
        };
        step.parts_from = at;
        let name = self.plan.steps[at].slots.get("skill").unwrap_or_default();
        let follows = step.intent.name == FOLLOW;
        if follows && name.contains("review") {
            self.add_step(row("review the code"), request, fragment, &[]);
        } else if follows {
            let look = Step::new(row("look where to begin"), Slots::default(), Objects::None);
            self.plan.steps.push(Step {
                unasked: true,
                waits: true,
                ..look
            });
            self.plan.steps.push(step.clone());
        }
        follows
    }

    /// One step for each job; `it` is then what the job is about.
    fn add_jobs(&mut self, step: &Step, jobs: Vec<String>) {
        for job in jobs {
            let mut step = step.clone();
            if let Some(path) = jobs::path(&job) {
                step.slots.set("to", path);
            }
            step.slots.set("job", job);
            self.plan.steps.push(step);
        }
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

//! The planner: from the words of each fragment to the steps of a plan.
//!
//! A fragment goes on with the step before, or fits a row of the table, or is small talk, or is not understood.
//! Invariant: each fragment ends in one of these four, so nothing is lost.

use super::{FOLLOW, LOAD, LONG, MAX_STEPS, Objects, PLAN, Plan, Step, plan, served};
use crate::model::rehearsal::intents::row;
use crate::model::rehearsal::offer::Offer;
use crate::model::rehearsal::pattern::{self, Kind, Taken};
use crate::model::rehearsal::slots::Slots;
use crate::model::rehearsal::split::{Fragment, fragments};
use crate::model::rehearsal::table::{Filling, Intent};
use crate::model::rehearsal::tokens::{Token, tokenize};
use crate::model::rehearsal::{follow_up, jobs, lookup, parts, skills, small_talk, words};

/// What is known while a request is planned.
pub(super) struct Planner<'p> {
    pub(super) plan: Plan,
    /// The path of a fragment that only says where: `in a.txt, …`.
    pub(super) set_out: Option<String>,
    pub(super) offer: Offer<'p>,
    pub(super) last_path: &'p dyn Fn() -> Option<String>,
}

impl Planner<'_> {
    pub(super) fn add(&mut self, request: &str, fragment: &Fragment) {
        let tokens = &fragment.tokens[..];
        if self.plan.steps.len() >= MAX_STEPS {
            return self.plan.unknown.push(typed(request, tokens));
        }
        if self.goes_on(tokens) {
            return;
        }
        let found = lookup::find(tokens, self.offer);
        if let Some(server) = self.server_for(tokens, found.as_ref().map(|(row, _)| *row)) {
            return self.add_use(Self::use_row(), server, request, tokens);
        }
        if found
            .as_ref()
            .is_some_and(|(row, _)| self.is_settled_before(row))
        {
            return;
        }
        match found.map(|(intent, taken)| self.of_results(intent, taken)) {
            Some((intent, taken)) => self.add_step(intent, request, fragment, &taken),
            None => match small_talk::reply(tokens) {
                Some(reply) => self.plan.chat = Some(reply),
                None => self.add_unknown(request, fragment),
            },
        }
    }

    /// Words that go on with the step before. True when they are settled.
    pub(super) fn goes_on(&mut self, tokens: &[Token]) -> bool {
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
    pub(super) fn carry_out(&mut self) {
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

    pub(super) fn add_unknown(&mut self, request: &str, fragment: &Fragment) {
        // `I also prefer …`: what stands in front of the step is only who says it.
        if fragment
            .tokens
            .iter()
            .all(|token| token.is_any(&["i", "we"]))
        {
            return;
        }
        if !self.offer.team.is_empty() && says_when_done(&fragment.tokens) {
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

    pub(super) fn add_step(
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
        if intent.serves.is_some() || intent.told == served::OFFERED {
            return self.add_served(intent, request, tokens, taken);
        }
        if let Some(staffed) = intent.staffed {
            return self.add_staffed(&step, staffed, request, tokens);
        }
        if let Some(splits) = intent.splits {
            return self.add_split(&step, splits(&typed(request, tokens)), request, tokens);
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
    pub(super) fn settle_skill(
        &mut self,
        step: &mut Step,
        request: &str,
        fragment: &Fragment,
    ) -> bool {
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

    /// One step for each filling of the slots, behind its parts.
    pub(super) fn add_split(
        &mut self,
        step: &Step,
        fillings: Vec<Filling>,
        request: &str,
        tokens: &[Token],
    ) {
        if fillings.is_empty() {
            self.plan.unknown.push(typed(request, tokens));
        }
        for filling in fillings {
            let mut step = step.clone();
            for (name, value) in filling {
                step.slots.set(name, value);
            }
            step.parts_from = self.plan.steps.len();
            let parts = parts::parts(&step, self.plan.steps.len(), tokens);
            self.plan.steps.extend(parts);
            self.plan.steps.push(step);
        }
    }

    /// One step for each job; `it` is then what the job is about.
    pub(super) fn add_jobs(&mut self, step: &Step, jobs: Vec<String>) {
        for job in jobs {
            let mut step = step.clone();
            if let Some(path) = jobs::path(&job) {
                step.slots.set("to", path);
            }
            step.slots.set("job", job);
            self.plan.steps.push(step);
        }
    }
}

/// `when she is done`: what is to come then waits for her mail anyhow.
fn says_when_done(tokens: &[Token]) -> bool {
    let opens = tokens
        .first()
        .is_some_and(|first| first.is_any(&["when", "once", "after", "as", "that", "until"]));
    let ends = [
        "done", "finished", "finishes", "ready", "reported", "reports", "that", "answered", "sent",
    ];
    opens && tokens.iter().any(|token| token.is_any(&ends))
}

/// The paths among the tokens that no slot took.
pub(super) fn paths(tokens: &[Token], taken: &[Taken]) -> Vec<String> {
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

/// The words of these tokens, as they were typed.
pub(super) fn typed(request: &str, tokens: &[Token]) -> String {
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
        return String::new();
    };
    request[first.start..last.end]
        .trim_end_matches(words::PUNCTUATION)
        .to_owned()
}

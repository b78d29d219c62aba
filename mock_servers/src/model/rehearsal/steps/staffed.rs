//! Steps about teammates: who is hired, who shall plan first, and whose plan is answered.
//!
//! Invariant: a plan that is asked for is answered once.

use super::planner::{Planner, typed};
use super::{Objects, Step};
use crate::model::rehearsal::intents::row;
use crate::model::rehearsal::slots::Slots;
use crate::model::rehearsal::table::{Awaits, Staffed};
use crate::model::rehearsal::team::fillings;
use crate::model::rehearsal::tokens::Token;

impl Planner<'_> {
    /// One step for each teammate, and what follows from it; an answer to the same plan replaces the one before.
    pub(super) fn add_staffed(
        &mut self,
        step: &Step,
        staffed: Staffed,
        request: &str,
        tokens: &[Token],
    ) {
        let from = self.plan.steps.len();
        let fillings = staffed(&typed(request, tokens), self.offer.team);
        self.add_split(step, fillings, request, tokens);
        let (before, added) = self.plan.steps.split_at(from);
        let again = |old: &Step| {
            let same = |new: &Step| new.slots.get("who") == old.slots.get("who");
            old.intent.awaits == Some(Awaits::Plan) && added.iter().any(same)
        };
        if step.intent.awaits == Some(Awaits::Plan)
            && let Some(old) = before.iter().rposition(again)
        {
            self.plan.steps.remove(old);
        }
        if step.slots.get("plan").is_some()
            || self.plan.steps[from.min(self.plan.steps.len())..]
                .iter()
                .any(|step| step.slots.get("plan").is_some())
        {
            self.ask_for_plans(from);
        }
    }

    /// Whoever shall plan first is asked for the plan.
    pub(super) fn ask_for_plans(&mut self, hired: usize) {
        let asks = row("ask for a plan");
        let Some(step) = self
            .plan
            .steps
            .get(hired)
            .filter(|_| self.offer.knows(asks))
        else {
            return;
        };
        let lines = |slot| step.slots.get(slot).unwrap_or_default().split('\n');
        let asked: Vec<Step> = lines("names")
            .zip(lines("jobs"))
            .map(|(who, job)| {
                let mut slots = Slots::default();
                slots.set("who", who);
                slots.set(
                    "what",
                    if job.is_empty() {
                        "the task you want to claim"
                    } else {
                        job
                    },
                );
                Step::new(asks, slots, Objects::None)
            })
            .collect();
        self.plan.steps.extend(asked);
    }

    /// A plan that was asked for is answered, also when nobody said so.
    pub(super) fn answer_plans(&mut self) {
        let answers = row("answer a plan");
        let mut added = Vec::new();
        for step in &self.plan.steps {
            let who = step.slots.get("who").unwrap_or_default();
            let is_answered = self.plan.steps.iter().any(|other| {
                other.intent.name == answers.name && other.slots.get("who") == Some(who)
            });
            if step.intent.name == "ask for a plan" && !is_answered && self.offer.knows(answers) {
                let fillings = fillings::verdict("approve", &[who.to_owned()]);
                for filling in fillings {
                    let mut slots = Slots::default();
                    filling
                        .into_iter()
                        .for_each(|(name, value)| slots.set(name, value));
                    added.push(Step::new(answers, slots, Objects::None));
                }
            }
        }
        self.plan.steps.extend(added);
    }
}

//! What a step is about when the words do not say it: slots left empty, `it`, and what has to be read first.
//!
//! Invariant: what nobody can know stays unclear; it is never guessed.

use super::planner::{Planner, paths};
use super::{Objects, Step};
use crate::model::rehearsal::intents::row;
use crate::model::rehearsal::pattern::Taken;
use crate::model::rehearsal::table::Intent;
use crate::model::rehearsal::tokens::Token;

impl Planner<'_> {
    /// Fills the slots that the words left empty.
    pub(super) fn fill(&mut self, step: &mut Step) {
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
    pub(super) fn add_first(
        &mut self,
        intent: &Intent,
        tokens: &[Token],
        taken: &[Taken],
        step: &mut Step,
    ) {
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
    pub(super) fn refer(&mut self, step: &mut Step, slot: &'static str) {
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

    pub(super) fn meant(&mut self) -> (Objects, Option<usize>) {
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

//! Words that are about the step before: they change what it tells, or write down what it found.
//!
//! Invariant: what one look can answer is looked up once.

use super::planner::Planner;
use super::{Objects, Step};
use crate::model::rehearsal::intents::{WRITE, row};
use crate::model::rehearsal::pattern::{Kind, Taken};
use crate::model::rehearsal::table::{Awaits, Intent, Serves};

/// The row that copies a file, of which `save it to notes.md` may speak.
const COPY: &str = "make a copy of a file";

/// Rows that look at the same; the second tells what the first does, and more.
const LOOKS: (&str, &str) = ("list the tasks", "tell which tasks are free");

impl Planner<'_> {
    /// Lets the step before tell what these words ask. True when nothing is left to do for them.
    pub(super) fn is_settled_before(&mut self, intent: &'static Intent) -> bool {
        let Some(last) = self.plan.steps.last_mut() else {
            return false;
        };
        // `Watch them auto-claim and work`
        if intent.awaits == Some(Awaits::All) && last.intent.name == intent.name {
            return true;
        }
        // `List the tasks — which of them are free?`
        let tells_more = (last.intent.name, intent.name) == LOOKS && !last.part;
        if tells_more {
            last.intent = intent;
        }
        tells_more
    }

    /// `search for hooks and save it to notes.md`: what was found is meant, not a file.
    pub(super) fn of_results(
        &self,
        intent: &'static Intent,
        mut taken: Vec<Taken>,
    ) -> (&'static Intent, Vec<Taken>) {
        let speaks = taken.iter().any(|slot| slot.kind == Kind::It);
        let to = taken.iter().position(|slot| slot.name == "to");
        match to.filter(|_| intent.name == COPY && speaks && self.has_found()) {
            Some(to) => {
                let path = Taken {
                    name: "path",
                    ..taken.swap_remove(to)
                };
                (row(WRITE), vec![path])
            }
            None => (intent, taken),
        }
    }

    /// Whether what came last is an answer and no file.
    fn has_found(&self) -> bool {
        let finds = |step: &Step| {
            let looks = !step.intent.changes && !step.intent.by.is_empty();
            let prints = step.intent.told.contains("{printed}");
            looks || prints || step.intent.serves == Some(Serves::Use)
        };
        match self.plan.steps.last() {
            Some(step) => step.objects == Objects::None && finds(step),
            None => self.offer.servers.last.is_some(),
        }
    }
}

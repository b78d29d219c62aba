//! Steps whose arguments are in earlier results: the id of the task to claim, the fields of a minute from now.
//!
//! Invariant: a step is worked out from the results of the steps before it alone, so it comes out the same each time.

use super::{Outcome, Walk};
use crate::model::rehearsal::steps::Step;
use crate::model::rehearsal::table::{Known, Later, Way};
use crate::model::rehearsal::team::waiting;
use crate::model::rehearsal::verdict::{Verdict, judge};

impl<'a> Walk<'_, 'a> {
    /// A step that is done with what earlier results hold, once for each filling they give.
    pub(super) fn each_later(
        &mut self,
        index: usize,
        step: &Step,
        way: &'static Way,
        later: Later,
    ) -> Outcome<'a> {
        let before = self.turn.calls_before();
        let earlier = before
            .iter()
            .filter(|past| judge(past) == Verdict::Fine)
            .map(|past| Known {
                tool: past.name.as_ref(),
                content: past.content,
            });
        let deeds = self.outcomes.iter().flat_map(Outcome::deeds);
        let now = deeds
            .filter(|deed| deed.verdict == Verdict::Fine)
            .map(|deed| Known {
                tool: deed.tool.as_ref(),
                content: deed.content,
            });
        let plans = waiting::plans(&step.slots, self.turn);
        let plans = plans.iter().map(|id| Known {
            tool: waiting::PLAN,
            content: id,
        });
        let known: Vec<Known> = earlier.chain(now).chain(plans).collect();
        let mut fillings = later(&step.slots, &known);
        if fillings.is_empty() {
            // What it was worked out from may have been taken away since.
            fillings.extend(self.made(way));
        }
        let mut deeds = Vec::new();
        for filling in &fillings {
            let mut slots = step.slots.clone();
            for (name, value) in filling {
                slots.set(name, value.as_str());
            }
            deeds.extend(self.deed(index, step.intent, way, &slots, None));
        }
        match fillings.is_empty() {
            true => Outcome::Skipped,
            false => Outcome::Done(deeds),
        }
    }

    /// The slots of a call of this way that was made already.
    fn made(&self, way: &'static Way) -> Option<Vec<(&'static str, String)>> {
        let is_made =
            |past: &&crate::model::rehearsal::turn::Past| past.is_free() && past.name == way.tool;
        let past = self.turn.calls.iter().find(is_made)?;
        let slots = way.args.iter().filter_map(|(name, template)| {
            let slot = template.strip_prefix('{')?.strip_suffix('}')?;
            let value = past.input.get(*name)?;
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            Some((slot.split('|').next().unwrap_or(slot), text))
        });
        Some(slots.collect())
    }
}

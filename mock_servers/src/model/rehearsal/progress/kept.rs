//! The plan that is kept while the work goes on.
//!
//! Invariant: a list is written only when none that was written tells of as much.

use super::{Walk, Wanted};
use crate::model::rehearsal::todos::{self, Todos};
use crate::model::rehearsal::turn::Past;

impl Walk<'_, '_> {
    /// Brings the plan of the user up to date.
    pub(super) fn keep(&mut self, list: &Todos, current: Option<usize>) {
        let call = list.call(&self.outcomes, current);
        // Whichever list was written last says how far the work was; earlier ones may be gone.
        let is_later = |past: &&Past| {
            past.name == call.tool && todos::reached(&past.input) >= todos::reached(&call.input)
        };
        if !self.turn.calls.iter().any(|past| is_later(&past)) {
            self.calls.wanted.push(Wanted {
                step: None,
                found: None,
                doing: None,
                call,
            });
        }
    }
}

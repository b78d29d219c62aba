//! What is noted aloud while the work goes on: what files are about, what changes came to.
//!
//! The texts may be taken away to make room, and what a reply said stays longer. On a screen that shows the answer, too,
//! the notes say it twice; so only those are made that may be needed.
//! Invariant: nothing is noted a second time.

use super::Walk;

/// How many rounds a result stays at least.
const STAYS: usize = 3;

impl Walk<'_, '_> {
    /// Notes a line under a key, unless it is noted already or nothing is taken away here.
    pub(super) fn note_line(&mut self, key: &str, line: &str, soon: bool) {
        let compacts = || self.tools.iter().any(|tool| tool.name == "compact");
        let late = soon || self.turn.rounds.taken >= STAYS;
        let wanted = self.calls.gone || self.turn.rounds.aloud || late && compacts();
        if wanted && self.turn.finding(key).is_none() {
            self.calls.notes.push(format!("- {key}: {line}"));
        }
    }
}

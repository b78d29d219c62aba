//! Work on the files of a listing, some in each reply.
//!
//! A listing may name hundreds of files, and results that are old may be taken away to make room. So each reply notes in
//! a line what the files read before it are about, and a listing that is gone is made again.
//! Invariant: a file is read once, whatever was taken away.

use serde_json::Value;

use super::{Call, Deed, Outcome, Walk, Wanted, fill};
use crate::model::rehearsal::gist;
use crate::model::rehearsal::steps::Step;
use crate::model::rehearsal::table::Way;
use crate::model::rehearsal::verdict::{Verdict, judge};

/// The most files of a listing that are worked on.
pub const MAX_FOUND: usize = 60;

/// How many of them are worked on in one reply.
const BATCH: usize = 4;

/// How many rounds that may take beyond those of any plan: the listing may have to be made again now and then.
pub const MAX_ROUNDS: usize = 3 * MAX_FOUND / BATCH / 2;

/// The files that a listing names.
pub fn found<'a>(listing: &Outcome<'a>) -> impl Iterator<Item = &'a str> {
    let fine = listing
        .deeds()
        .iter()
        .filter(|deed| deed.verdict == Verdict::Fine);
    fine.flat_map(|deed| gist::entries(deed.content))
}

impl<'a> Walk<'_, 'a> {
    /// A step that is done to every file of a listing, some in each reply.
    pub(super) fn each_found(
        &mut self,
        index: usize,
        step: &Step,
        way: &'static Way,
        on: usize,
    ) -> Outcome<'a> {
        if self.is_gone(on) {
            self.list_again(on);
            self.note_calls(way);
            return Outcome::Done(Vec::new());
        }
        let files = self.found(on, step.most);
        let calls = files
            .iter()
            .map(|path| (index, fill(way, &step.slots, Some(path))));
        let at = self.planned.partition_point(|(step, _)| *step <= index);
        self.planned.splice(at..at, calls.collect::<Vec<_>>());
        let is_long = files.len() > BATCH;
        let mut deeds = Vec::new();
        for path in files {
            if self.calls.wanted.len() >= BATCH {
                break;
            }
            let before = self.calls.wanted.len();
            deeds.extend(self.deed(index, step.intent, way, &step.slots, Some(path.clone())));
            for wanted in &mut self.calls.wanted[before..] {
                wanted.found = Some(path.clone());
            }
        }
        if is_long && !step.intent.changes {
            self.note(&deeds);
        }
        Outcome::Done(deeds)
    }

    /// Notes what the files are about that were read and not noted yet.
    fn note(&mut self, deeds: &[Deed]) {
        for deed in deeds.iter().filter(|deed| deed.verdict == Verdict::Fine) {
            self.note_file(deed.path.as_deref().unwrap_or_default(), deed.content);
        }
    }

    /// The same when nothing tells which files there are: whatever was read in this turn.
    fn note_calls(&mut self, way: &Way) {
        let calls = self
            .turn
            .calls
            .iter()
            .filter(|past| past.name == way.tool && judge(past) == Verdict::Fine);
        for past in calls {
            if let Some(path) = past.input.get("path").and_then(Value::as_str) {
                self.note_file(path, past.content);
            }
        }
    }

    fn note_file(&mut self, path: &str, content: &str) {
        self.note_line(path, &gist::gist(path, content), true);
    }

    /// Whether a listing was made and is not there any more.
    fn is_gone(&self, on: usize) -> bool {
        let deeds = self.outcomes[on].deeds();
        deeds.iter().any(|deed| deed.verdict == Verdict::Gone)
    }

    fn list_again(&mut self, on: usize) {
        let calls = self.planned.iter().filter(|(step, _)| *step == on);
        let wanted = calls.map(|(step, call)| Wanted {
            step: Some(*step),
            found: None,
            doing: None,
            call: call.clone(),
        });
        self.calls.wanted.extend(wanted.collect::<Vec<_>>());
    }

    /// The files a listing named; of too many, those that lie highest.
    pub(super) fn found(&self, on: usize, most: usize) -> Vec<String> {
        let mut files: Vec<&str> = found(&self.outcomes[on]).collect();
        if files.len() > most {
            files.sort_by_key(|file| file.matches('/').count());
        }
        let most = most.min(MAX_FOUND);
        files.into_iter().take(most).map(str::to_owned).collect()
    }

    /// Whether a call that comes later in the plan has been made.
    pub(super) fn was_passed(&self, index: usize, call: &Call) -> bool {
        let own = self
            .planned
            .iter()
            .position(|(step, planned)| *step == index && planned == call);
        let later = match own {
            Some(own) => &self.planned[own + 1..],
            None => &self.planned[self.planned.partition_point(|(step, _)| *step <= index)..],
        };
        later.iter().any(|(_, call)| {
            self.turn
                .calls
                .iter()
                .any(|past| past.is_free() && past.is_of(&call.tool, &call.input))
        })
    }
}

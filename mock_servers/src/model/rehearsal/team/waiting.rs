//! What a lead waits for: a report, a plan, the reports of all.
//!
//! Invariant: whether something has come is read from the mail of the conversation, so a step that waited goes on by
//! itself in the turn that the mail begins.

use super::letters::Letter;
use crate::model::rehearsal::phrases::listed;
use crate::model::rehearsal::progress::Outcome;
use crate::model::rehearsal::slots::Slots;
use crate::model::rehearsal::steps::Step;
use crate::model::rehearsal::table::Awaits;
use crate::model::rehearsal::turn::Turn;

/// Stands for the tool of a plan's id among what is known.
pub const PLAN: &str = "<mail> plan";

/// The mail that a step still lacks.
pub fn lacks(step: &Step, steps: &[Step], outcomes: &[Outcome], turn: &Turn) -> Option<String> {
    let who = step.slots.get("who").unwrap_or_default();
    let own = |step: &Step| step.slots.get("who") == Some(who);
    let mut before = steps.iter().zip(outcomes);
    let is_held_up =
        before.any(|(step, outcome)| matches!(outcome, Outcome::Waits(_)) && own(step));
    let has_left = turn.letters.iter().any(|mail| {
        mail.at >= turn.start && mail.from == who && mail.ends_work() && mail.kind != "result"
    });
    match step.intent.awaits? {
        Awaits::Result => {
            let given = turn.work_given(who).max();
            let came = |given| {
                let mut letters = turn.letters.iter();
                letters.any(|mail| mail.at > given && mail.from == who && mail.ends_work())
            };
            let lacks = is_held_up || given.is_some_and(|given| !came(given));
            lacks.then(|| format!("{who}'s result"))
        }
        Awaits::Plan => {
            (plans(&step.slots, turn).is_empty() && !has_left).then(|| format!("{who}'s plan"))
        }
        Awaits::All => lacks_reports(turn),
    }
}

/// The ids of the plans that a step is about: one that came before the request and was not answered, else those that came
/// for it; of these only the first when the answer is no, because a new plan is a new question.
pub fn plans(slots: &Slots, turn: &Turn) -> Vec<String> {
    let who = slots.get("who").unwrap_or_default();
    let from = |mail: &&Letter| mail.is_plan() && mail.from == who;
    let (before, since): (Vec<&Letter>, Vec<&Letter>) = turn
        .letters
        .iter()
        .filter(from)
        .partition(|mail| mail.at < turn.start);
    let id = |mail: &&Letter| mail.id.clone();
    let last = before.last().and_then(id);
    match last.filter(|id| !turn.was_reviewed_before(id)) {
        Some(id) => vec![id],
        None if slots.get("approve") == Some("false") => {
            since.first().and_then(id).into_iter().collect()
        }
        None => since.iter().filter_map(id).collect(),
    }
}

/// Whose reports are missing on what this request made and started.
fn lacks_reports(turn: &Turn) -> Option<String> {
    let calls = |tool: &'static str| {
        turn.calls
            .iter()
            .filter(move |past| past.name == tool && !past.is_error)
    };
    let tasks: Vec<&str> = calls("create_task")
        .filter_map(|past| id(past.content))
        .collect();
    let names: Vec<&str> = calls("spawn_teammate")
        .filter_map(|past| past.input["name"].as_str())
        .collect();
    let since = || {
        turn.letters
            .iter()
            .filter(|mail| mail.at >= turn.start && mail.ends_work())
    };
    let told = |task: &&str| since().any(|mail| mail.text.contains(*task));
    let reported = |name: &&str| since().any(|mail| mail.from == *name);
    let stopped = |name: &&str| since().any(|mail| mail.from == *name && mail.kind != "result");
    let done = match tasks.is_empty() {
        true => names.iter().all(reported),
        false => tasks.iter().all(told) || !names.is_empty() && names.iter().all(stopped),
    };
    let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    (!done).then(|| match names.is_empty() {
        true => "the reports".to_owned(),
        false => format!("the reports of {}", listed(&names)),
    })
}

/// `created 0001-…: setup`: the id.
pub fn id(created: &str) -> Option<&str> {
    created.strip_prefix("created ")?.split(':').next()
}

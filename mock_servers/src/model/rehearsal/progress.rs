//! What has been done, and what is to be done next.
//!
//! The plan is walked from its start on every request. Each step's call is looked up among the calls of the turn; the
//! first steps whose calls are not there yet are what to do now. So a step's arguments may come from earlier results,
//! and a reply that got lost is made again.
//! Results and whole rounds may have been taken away to make room. A call that comes later in the plan and is there shows
//! that those before it were made.
//! Invariant: it ends. A step gets at most four calls for each thing it is done to, a denied one no second, and a turn
//! that lost its way stops.

mod changes;
mod fill;
mod kept;
mod later;
mod listed;
mod noted;
mod outcome;
mod results;
mod served;

use fill::fill;
pub use listed::{MAX_FOUND, found};
pub use outcome::{Deed, Outcome};

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Map, Value};

use super::gist;
use super::intents::row;
use super::left::Left;
use super::servers::Asked;
use super::slots::Slots;
use super::steps::{Objects, Plan, Step};
use super::table::{Intent, Serves, Way};
use super::team::waiting;
use super::todos::Todos;
use super::turn::{Past, Turn};
use super::verdict::{Verdict, judge};
use crate::model::Tool;

/// A call to make.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The tool.
    pub tool: Cow<'static, str>,
    /// Its arguments.
    pub input: Value,
}

/// What is next.
pub enum Next<'a> {
    /// Make these calls.
    Call(Calls),
    /// Everything is done that can be done.
    Answer(Vec<Outcome<'a>>, Ended),
}

/// Calls to make.
#[derive(Debug, Default)]
pub struct Calls {
    /// The calls.
    pub wanted: Vec<Wanted>,
    /// What to note about files read so far, one line each: their text may be gone before the end.
    pub notes: Vec<String>,
    /// Whether something of the turn is not in the conversation any more.
    pub gone: bool,
}

/// A call to make, with what is announced.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The step it belongs to; keeping the plan belongs to none.
    pub step: Option<usize>,
    /// What it is done to, when a listing named it.
    pub found: Option<String>,
    /// What it does, where its step does not say it.
    pub doing: Option<String>,
    /// The call.
    pub call: Call,
}

/// Why there is nothing more to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The plan is carried out.
    Done,
    /// It took more rounds than the plan can need.
    Lost,
}

/// Walks the plan.
pub fn next<'a>(plan: &Plan, turn: &'a Turn<'a>, tools: &[Tool]) -> Next<'a> {
    let mut walk = Walk {
        plan,
        turn,
        tools,
        outcomes: Vec::new(),
        planned: Vec::new(),
        calls: Calls::default(),
        known: HashMap::new(),
        asked: Vec::new(),
    };
    walk.plan_ahead();
    let list = Todos::of(plan, tools);
    // A plan that got more rounds than it can use has lost its way; what is known then is the answer.
    let found = plan
        .steps
        .iter()
        .filter(|step| matches!(step.objects, Objects::Found(_)));
    let has_time =
        turn.rounds.taken <= 3 * plan.steps.len() + 3 + found.count() * listed::MAX_ROUNDS;
    for (index, step) in plan.steps.iter().enumerate() {
        // What waits for mail lets nothing pass but what waits for other mail.
        let waits = walk
            .outcomes
            .iter()
            .any(|outcome| matches!(outcome, Outcome::Waits(_)));
        if waits && step.intent.awaits.is_none() {
            break;
        }
        let beside = list.is_none() && index > 0 && runs_beside(step, &plan.steps[index - 1]);
        if !walk.calls.wanted.is_empty() && !beside {
            break;
        }
        if let Some(list) = list.as_ref().filter(|list| list.names(index)) {
            walk.keep(list, Some(index));
            // The plan comes first; later it is brought up to date beside the work.
            if !walk.calls.wanted.is_empty() && list.first() == Some(index) {
                break;
            }
        }
        let outcome = walk.step(index, step);
        walk.outcomes.push(outcome);
    }
    if let Some(list) = list.filter(|_| walk.calls.wanted.is_empty()) {
        walk.keep(&list, None);
    }
    // Calls that no step knows are what is left of a conversation whose beginning was cut.
    let unknown = |past: &Past| past.is_free() && past.name != "todo_write";
    walk.calls.gone |= turn.calls.iter().any(unknown);
    match (walk.calls.wanted.is_empty(), has_time) {
        (true, _) => Next::Answer(walk.outcomes, Ended::Done),
        (false, false) => Next::Answer(walk.outcomes, Ended::Lost),
        (false, true) => Next::Call(walk.calls),
    }
}

/// Whether a step may run in the same reply as the one before it.
fn runs_beside(step: &Step, before: &Step) -> bool {
    let alike = step.intent.name == before.intent.name && step.objects != before.objects;
    let free = step.leans_on.is_none() && !matches!(step.objects, Objects::Found(_)) && !step.waits;
    // A teammate is asked for a plan before it begins.
    let plans = step.intent.name == "ask for a plan" && before.intent.name == "hire a teammate";
    let beside = plans || step.intent.beside && step.intent.name == before.intent.name;
    free && !needs_results(step.intent)
        && (alike || beside || !step.intent.changes && !before.intent.changes)
}

fn needs_results(intent: &Intent) -> bool {
    let summary = intent
        .by
        .iter()
        .flat_map(|way| way.args)
        .any(|(_, template)| template.contains("{summary"));
    summary || results::are_written_by(intent) || intent.later.is_some()
}

struct Walk<'p, 'a> {
    plan: &'p Plan,
    turn: &'a Turn<'a>,
    tools: &'p [Tool],
    outcomes: Vec<Outcome<'a>>,
    /// The calls that are known from the start, and those of listings read so far, in the order of the plan.
    planned: Vec<(usize, Call)>,
    calls: Calls,
    /// The texts of the files: what was read, and what was changed since.
    known: HashMap<String, String>,
    /// What servers were asked by the steps so far.
    asked: Vec<Asked>,
}

impl<'a> Walk<'_, 'a> {
    /// Works out the calls that need no earlier result. Without a call in the turn nobody asks for them.
    fn plan_ahead(&mut self) {
        let steps = self.plan.steps.iter().enumerate();
        for (index, step) in steps.filter(|_| !self.turn.calls.is_empty()) {
            let paths: Vec<Option<&str>> = match &step.objects {
                Objects::None => vec![None],
                Objects::Named(paths) => paths.iter().map(|path| Some(path.as_str())).collect(),
                Objects::Found(_) | Objects::Unclear => continue,
            };
            let is_served = step.intent.serves == Some(Serves::Use);
            if let Some(way) = self.way(step.intent).filter(|_| {
                !is_served && !needs_results(step.intent) && step.intent.rewrites.is_none()
            }) {
                let calls = paths
                    .into_iter()
                    .map(|path| (index, fill(way, &step.slots, path)));
                self.planned.extend(calls);
            }
        }
    }

    fn step(&mut self, index: usize, step: &Step) -> Outcome<'a> {
        if let Some(mail) = waiting::lacks(step, &self.plan.steps, &self.outcomes, self.turn) {
            return Outcome::Waits(mail);
        }
        if step.intent.serves == Some(Serves::Use) {
            return self.use_server(index, step);
        }
        if step.intent.by.is_empty() {
            return Outcome::Known;
        }
        if step.leans_on.is_some_and(|on| !self.outcomes[on].is_fine()) {
            return Outcome::Skipped;
        }
        let Some(way) = self.way(step.intent) else {
            return Outcome::NoTool;
        };
        if let Some(rewrite) = step.intent.rewrites {
            return self.rewrite_all(index, step, rewrite);
        }
        if let Some(later) = step.intent.later {
            return self.each_later(index, step, way, later);
        }
        let mut slots = step.slots.clone();
        if results::are_written_by(step.intent) {
            match self.results() {
                Ok(results) => slots.set(results::SLOT, results),
                Err(outcome) => return outcome,
            }
        } else if needs_results(step.intent) {
            let summary = gist::summary(self.readings());
            if summary.is_empty() {
                return Outcome::Skipped;
            }
            slots.set("summary", summary);
        }
        let paths: Vec<Option<String>> = match &step.objects {
            Objects::None => vec![None],
            Objects::Named(paths) => paths.iter().cloned().map(Some).collect(),
            Objects::Found(on) => return self.each_found(index, step, way, *on),
            Objects::Unclear => return Outcome::Unclear,
        };
        Outcome::Done(
            paths
                .into_iter()
                .filter_map(|path| self.deed(index, step.intent, way, &slots, path))
                .collect(),
        )
    }

    fn way(&self, intent: &'static Intent) -> Option<&'static Way> {
        intent
            .by
            .iter()
            .find(|way| self.tools.iter().any(|tool| tool.name == way.tool))
    }

    /// One call of a step with its answer, or `None` when it is still to be made.
    fn deed(
        &mut self,
        index: usize,
        intent: &Intent,
        way: &'static Way,
        slots: &Slots,
        path: Option<String>,
    ) -> Option<Deed<'a>> {
        let call = fill(way, slots, path.as_deref());
        let mut past = self.past_or_want(index, &call, None)?;
        if judge(past) == Verdict::BadArgument
            && let Some(better) = self.correct(&call, past)
        {
            past = self.past_or_want(index, &better, Some(past))?;
        }
        let mut deed = Deed {
            path,
            tool: Cow::Borrowed(way.tool),
            content: past.content,
            verdict: judge(past),
            left: past.left,
            similar: Vec::new(),
            note: String::new(),
            round: past.round,
        };
        if deed.verdict == Verdict::Missing && intent.seeks {
            self.seek(index, way, slots, past, &mut deed)?;
        }
        self.learn(way, &deed);
        Some(deed)
    }

    /// The file is not there: look for a similar name, and take it when there is exactly one.
    fn seek(
        &mut self,
        index: usize,
        way: &'static Way,
        slots: &Slots,
        missed: &'a Past<'a>,
        deed: &mut Deed<'a>,
    ) -> Option<()> {
        let Some(look) = self.way(row("look for a similar name")) else {
            return Some(());
        };
        let call = fill(look, slots, deed.path.as_deref());
        let found = self.past_or_want(index, &call, Some(missed))?;
        if judge(found) == Verdict::Fine {
            deed.similar = gist::entries(found.content).collect();
        }
        if let [only] = deed.similar[..] {
            let again = self.past_or_want(index, &fill(way, slots, Some(only)), Some(found))?;
            (deed.content, deed.verdict, deed.left) = (again.content, judge(again), again.left);
        }
        Some(())
    }

    /// The answer to a call. When there is none the call is still to be made.
    fn past_or_want(
        &mut self,
        index: usize,
        call: &Call,
        after: Option<&Past>,
    ) -> Option<&'a Past<'a>> {
        let planned = |past: &Past| {
            self.planned
                .iter()
                .any(|(_, call)| past.is_of(&call.tool, &call.input))
        };
        // The answer to one request is no answer to another.
        let other_id = |past: &Past| {
            let id = |input: &Value| Some(input.get("request_id")?.as_str()?.to_owned());
            id(&call.input).is_some_and(|wanted| id(&past.input).is_some_and(|id| id != wanted))
        };
        let taken = |past: &Past| planned(past) || other_id(past);
        let past = self.turn.claim(&call.tool, &call.input, after, taken);
        // What a file is now says whether a change of it was made; nothing else does.
        let is_change = self.plan.steps[index].intent.rewrites.is_some();
        if past.is_none() && after.is_none() && !is_change && self.was_passed(index, call) {
            self.calls.gone = true;
            return Some(&self.turn.forgotten);
        }
        self.calls.gone |= past.is_some_and(|past| past.left == Left::Nothing);
        if past.is_none() {
            self.calls.wanted.push(Wanted {
                step: Some(index),
                found: None,
                doing: None,
                call: call.clone(),
            });
        }
        past
    }

    /// A second try: the call as it was meant, when it went out otherwise; else with what the tool requires.
    fn correct(&self, meant: &Call, past: &Past) -> Option<Call> {
        if *past.input != meant.input {
            return Some(meant.clone());
        }
        let tool = self.tools.iter().find(|tool| tool.name == meant.tool)?;
        let given = meant.input.as_object()?;
        let known = tool.input_schema.get("properties")?.as_object()?;
        let required: Vec<&str> = tool
            .input_schema
            .get("required")?
            .as_array()?
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let mut spare = given
            .iter()
            .filter(|(name, _)| !known.contains_key(*name))
            .map(|(_, value)| value.clone());
        let mut input: Map<String, Value> = given
            .iter()
            .filter(|(name, _)| known.contains_key(*name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        for name in required {
            if !input.contains_key(name) {
                input.insert(name.to_owned(), spare.next()?);
            }
        }
        let input = Value::Object(input);
        (input != meant.input).then_some(Call {
            tool: meant.tool.clone(),
            input,
        })
    }

    /// What the steps so far have read: name and content.
    fn readings(&self) -> impl Iterator<Item = (&str, &'a str)> {
        let steps = self
            .plan
            .steps
            .iter()
            .zip(&self.outcomes)
            .filter(|(step, _)| !step.intent.changes);
        let deeds = steps
            .flat_map(|(_, outcome)| outcome.deeds())
            .filter(|deed| deed.verdict == Verdict::Fine);
        deeds.map(|deed| (deed.path.as_deref().unwrap_or("Listing"), deed.content))
    }
}

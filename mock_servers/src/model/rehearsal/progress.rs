//! What has been done, and what is to be done next.
//!
//! The plan is walked from its start on every request. Each step's call is looked up among the calls of the turn; the
//! first steps whose calls are not there yet are what to do now. So a step's arguments may come from earlier results,
//! and a reply that got lost is made again.
//! Invariant: it ends. A step gets at most four calls for each thing it is done to, a denied one no second.

use serde_json::{Map, Value};

use super::gist;
use super::intents::row;
use super::slots::Slots;
use super::steps::{Objects, Plan, Step};
use super::table::{Intent, Way};
use super::turn::{Past, Turn};
use super::verdict::{Verdict, judge};
use crate::model::Tool;

/// The most files of a listing that are then worked on one by one.
const MAX_FOUND: usize = 10;

/// A call to make.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The tool.
    pub tool: &'static str,
    /// Its arguments.
    pub input: Value,
}

/// What is next.
pub enum Next<'a> {
    /// Make these calls; the steps they belong to, to announce them.
    Call(Vec<(usize, Call)>),
    /// Everything is done that can be done.
    Answer(Vec<Outcome<'a>>),
}

/// What became of a step.
#[derive(Clone, Debug)]
pub enum Outcome<'a> {
    /// What was done, one entry for each path.
    Done(Vec<Deed<'a>>),
    /// It needed no tool.
    Known,
    /// No tool on offer can do it.
    NoTool,
    /// It is not clear which file is meant.
    Unclear,
    /// The step it leans on went wrong.
    Skipped,
}

/// A call that was answered.
#[derive(Clone, Debug)]
pub struct Deed<'a> {
    /// What it was done to.
    pub path: Option<String>,
    /// The tool.
    pub tool: &'static str,
    /// What it answered.
    pub content: &'a str,
    /// What that means.
    pub verdict: Verdict,
    /// Similar names, when the path was not there.
    pub similar: Vec<&'a str>,
}

impl<'a> Outcome<'a> {
    /// The calls that were answered.
    pub fn deeds(&self) -> &[Deed<'a>] {
        match self {
            Self::Done(deeds) => deeds,
            Self::Known | Self::NoTool | Self::Unclear | Self::Skipped => &[],
        }
    }

    /// Whether something of it worked.
    pub fn is_fine(&self) -> bool {
        match self {
            Self::Done(deeds) => deeds.iter().any(|deed| deed.verdict == Verdict::Fine),
            Self::Known => true,
            Self::NoTool | Self::Unclear | Self::Skipped => false,
        }
    }
}

/// Walks the plan.
pub fn next<'a>(plan: &Plan, turn: &'a Turn<'a>, tools: &[Tool]) -> Next<'a> {
    let mut walk = Walk {
        plan,
        turn,
        tools,
        outcomes: Vec::new(),
        wanted: Vec::new(),
    };
    // A plan that got more rounds than it can use has lost its way; what is known then is the answer.
    let has_time = turn.rounds <= 3 * plan.steps.len() + 3;
    for (index, step) in plan.steps.iter().enumerate() {
        if !walk.wanted.is_empty() && !runs_beside(step, &plan.steps[index - 1]) {
            break;
        }
        let outcome = walk.step(index, step);
        walk.outcomes.push(outcome);
    }
    if walk.wanted.is_empty() || !has_time {
        Next::Answer(walk.outcomes)
    } else {
        Next::Call(walk.wanted)
    }
}

/// Whether a step may run in the same reply as the one before it.
fn runs_beside(step: &Step, before: &Step) -> bool {
    let alike = step.intent.name == before.intent.name && step.objects != before.objects;
    let free = step.leans_on.is_none() && !matches!(step.objects, Objects::Found(_)) && !step.waits;
    free && !needs_results(step.intent) && (alike || !step.intent.changes && !before.intent.changes)
}

fn needs_results(intent: &Intent) -> bool {
    intent
        .by
        .iter()
        .flat_map(|way| way.args)
        .any(|(_, template)| template.contains("{summary"))
}

struct Walk<'p, 'a> {
    plan: &'p Plan,
    turn: &'a Turn<'a>,
    tools: &'p [Tool],
    outcomes: Vec<Outcome<'a>>,
    wanted: Vec<(usize, Call)>,
}

impl<'a> Walk<'_, 'a> {
    fn step(&mut self, index: usize, step: &Step) -> Outcome<'a> {
        if step.intent.by.is_empty() {
            return Outcome::Known;
        }
        if step.leans_on.is_some_and(|on| !self.outcomes[on].is_fine()) {
            return Outcome::Skipped;
        }
        let Some(way) = self.way(step.intent) else {
            return Outcome::NoTool;
        };
        let mut slots = step.slots.clone();
        if needs_results(step.intent) {
            let summary = gist::summary(self.readings());
            if summary.is_empty() {
                return Outcome::Skipped;
            }
            slots.set("summary", summary);
        }
        let paths: Vec<Option<String>> = match &step.objects {
            Objects::None => vec![None],
            Objects::Named(paths) => paths.iter().cloned().map(Some).collect(),
            Objects::Found(on) => self
                .found(*on)
                .into_iter()
                .map(|path| Some(path.to_owned()))
                .collect(),
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
            tool: way.tool,
            content: past.content,
            verdict: judge(past),
            similar: Vec::new(),
        };
        if deed.verdict == Verdict::Missing && intent.seeks {
            self.seek(index, way, slots, past, &mut deed)?;
        }
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
            (deed.content, deed.verdict) = (again.content, judge(again));
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
        let past = self.turn.claim(call.tool, &call.input, after);
        if past.is_none() {
            self.wanted.push((index, call.clone()));
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
            tool: meant.tool,
            input,
        })
    }

    /// The files a listing named.
    fn found(&self, on: usize) -> Vec<&'a str> {
        let fine = self.outcomes[on]
            .deeds()
            .iter()
            .filter(|deed| deed.verdict == Verdict::Fine);
        fine.flat_map(|deed| gist::entries(deed.content))
            .take(MAX_FOUND)
            .collect()
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

fn fill(way: &'static Way, slots: &Slots, path: Option<&str>) -> Call {
    let args = way.args.iter().map(|(name, template)| {
        let text = slots.render(template, path);
        let number = text
            .parse::<u64>()
            .ok()
            .filter(|_| template.ends_with("|number}"));
        (
            name.to_string(),
            number.map_or_else(|| Value::from(text), Value::from),
        )
    });
    Call {
        tool: way.tool,
        input: Value::Object(args.collect()),
    }
}

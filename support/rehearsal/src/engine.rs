//! Runs a plan against what was called since it was asked for.
//!
//! Acts are written as straight code: each asks for a result, and where there is none yet the run stops and that call is
//! made. The next request runs the same code a step further. Invariant: a call counts once, and one that acts is never made
//! again because its result went away.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use serde_json::Value;

use crate::act;
use crate::clause::Join;
use crate::plan::{Plan, Step};
use crate::scene::Past;
use crate::tools::{Call, Can};
use crate::understand::World;

/// So often the same call in a row is too often.
const STUCK: usize = 6;

/// Why a run stops.
#[derive(Debug)]
pub enum Stop {
    /// These calls have to be made; something may be said with them.
    Call(Vec<Call>, String),
    /// Something has to come by itself.
    Wait(String),
    /// It cannot be done.
    Fail(String),
}

/// What a step came to.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// What is told of it.
    pub text: String,
    /// Whether it failed.
    pub failed: bool,
    /// What was found: titles and bodies.
    pub found: Vec<(String, String)>,
    /// Tasks that were made: ids and subjects.
    pub tasks: Vec<(String, String)>,
}

impl Outcome {
    /// An outcome that is only told.
    pub fn told(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A failure.
    pub fn failed(text: impl Into<String>) -> Self {
        Self { text: text.into(), failed: true, ..Self::default() }
    }
}

/// The result of a call.
#[derive(Clone, Debug)]
pub struct Done {
    /// Its text.
    pub text: String,
    /// Whether the tool failed.
    pub failed: bool,
}

/// How an act goes.
pub type Went = Result<Outcome, Stop>;

/// Where a plan stands.
pub struct Run<'r, 'w> {
    /// What there is around it.
    pub world: &'r World<'w>,
    /// The place of the request in the conversation.
    pub from: usize,
    /// The calls that are spoken for.
    used: Rc<RefCell<Vec<bool>>>,
    /// What the steps before came to.
    pub before: RefCell<Vec<Outcome>>,
    /// Whether mail was waited for and has come.
    pub waited: Cell<bool>,
}

impl<'r, 'w> Run<'r, 'w> {
    /// A run of a plan that was asked for here.
    pub fn new(world: &'r World<'w>, from: usize, used: &Rc<RefCell<Vec<bool>>>) -> Self {
        Self { world, from, used: used.clone(), before: RefCell::default(), waited: Cell::new(false) }
    }

    /// Runs a plan to its end, or to the next thing that is missing.
    pub fn plan(&self, plan: &Plan) -> Result<(), Stop> {
        let steps = &plan.steps;
        let mut at = 0;
        while at < steps.len() {
            let mut end = at + 1;
            while end < steps.len() && beside(&steps[end - 1], &steps[end]) {
                end += 1;
            }
            self.group(&steps[at..end])?;
            let failed = self.before.borrow().iter().any(|outcome| outcome.failed);
            if failed && steps[end..].iter().any(|step| !step.act.stands_alone()) {
                self.before.borrow_mut().push(Outcome::told("I left the rest."));
                return Ok(());
            }
            at = end;
        }
        Ok(())
    }

    /// Runs steps that may stand beside each other.
    fn group(&self, steps: &[Step]) -> Result<(), Stop> {
        let (mut wanted, mut said, mut other) = (Vec::new(), String::new(), None);
        let mut outcomes = Vec::new();
        for step in steps {
            match act::go(&step.act, self) {
                Ok(outcome) => outcomes.push(outcome),
                Err(Stop::Call(calls, note)) => {
                    wanted.extend(calls);
                    said.push_str(&note);
                }
                Err(Stop::Fail(why)) => outcomes.push(Outcome::failed(why)),
                Err(stop) => other = Some(stop),
            }
        }
        if !wanted.is_empty() {
            return Err(Stop::Call(wanted, said));
        }
        self.before.borrow_mut().extend(outcomes);
        other.map_or(Ok(()), Err)
    }

    /// The result of a call, or the call.
    pub fn call(&self, can: Can, args: Value) -> Result<Done, Stop> {
        let mut done = self.calls(vec![(can, args)])?;
        Ok(done.remove(0))
    }

    /// The results of calls that stand in one reply, or those that are missing.
    pub fn calls(&self, wanted: Vec<(Can, Value)>) -> Result<Vec<Done>, Stop> {
        let mut calls = Vec::new();
        for (can, args) in wanted {
            let call = self.world.tools.call(can, args);
            calls.push(call.ok_or_else(|| Stop::Fail(format!("I have no tool here for that ({can:?})")))?);
        }
        self.made(calls, "")
    }

    /// The same for calls that are worked out already, with something to say beside them.
    pub fn made(&self, calls: Vec<Call>, said: &str) -> Result<Vec<Done>, Stop> {
        let results: Vec<Option<Done>> = calls.iter().map(|call| self.past(call)).collect();
        if results.iter().all(Option::is_some) {
            return Ok(results.into_iter().flatten().collect());
        }
        let missing = calls.into_iter().zip(results).filter(|(_, result)| result.is_none()).map(|(call, _)| call);
        Err(Stop::Call(missing.collect(), said.to_owned()))
    }

    /// Whether this call was made again and again without an end: a client did not keep it as it was.
    pub fn is_stuck(&self, calls: &[Call]) -> bool {
        let all = &self.world.scene.calls;
        let last = &all[all.len().saturating_sub(STUCK)..];
        let [call] = calls else { return false };
        last.len() == STUCK
            && last.iter().all(|past| past.at >= self.from && past.name == call.name && past.input == last[0].input)
    }

    fn past(&self, call: &Call) -> Option<Done> {
        let mut used = self.used.borrow_mut();
        used.resize(self.world.scene.calls.len(), false);
        let reads = matches!(call.can, Some(Can::Read | Can::Glob | Can::ListTasks | Can::ListCrons | Can::GetTask));
        let is_it = |past: &Past| {
            past.at >= self.from
                && past.name == call.name
                && same(&past.input, &call.input)
                && !(past.failed && past.text.contains("interrupted"))
        };
        let found = self
            .world
            .scene
            .calls
            .iter()
            .enumerate()
            .find(|(at, past)| !used[*at] && is_it(past) && !(reads && past.is_gone()));
        let (at, past) = found?;
        used[at] = true;
        Some(Done { text: past.text.to_string(), failed: past.failed })
    }

    /// A run of its own for a part of a step, with the same calls.
    pub fn within(&self) -> Self {
        Self::new(self.world, self.from, &self.used)
    }

    /// Tasks that the steps before have made.
    pub fn tasks(&self) -> Vec<(String, String)> {
        self.before.borrow().iter().flat_map(|outcome| outcome.tasks.clone()).collect()
    }
}

/// Whether two steps may be done in one reply.
fn beside(one: &Step, other: &Step) -> bool {
    other.join == Join::And && one.act.stands_alone() && other.act.stands_alone()
}

/// Whether a call had these arguments. A client may have turned numbers into strings, or added defaults.
fn same(past: &Value, wanted: &Value) -> bool {
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let is_there = |(name, value): (&String, &Value)| past.get(name).is_some_and(|other| plain(other) == plain(value));
    past == wanted || wanted.as_object().is_some_and(|wanted| wanted.iter().all(is_there))
}

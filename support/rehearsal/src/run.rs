//! What is to be done, the steps that a request was understood as; the results of calls, and the calls that are still missing.
//!
//! Acts are written as straight code: each asks for a result, and where there is none yet the run stops and that call is
//! made. The next request runs the same code a step further. Invariants: a step holds the user's own words; a call counts
//! once, and one that acts is never made again because its result went away.

use std::cell::{Cell, RefCell};

use serde_json::Value;

use crate::clause::Join;
use crate::scene::{Past, World};
use crate::slots::Slots;
use crate::speak::{plain, why};
use crate::table::{self, Make, Row};
use crate::tasks::TaskSpec;
use crate::tools::{Call, Can};
use crate::when::When;

/// What a teammate is to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Job {
    /// The user's words.
    Text(String),
    /// Tasks of the board, whichever are free.
    Board,
    /// One of the tasks of this request each.
    Assigned,
    /// To wait for mail.
    Wait,
}

/// What goes into a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// The user's text.
    Given(String),
    /// A sample that the user named.
    Sample(String),
    /// What was found: the results before, or what these files say.
    Found(Vec<String>),
    /// The results before, as they are.
    Output,
    /// Nothing was said: an empty file, and only where there is none.
    Nothing,
}

#[derive(Clone, Debug)]
pub enum Act {
    /// What a row makes of its slots.
    Row(&'static Row, Slots),
    Say(String),
    /// Run a command, in the background or not.
    Shell(String, bool),
    /// Call a tool that the user named.
    Named(String, Value),
    Create(String, Content),
    /// Replace a passage: where, what, by what.
    Replace(String, String, String),
    /// Write a plan; done item by item elsewhere.
    Todo(Vec<String>),
    Delegate(Vec<String>),
    /// Load a skill; whether its instructions are followed.
    Skill(String, bool),
    Tasks(Vec<TaskSpec>),
    /// Do a task: its id, its subject, whether it must be claimed first.
    DoTask(String, String, bool),
    /// Start a teammate: name, role, job; whether a plan must come first.
    Spawn(String, String, Job, bool),
    Message(String, String),
    /// Schedule a prompt; whether it outlives the session.
    Schedule(When, String, bool),
    Connect(Vec<String>),
    /// Let a server's tool do what the clause says; the tool of this name, where the clause names one.
    Serve(String, String, Option<String>),
}

#[derive(Clone, Debug)]
pub struct Step {
    pub act: Act,
    pub join: Join,
}

impl Step {
    /// A step that waits for the one before.
    pub fn then(act: Act) -> Self {
        let join = Join::Then;
        Self { act, join }
    }
}

impl Act {
    /// The row that makes this, with its slots.
    pub fn of(make: Make, slots: Slots) -> Self {
        Self::Row(table::of(make), slots)
    }

    pub fn make(&self) -> Option<Make> {
        if let Self::Row(row, _) = self { Some(row.make) } else { None }
    }

    pub fn paths(&self) -> &[String] {
        match self {
            Self::Row(_, slots) => &slots.paths,
            Self::Create(path, _) | Self::Replace(path, ..) => std::slice::from_ref(path),
            _ => &[],
        }
    }

    /// The job of this teammate, while it may still be said.
    pub fn open_job(&mut self, name: &str) -> Option<&mut Job> {
        match self {
            Self::Spawn(hired, _, job, _) if hired == name => {
                Some(job).filter(|job| matches!(job, Job::Wait | Job::Text(_)))
            }
            _ => None,
        }
    }

    /// Whether it changes nothing and needs nothing of the steps before, so that it may run beside them.
    pub fn stands_alone(&self) -> bool {
        match self {
            Self::Row(row, slots) => match row.make {
                Make::Read | Make::About => !slots.paths.is_empty(),
                Make::Find | Make::Exists | Make::AskPlan => true,
                make => matches!(make, Make::Framework | Make::Board),
            },
            Self::Shell(_, in_background) => *in_background,
            Self::Spawn(_, _, job, _) => *job != Job::Assigned,
            Self::Delegate(_) | Self::Connect(_) | Self::Tasks(_) | Self::Message(..) => true,
            _ => false,
        }
    }

    /// Whether it changes nothing at all.
    pub fn only_looks(&self) -> bool {
        match self {
            Self::Row(row, _) => row.looks,
            act => matches!(act, Self::Say(_)),
        }
    }

    /// Whether it waits for mail.
    pub fn waits(&self) -> bool {
        matches!(self.make(), Some(Make::Answer | Make::Leave | Make::Report))
    }
}

/// A request that is not done, and what would help.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// One sentence: what was not understood, in quotes.
    pub why: String,
    /// The nearest requests that it can do, ready to type.
    pub offers: Vec<String>,
}

impl Refusal {
    pub fn new(why: impl Into<String>, offers: impl IntoIterator<Item: Into<String>>) -> Self {
        let (why, offers) = (why.into(), offers.into_iter().map(Into::into).collect());
        Self { why, offers }
    }

    /// What is said of it, with what would do.
    pub fn told(&self) -> String {
        let offers: Vec<String> =
            self.offers.iter().map(|offer| format!("\n- `{offer}`")).collect();
        let can = if offers.is_empty() { "" } else { " What I can do:" };
        format!("{}.{can}{}", self.why, offers.concat())
    }
}

/// So often the same call in a row is too often.
const STUCK: usize = 6;

#[derive(Debug)]
pub enum Stop {
    /// These calls have to be made; something may be said with them.
    Call(Vec<Call>, String),
    /// Something has to come by itself.
    Wait(String),
    Fail(String),
}

/// Ends a step that cannot be done.
pub fn fail<T>(why: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Fail(why.into()))
}

/// What a step came to.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub text: String,
    pub failed: bool,
    /// What was found: titles and bodies.
    pub found: Vec<(String, String)>,
    /// Tasks that were made: ids and subjects.
    pub tasks: Vec<(String, String)>,
    /// The teammate that was given something to do.
    pub teammate: Option<String>,
}

impl Outcome {
    pub fn told(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            text,
            ..Self::default()
        }
    }

    pub fn failed(text: impl Into<String>) -> Self {
        let failed = true;
        Self {
            failed,
            ..Self::told(text)
        }
    }

    /// With something that later steps may write down or look at.
    pub fn tagged(mut self, title: &str, body: &str) -> Self {
        self.found.push((title.to_owned(), body.to_owned()));
        self
    }
}

/// Several outcomes as one.
impl FromIterator<Self> for Outcome {
    fn from_iter<T: IntoIterator<Item = Self>>(all: T) -> Self {
        let mut whole = Self::default();
        for one in all {
            if !one.text.is_empty() && !whole.text.is_empty() {
                whole.text.push('\n');
            }
            whole.text.push_str(&one.text);
            whole.failed |= one.failed;
            whole.found.extend(one.found);
            whole.tasks.extend(one.tasks);
            whole.teammate = one.teammate.or(whole.teammate);
        }
        whole
    }
}

impl Past<'_> {
    /// What is told of a call: this when it worked, else why it did not.
    pub fn or_why(&self, told: impl Into<String>) -> Outcome {
        if self.failed {
            return Outcome::failed(format!("That did not work: {}.", why(&self.text)));
        }
        Outcome::told(told)
    }
}

pub type Went = Result<Outcome, Stop>;

/// Where a plan stands.
pub struct Run<'r, 'w> {
    pub world: &'r World<'w>,
    /// The place of the request in the conversation.
    pub from: usize,
    /// What the steps before came to.
    pub before: RefCell<Vec<Outcome>>,
    /// Whether mail was waited for and has come.
    pub waited: Cell<bool>,
}

impl<'r, 'w> Run<'r, 'w> {
    pub fn new(world: &'r World<'w>, from: usize) -> Self {
        let (before, waited) = (RefCell::default(), Cell::new(false));
        Self {
            world,
            from,
            before,
            waited,
        }
    }

    pub fn call(&self, can: Can, args: Value) -> Result<&'r Past<'w>, Stop> {
        Ok(self.calls(vec![(can, args)])?.remove(0))
    }

    /// The text of a call that worked; else the step fails and says what did not come about.
    pub fn text(&self, can: Can, args: Value, or: &str) -> Result<String, Stop> {
        let done = self.call(can, args)?;
        if done.failed {
            fail(format!("{or}: {}.", why(&done.text)))
        } else {
            Ok(done.text.to_string())
        }
    }

    /// The results of calls that stand in one reply, or those that are missing.
    pub fn calls(&self, wanted: Vec<(Can, Value)>) -> Result<Vec<&'r Past<'w>>, Stop> {
        let call = |(can, args)| match self.world.tools.call(can, args) {
            Some(call) => Ok(call),
            None => fail(format!("I have no tool here for that ({can:?})")),
        };
        self.made(wanted.into_iter().map(call).collect::<Result<_, _>>()?, "")
    }

    /// The same for calls that are worked out already, with something to say beside them.
    pub fn made(&self, calls: Vec<Call>, said: &str) -> Result<Vec<&'r Past<'w>>, Stop> {
        let (mut done, mut open) = (Vec::new(), Vec::new());
        for call in calls {
            match self.past(&call) {
                Some(past) => done.push(past),
                None => open.push(call),
            }
        }
        if open.is_empty() { Ok(done) } else { Err(Stop::Call(open, said.to_owned())) }
    }

    /// One call for each of these, and what is told of each.
    pub fn each<T>(
        &self,
        all: &[T],
        call: impl Fn(&T) -> (Can, Value),
        told: impl Fn(&T, &Past) -> Outcome,
    ) -> Went {
        let done = self.calls(all.iter().map(call).collect())?;
        Ok(all.iter().zip(done).map(|(one, done)| told(one, done)).collect())
    }

    /// An outcome, unless something has to come by itself before the step goes on.
    pub fn or_wait(&self, told: Outcome, waits: &[String]) -> Went {
        if waits.is_empty() {
            return Ok(told);
        }
        self.before.borrow_mut().push(told);
        let line = |what: &String| format!("I wait for {what}: that comes by itself.");
        Err(Stop::Wait(waits.iter().map(line).collect::<Vec<_>>().join("\n")))
    }

    /// Whether this call was made again and again without an end: a client did not keep it as it was.
    pub fn is_stuck(&self, calls: &[Call]) -> bool {
        let all = &self.world.scene.calls;
        let ([call], Some(last)) = (calls, all.last()) else { return false };
        let is_same = |past: &&Past| {
            past.at >= self.from && past.name == call.name && past.input == last.input
        };
        all.iter().rev().take_while(is_same).count() >= STUCK
    }

    fn past(&self, call: &Call) -> Option<&'r Past<'w>> {
        let mut used = self.world.used.borrow_mut();
        let reads = matches!(
            call.can,
            Some(Can::Read | Can::Glob | Can::ListTasks | Can::ListCrons | Can::GetTask)
        );
        let is_it = |past: &Past| {
            past.at >= self.from
                && past.name == call.name
                && same(&past.input, &call.input)
                && !(past.failed && past.text.contains("interrupted"))
        };
        let all = self.world.scene.calls.iter().enumerate();
        let own: Vec<_> = all.filter(|(at, past)| !used.contains(at) && is_it(past)).collect();
        // What was read and taken away is read once more, and no third time: there may be no room for all of it.
        let is_here = |(_, past): &&(usize, &Past)| !(reads && past.is_gone());
        let (at, past) = *own.iter().find(is_here).or(own.get(1))?;
        used.push(at);
        Some(past)
    }

    /// Tasks that the steps before have made.
    pub fn tasks(&self) -> Vec<(String, String)> {
        self.before.borrow().iter().flat_map(|outcome| outcome.tasks.clone()).collect()
    }

    /// What the steps before have found.
    pub fn found(&self) -> Vec<(String, String)> {
        self.before.borrow().iter().flat_map(|outcome| outcome.found.clone()).collect()
    }
}

/// Whether a call had these arguments. A client may have turned numbers into strings, or added defaults.
fn same(past: &Value, wanted: &Value) -> bool {
    let is_there = |(name, value): (&String, &Value)| {
        past.get(name).is_some_and(|other| plain(other) == plain(value))
    };
    wanted.as_object().is_some_and(|wanted| wanted.iter().all(is_there))
}

//! What is to be done: the steps that a request was understood as.
//!
//! A step is a row of the table with its slots, or what a frame made of a clause; how it comes to calls is in `act`.
//! Invariant: a step holds the user's own words, and nothing that only a result can tell.

use serde_json::Value;

use crate::clause::Join;
use crate::create::Content;
use crate::slots::Slots;
use crate::table::{Make, ROWS, Row};
use crate::tasks::TaskSpec;
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

/// One thing to do.
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
    /// Answer plans: whose, or all that were asked for; whether approved, with what words.
    Answer {
        whose: Vec<String>,
        all: bool,
        approve: bool,
        feedback: String,
    },
    /// Schedule a prompt; whether it outlives the session.
    Schedule(When, String, bool),
    Connect(Vec<String>),
    /// Let a server's tool do what the clause says; the tool of this name, where the clause names one.
    Serve(String, String, Option<String>),
}

/// A step of a plan.
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
        Self::Row(ROWS.iter().find(|row| row.make == make).unwrap_or(&ROWS[0]), slots)
    }

    /// What a row makes, when this is one.
    pub fn make(&self) -> Option<Make> {
        if let Self::Row(row, _) = self { Some(row.make) } else { None }
    }

    /// The files that it is about.
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
                Make::List | Make::Find | Make::Exists => true,
                Make::Framework | Make::Board | Make::AskPlan => true,
                _ => false,
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
        matches!(self, Self::Answer { .. })
            || matches!(self.make(), Some(Make::Leave | Make::Report))
    }
}

impl Refusal {
    pub fn new<T: Into<String>>(
        why: impl Into<String>,
        offers: impl IntoIterator<Item = T>,
    ) -> Self {
        let (why, offers) = (why.into(), offers.into_iter().map(Into::into).collect());
        Self { why, offers }
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

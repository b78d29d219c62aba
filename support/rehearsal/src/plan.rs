//! What is to be done: the steps that a request was understood as.
//!
//! A step is a value; how it comes to calls is in `act`. Invariant: a step holds the user's own words, and nothing that
//! only a result can tell.

use serde_json::Value;

use crate::clause::Join;
use crate::create::Content;
use crate::tools::Can;
use crate::when::When;

/// A task to put on the board.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskSpec {
    /// What is to be done.
    pub subject: String,
    /// The subjects that it waits for.
    pub blocked_by: Vec<String>,
}

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
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// Say something.
    Say(String),
    /// Run a command, in the background or not.
    Shell(String, bool),
    /// Call a tool with these arguments, and tell its result.
    Tool(Can, Value),
    /// Call a tool that the user named.
    Named(String, Value),
    /// Read files.
    Read(Vec<String>),
    /// Read some lines: from the top, or from the end.
    Lines(String, u32, bool),
    /// Say what files are about; without files what was read last, or the README.
    About(Vec<String>),
    /// Read every file of a folder, of one kind.
    ReadAll(String, Option<String>),
    /// List a folder.
    List(Option<String>),
    /// Find files by a pattern.
    Find(String),
    /// Count files by a pattern.
    Count(String),
    /// Whether a file is there.
    Exists(String, bool),
    /// Find out how the tests are run.
    Framework,
    /// Look at what was made.
    Verify,
    /// Make a file.
    Create(String, Content),
    /// Replace a passage.
    Replace(String, String, String),
    /// Add a line at the end.
    Append(String, String),
    /// Refactor a Python file, or the first one there is: what is to be added.
    Mend(Option<String>, Vec<&'static str>),
    /// Mend the style of Python files below a folder.
    Review(String),
    /// Make a package: its folder and its files.
    Package(String, Vec<String>),
    /// Write a long module, or show one.
    Long(Option<String>, u32),
    /// Write a plan; done item by item elsewhere.
    Todo(Vec<String>),
    /// Hand jobs to subagents.
    Delegate(Vec<String>),
    /// Load a skill; whether its instructions are followed.
    Skill(String, bool),
    /// Put tasks on the board.
    Tasks(Vec<TaskSpec>),
    /// Show the board, or what is free on it.
    Board(bool),
    /// Show one task.
    ShowTask(String),
    /// Claim a task.
    Claim(String),
    /// Complete a task.
    Complete(String),
    /// Take a task from the board and do it.
    WorkBoard,
    /// Do a task: its id, its subject, whether it must be claimed first.
    DoTask(String, String, bool),
    /// Do nothing until a plan is approved: what the plan is for.
    OwnPlan(String),
    /// A worktree for each task of this request.
    Worktrees,
    /// A worktree, for a task.
    Worktree(String, Option<String>),
    /// Start a teammate: name, role, job; whether a plan must come first.
    Spawn(String, String, Job, bool),
    /// Write to a teammate.
    Message(String, String),
    /// Ask for a plan: from whom, for what.
    AskPlan(Vec<String>, Option<String>),
    /// Answer plans: whose, whether approved, with what words.
    Answer(Vec<String>, bool, String),
    /// Ask teammates to leave, after their reports if they have a job from this request.
    Leave(Vec<String>),
    /// Report when those who work have reported.
    Report(Vec<String>),
    /// Look into the mailbox.
    Inbox,
    /// Schedule a prompt; whether it outlives the session.
    Schedule(When, String, bool),
    /// Cancel scheduled prompts.
    CancelCron(String),
    /// Connect to servers.
    Connect(Vec<String>),
    /// Let a server's tool do what the clause says.
    Serve(Option<String>, String),
    /// Name the tools.
    Tools,
    /// Answer from what is remembered.
    Recall(String),
    /// The user's first request.
    FirstRequest,
    /// The user's requests.
    Requests,
    /// What was done.
    WhatDidYouDo,
}

/// A step of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What to do.
    pub act: Act,
    /// How it is joined to the step before.
    pub join: Join,
}

impl Act {
    /// Whether it changes nothing and needs nothing of the steps before, so that it may run beside them.
    pub fn stands_alone(&self) -> bool {
        match self {
            Self::Shell(_, in_background) => *in_background,
            Self::Read(paths) => !paths.is_empty(),
            Self::Lines(..)
            | Self::List(_)
            | Self::Find(_)
            | Self::Count(_)
            | Self::Exists(..)
            | Self::Framework
            | Self::Delegate(_)
            | Self::Board(_)
            | Self::Connect(_)
            | Self::AskPlan(..)
            | Self::Tasks(_)
            | Self::Message(..) => true,
            Self::About(paths) => !paths.is_empty(),
            Self::Spawn(_, _, job, _) => *job != Job::Assigned,
            _ => false,
        }
    }

    /// Whether it changes nothing at all.
    pub fn only_looks(&self) -> bool {
        let looks =
            matches!(self, Self::Read(_) | Self::Lines(..) | Self::About(_) | Self::ReadAll(..) | Self::List(_));
        let finds = matches!(self, Self::Find(_) | Self::Count(_) | Self::Exists(..) | Self::Framework | Self::Verify);
        let shows = matches!(self, Self::Board(_) | Self::ShowTask(_) | Self::Tools | Self::Inbox | Self::Say(_));
        let tells = matches!(self, Self::Recall(_) | Self::FirstRequest | Self::Requests | Self::WhatDidYouDo);
        looks || finds || shows || tells
    }

    /// Whether it waits for mail.
    pub fn waits(&self) -> bool {
        matches!(self, Self::Leave(_) | Self::Report(_) | Self::Answer(..))
    }
}

/// What a request was understood as.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// What is to be done, in order.
    pub steps: Vec<Step>,
    /// Why nothing of it is done.
    pub refusal: Option<Refusal>,
}

/// A request that is not done, and what would help.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// One sentence: what was not understood, in quotes.
    pub why: String,
    /// The nearest requests that it can do, ready to type.
    pub offers: Vec<String>,
}

//! What became of a step, and the calls it came to.
//!
//! Invariant: a step that was not done says why.

use std::borrow::Cow;

use crate::model::rehearsal::left::Left;
use crate::model::rehearsal::verdict::Verdict;

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
    /// This mail has not come yet.
    Waits(String),
    /// No tool of a server was called, and why, in a sentence.
    Unserved(String),
}

/// A call that was answered.
#[derive(Clone, Debug)]
pub struct Deed<'a> {
    /// What it was done to.
    pub path: Option<String>,
    /// The tool.
    pub tool: Cow<'static, str>,
    /// What it answered.
    pub content: &'a str,
    /// What that means.
    pub verdict: Verdict,
    /// What is left of the result.
    pub left: Left<'a>,
    /// Similar names, when the path was not there.
    pub similar: Vec<&'a str>,
    /// What a change of a file came to.
    pub note: String,
    /// In which message of the turn it was called.
    pub round: usize,
}

impl<'a> Outcome<'a> {
    /// The calls that were answered.
    pub fn deeds(&self) -> &[Deed<'a>] {
        match self {
            Self::Done(deeds) => deeds,
            Self::Known
            | Self::NoTool
            | Self::Unclear
            | Self::Skipped
            | Self::Waits(_)
            | Self::Unserved(_) => &[],
        }
    }

    /// Whether something of it worked.
    pub fn is_fine(&self) -> bool {
        match self {
            Self::Done(deeds) => deeds.iter().any(|deed| deed.verdict.is_done()),
            Self::Known => true,
            Self::NoTool | Self::Unclear | Self::Skipped | Self::Waits(_) | Self::Unserved(_) => {
                false
            }
        }
    }
}

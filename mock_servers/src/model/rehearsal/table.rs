//! What a row of the table of intents says.
//!
//! The rows themselves are in `intents.rs`; the language of their patterns is in `pattern.rs`. A row knows nothing of
//! conversations: steps, progress and answers are worked out by the same code for every row.
//! Invariant: a new intent is a new row. Code changes only when a row needs a slot that does not exist yet.

use super::edits::Rewritten;
use super::slots::Slots;

/// One thing the model can be asked for.
#[derive(Debug)]
pub struct Intent {
    /// What it is called when the model says what it can do: `read a file`.
    pub name: &'static str,
    /// The tool without which the row does not exist; empty when it always does.
    pub needs: &'static str,
    /// Patterns (see `pattern.rs`) of the words that ask for it. The match that starts first in the step wins; of
    /// those that start together, the one that stands first in the table.
    pub says: &'static [&'static str],
    /// Patterns that fill further slots, wherever they match in the step.
    pub also: &'static [&'static str],
    /// Slots and their values when the words do not fill them. The path `it` is the file named before.
    pub fills: &'static [(&'static str, &'static str)],
    /// The tools that can do it, the preferred one first. None: it is answered from what is known.
    pub by: &'static [Way],
    /// Whether it changes anything. Steps that only read run side by side.
    pub changes: bool,
    /// Whether naming several paths asks for it several times.
    pub each: bool,
    /// Whether to look for a similar name when the file is not there.
    pub seeks: bool,
    /// Whether several of it run side by side although each changes something.
    pub beside: bool,
    /// Whether all that follows in the sentence belongs to it: an `and` in a job handed on is part of the job.
    pub whole: bool,
    /// How the words of the step come to several steps, each with slots of its own: a list of tasks.
    pub splits: Option<fn(&str) -> Vec<Filling>>,
    /// The same for words about teammates, whose names are given; `who` is the one a step is about.
    pub staffed: Option<Staffed>,
    /// What it has to do with MCP servers.
    pub serves: Option<Serves>,
    /// The mail it has to wait for.
    pub awaits: Option<Awaits>,
    /// How the slots are worked out that are in earlier results; one filling for each call.
    pub later: Option<Later>,
    /// What has to be done first, when the request has not asked for it already.
    pub first: Option<First>,
    /// The steps it consists of, when it takes several; they come before it.
    pub parts: &'static [Part],
    /// Whether it is worth a plan, where plans are kept.
    pub planned: bool,
    /// How it changes a file: from the path and what was read to what the file shall be. The slots `old` and `new` are
    /// the passage that changes, `whole` is the new text.
    pub rewrites: Option<Rewrite>,
    /// How `{found}` in what it tells is made from what its parts returned.
    pub tells: Option<fn(&[Reading]) -> String>,
    /// How `{said}` in what it tells is made from its own result.
    pub says_of: Option<fn(&str) -> String>,
    /// Whether what it tells stands for what the steps before it would have told.
    pub retells: bool,
    /// What the answer says when it is done (slots: `answer.rs`); nothing when empty.
    pub told: &'static str,
    /// What the answer says when it is done and the result is empty; when this is empty too, `told`.
    pub told_empty: &'static str,
    /// What it does, in an announcement or an apology: `read {path}`.
    pub doing: &'static str,
}

/// A tool that can do it, and the arguments it is given. A template that ends with `|number}` or `|json}` becomes the
/// value it spells, any other a string.
#[derive(Debug)]
pub struct Way {
    /// The tool's name.
    pub tool: &'static str,
    /// Its arguments: names and templates (slots: `slots.rs`).
    pub args: &'static [(&'static str, &'static str)],
}

/// Slots and their values.
pub type Filling = Vec<(&'static str, String)>;

/// From the slots of the request and what earlier calls returned, oldest first, to slots.
pub type Later = fn(&Slots, &[Known]) -> Vec<Filling>;

/// From the words of a step and the names of the team to slots.
pub type Staffed = fn(&str, &[String]) -> Vec<Filling>;

/// What a row has to do with MCP servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serves {
    /// Servers are connected; their names are in the words.
    Connect,
    /// A server's tool is called; which one follows from the tools on offer.
    Use,
}

/// The mail that a step waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaits {
    /// The report on the work that the teammate was given.
    Result,
    /// The teammate's plan.
    Plan,
    /// A report on every task, or from every teammate.
    All,
}

/// What an earlier call returned.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// The tool.
    pub tool: &'a str,
    /// The text.
    pub content: &'a str,
}

/// A change of a file.
pub type Rewrite = fn(&str, &str) -> Rewritten;

/// What a call returned, and for which path.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'a> {
    /// The path; for a listing or a command there is none.
    pub path: Option<&'a str>,
    /// The row that asked for it.
    pub row: &'static str,
    /// The text.
    pub content: &'a str,
}

/// A step of a row that takes several.
#[derive(Debug)]
pub struct Part {
    /// The name of its row.
    pub row: &'static str,
    /// What it is done to.
    pub on: On,
    /// Slots it has besides those of the request.
    pub fills: &'static [(&'static str, &'static str)],
    /// Words that ask for this part. A request that has none of any part's words asks for all parts.
    pub when: &'static [&'static str],
    /// The most files of a listing it is done to; those that lie highest come first.
    pub most: usize,
}

/// What a part is done to.
#[derive(Clone, Copy, Debug)]
pub enum On {
    /// Nothing that has a path.
    Nothing,
    /// What the request is about.
    Same,
    /// Each path of the request: a step for each.
    Each,
    /// What the part with this number found.
    Found(usize),
}

/// What a part that says nothing else has.
pub const PART: Part = Part {
    row: "",
    on: On::Same,
    fills: &[],
    when: &[],
    most: usize::MAX,
};

/// A step that has to come first.
#[derive(Debug)]
pub struct First {
    /// The name of its row.
    pub intent: &'static str,
    /// The path it takes when the request names none.
    pub path: &'static str,
}

/// What a row that says nothing else has.
pub const ROW: Intent = Intent {
    name: "",
    needs: "",
    says: &[],
    also: &[],
    fills: &[],
    by: &[],
    changes: false,
    each: false,
    seeks: false,
    beside: false,
    whole: false,
    splits: None,
    staffed: None,
    serves: None,
    awaits: None,
    later: None,
    first: None,
    parts: &[],
    planned: false,
    rewrites: None,
    tells: None,
    says_of: None,
    retells: false,
    told: "",
    told_empty: "",
    doing: "",
};

/// A way through any tool.
pub const fn way(tool: &'static str, args: &'static [(&'static str, &'static str)]) -> Way {
    Way { tool, args }
}

/// A way through the shell; the argument is `command`.
pub const fn bash(args: &'static [(&'static str, &'static str)]) -> Way {
    Way { tool: "bash", args }
}

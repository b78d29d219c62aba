//! What a row of the table of intents says.
//!
//! The rows themselves are in `intents.rs`; the language of their patterns is in `pattern.rs`. A row knows nothing of
//! conversations: steps, progress and answers are worked out by the same code for every row.
//! Invariant: a new intent is a new row. Code changes only when a row needs a slot that does not exist yet.

/// One thing the model can be asked for.
#[derive(Debug)]
pub struct Intent {
    /// What it is called when the model says what it can do: `read a file`.
    pub name: &'static str,
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
    /// What has to be done first, when the request has not asked for it already.
    pub first: Option<First>,
    /// Whether what it tells stands for what the steps before it would have told.
    pub retells: bool,
    /// What the answer says when it is done (slots: `answer.rs`); nothing when empty.
    pub told: &'static str,
    /// What the answer says when it is done and the result is empty; when this is empty too, `told`.
    pub told_empty: &'static str,
    /// What it does, in an announcement or an apology: `read {path}`.
    pub doing: &'static str,
}

/// A tool that can do it, and the arguments it is given.
#[derive(Debug)]
pub struct Way {
    /// The tool's name.
    pub tool: &'static str,
    /// Its arguments: names and templates (slots: `slots.rs`).
    pub args: &'static [(&'static str, &'static str)],
}

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
    says: &[],
    also: &[],
    fills: &[],
    by: &[],
    changes: false,
    each: false,
    seeks: false,
    first: None,
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

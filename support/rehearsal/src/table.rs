//! What it can rehearse, as data: `intents.txt` has a paragraph an intent.
//!
//! A request goes to the row whose examples are nearest; the row then has to account for every word that carries a meaning,
//! by its own words, by a slot or by a filler. So a row is taught by examples in different words, and an example never
//! makes it do more than it says. Invariant: a paragraph that cannot be read stops the first test that asks for anything.

use std::sync::LazyLock;

use crate::tools::Can;

/// What a row has to find in the request, or may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slot {
    /// Exactly one file.
    Path,
    /// Two files: from and to.
    Pair,
    /// One file or more.
    Paths,
    /// A folder.
    Dir,
    /// A kind of files.
    Kind,
    /// Text in quotation marks or backticks.
    Quoted,
    /// A number.
    Number,
    /// An id.
    Key,
    /// The names of teammates.
    Names,
    /// What stands behind one of these words, up to the end.
    After(&'static str),
}

/// Whether a row answers a question or does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// It only looks: asked for or ordered.
    Looks,
    /// It changes or starts something: it must be ordered, with a verb of its own.
    Acts,
}

/// What a row makes of its slots, and how it is called in `intents.txt`.
macro_rules! makes {
    ($($name:ident)*) => {
        /// What a row makes of its slots.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Make {
            /// A command, its places filled in.
            Shell(&'static str),
            /// Text.
            Say(&'static str),
            /// The plain call of a tool without arguments.
            Tool(Can),
            /// A tool that is told the name of a worktree.
            Tree(Can),
            $(
                #[doc = "What `act` does under this name."]
                $name,
            )*
        }

        impl Make {
            fn read(text: &'static str) -> Option<Self> {
                let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
                match name {
                    "Shell" => Some(Self::Shell(rest)),
                    "Say" => Some(Self::Say(rest)),
                    "Tool" => Can::read(rest).map(Self::Tool),
                    "Tree" => Can::read(rest).map(Self::Tree),
                    $(stringify!($name) => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

makes! {
    Read Head Tail About ReadAll List Find Count Exists Grep Framework Verify
    Append Mend Review Package Long ShowLong WriteSkill
    Abilities More Skills LoadSkill Tools Remember Recall FirstRequest Requests WhatDidYouDo
    Board Unblocked ShowTask Claim Complete WorkBoard CancelCron
    Inbox Leave AskPlan OwnPlan Approve Reject Report WaitForThem
    Worktrees Worktree DiscardTree
}

/// An intent.
#[derive(Debug)]
pub struct Row {
    /// How it is called in `what can you do?`: ready to type.
    pub offer: &'static str,
    /// Whether it only looks.
    pub mood: Mood,
    /// What is made of it.
    pub make: Make,
    /// One of these tools must be on offer.
    pub tools: Vec<Can>,
    /// What must be found.
    pub needs: Vec<Slot>,
    /// What may be found beside.
    pub may: Vec<Slot>,
    /// One of these words must be said, and one of `says`; empty for a row that its slots tell apart.
    pub verbs: &'static str,
    /// The same once more: what the verb is about.
    pub says: &'static str,
    /// Requests in different words.
    pub examples: Vec<&'static str>,
}

/// All rows.
pub static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let paragraphs = include_str!("intents.txt").split("\n\n").filter(|text| !text.starts_with('#'));
    paragraphs
        .map(|text| row(text.trim()).unwrap_or_else(|| panic!("intents.txt cannot be read at:\n{text}")))
        .collect()
});

/// Reads a paragraph; nothing when a name in it is unknown.
fn row(text: &'static str) -> Option<Row> {
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let (mood, offer) = match field("looks") {
        Some(offer) => (Mood::Looks, offer),
        None => (Mood::Acts, field("acts")?),
    };
    let words = |name: &str| field(name).unwrap_or_default();
    let slots =
        |name: &str| words(name).split(", ").filter(|slot| !slot.is_empty()).map(slot).collect::<Option<Vec<_>>>();
    let (_, examples) = text.split_once("\nexamples: ")?;
    Some(Row {
        offer,
        mood,
        make: Make::read(field("make")?)?,
        tools: words("tools").split_whitespace().map(Can::read).collect::<Option<_>>()?,
        needs: slots("needs")?,
        may: slots("may")?,
        verbs: words("verbs"),
        says: words("says"),
        examples: examples.split('|').map(str::trim).collect(),
    })
}

fn slot(text: &'static str) -> Option<Slot> {
    let simple = [
        ("Path", Slot::Path),
        ("Pair", Slot::Pair),
        ("Paths", Slot::Paths),
        ("Dir", Slot::Dir),
        ("Kind", Slot::Kind),
        ("Quoted", Slot::Quoted),
        ("Number", Slot::Number),
        ("Key", Slot::Key),
        ("Names", Slot::Names),
    ];
    let after = text.strip_prefix("After ").map(Slot::After);
    after.or_else(|| simple.into_iter().find(|(name, _)| *name == text).map(|(_, slot)| slot))
}

//! The table of intents: what the rehearsal model understands, and how it does it.
//!
//! Read it from top to bottom. To teach the model something new, add a row: the words that ask for it, the tools that
//! can do it, and what it says afterwards. A chapter with tools of its own adds a section.
//! Invariant: when two rows fit the same words, the one that stands first is meant.

mod files;
mod git;
mod machine;
mod reading;
mod search;
mod talk;

use super::table::Intent;

/// Some rows that belong together.
pub struct Section {
    /// What they are about, in the list of what the model can do.
    pub about: &'static str,
    /// The rows.
    pub rows: &'static [Intent],
}

/// All rows, in order.
pub const SECTIONS: &[Section] = &[
    Section {
        about: "this conversation",
        rows: talk::TALK,
    },
    Section {
        about: "git",
        rows: git::GIT,
    },
    Section {
        about: "files",
        rows: files::FILES,
    },
    Section {
        about: "searching",
        rows: search::SEARCH,
    },
    Section {
        about: "commands",
        rows: machine::MACHINE,
    },
    Section {
        about: "reading",
        rows: reading::READING,
    },
];

/// The row with this name.
pub fn row(name: &str) -> &'static Intent {
    all()
        .find(|intent| intent.name == name)
        .expect("rows name only rows of the table")
}

/// All rows, in order.
pub fn all() -> impl Iterator<Item = &'static Intent> {
    SECTIONS.iter().flat_map(|section| section.rows)
}

//! The table of intents: what the rehearsal model understands, and how it does it.
//!
//! Read it from top to bottom. To teach the model something new, add a row: the words that ask for it, the tools that
//! can do it, and what it says afterwards. A chapter with tools of its own adds a section.
//! Invariant: when two rows fit the same words, the one that stands first is meant.

mod asking_back;
mod background;
mod delegate;
mod files;
mod git;
mod long;
mod machine;
mod memory;
mod plan;
mod reading;
mod results;
mod schedule;
mod search;
mod servers;
mod skills;
mod talk;
mod tasks;
mod team;

use super::table::Intent;
pub use results::WRITE;

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
        about: "subagents",
        rows: delegate::DELEGATE,
    },
    Section {
        about: "teammates",
        rows: team::TEAM,
    },
    Section {
        about: "the task board",
        rows: tasks::TASKS,
    },
    Section {
        about: "the schedule",
        rows: schedule::SCHEDULE,
    },
    Section {
        about: "the background",
        rows: background::BACKGROUND,
    },
    Section {
        about: "MCP servers",
        rows: servers::SERVERS,
    },
    Section {
        about: "results",
        rows: results::RESULTS,
    },
    Section {
        about: "skills and reviews",
        rows: skills::SKILLS,
    },
    Section {
        about: "plans",
        rows: plan::PLAN,
    },
    Section {
        about: "what you tell me",
        rows: memory::MEMORY,
    },
    Section {
        about: "earlier requests",
        rows: asking_back::ASKING_BACK,
    },
    Section {
        about: "this conversation",
        rows: talk::TALK,
    },
    Section {
        about: "git",
        rows: git::GIT,
    },
    Section {
        about: "long outputs",
        rows: long::LONG,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::rehearsal::pattern::Pattern;

    /// Slots that are filled without being in a pattern of the row.
    const DERIVED: &[&str] = &[
        "path",
        "path.tmp",
        "content",
        "long",
        "summary",
        "results",
        "mkdir",
        "runner",
        "kind",
        "label",
        "old",
        "new",
        "whole",
        "test",
        "tests",
        "to",
        "todo",
        "skill",
        "kinds",
        "n",
        "where",
        "subject",
        "blockers",
        "task",
        "cron",
        "cron_id",
        "prompt",
        "recurring",
        "durable",
        "who",
        "what",
        "name",
        "role",
        "request",
        "approve",
        "feedback",
        "content",
        "worktree",
        "server",
        "act",
    ];

    fn slots(template: &str) -> impl Iterator<Item = &str> {
        let slots = template
            .split('{')
            .skip(1)
            .filter_map(|rest| rest.split_once('}'));
        slots.map(|(slot, _)| slot.split('|').next().unwrap_or(slot))
    }

    #[test]
    fn names_are_unique_and_what_comes_first_exists() {
        let mut names: Vec<&str> = all().map(|intent| intent.name).collect();
        all()
            .filter_map(|intent| intent.first.as_ref())
            .for_each(|first| assert!(!row(first.intent).says.is_empty()));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn every_pattern_parses_and_begins_with_a_word_or_a_slot() {
        for intent in all() {
            for text in intent.says.iter().chain(intent.also).copied() {
                Pattern::parse(text);
                assert!(
                    !text.starts_with('*') && !text.contains("  "),
                    "{}: {text}",
                    intent.name
                );
            }
        }
    }

    #[test]
    fn every_argument_comes_from_a_slot_that_something_fills() {
        for intent in all() {
            let filled = |slot: &str| {
                let patterns = intent.says.iter().chain(intent.also);
                let taken = patterns
                    .flat_map(|text| slots(text))
                    .any(|name| name.split(':').next() == Some(slot));
                taken
                    || DERIVED.contains(&slot)
                    || intent.fills.iter().any(|(name, _)| *name == slot)
            };
            for (argument, template) in intent.by.iter().flat_map(|way| way.args) {
                slots(template).for_each(|slot| {
                    assert!(filled(slot), "{}: {argument} takes {{{slot}}}", intent.name)
                });
            }
        }
    }

    #[test]
    fn whoever_calls_a_tool_says_what_for() {
        let says = |doing: &str| doing.starts_with(|c: char| c.is_lowercase() || c == '{');
        assert!(all().all(|intent| intent.by.is_empty() != says(intent.doing)));
    }
}

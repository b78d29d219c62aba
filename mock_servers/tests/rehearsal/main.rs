//! The rehearsal brain on a stage: what it does with the prompts of the course and with other words for them.
//!
//! Every play runs with real tools in a temporary directory; the stage checks each reply.

mod bounds;
mod compaction;
mod conduct;
mod delegation;
mod events;
mod everything;
mod hirings;
mod long_output;
mod long_talk;
mod memory;
mod misread;
mod newcomers;
mod paraphrases;
mod planning;
mod prompts;
mod servers;
mod side_calls;
mod skills;
mod stage;
mod teams;
mod troupe;

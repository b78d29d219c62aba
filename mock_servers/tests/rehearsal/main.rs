//! The rehearsal brain on a stage: what it does with the prompts of the course and with other words for them.
//!
//! Every play runs with real tools in a temporary directory; the stage checks each reply.

mod bounds;
mod conduct;
mod paraphrases;
mod prompts;
mod stage;

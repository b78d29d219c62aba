//! The board through its public handle: rules, damaged files, and many processes at once.

#[allow(dead_code, reason = "the exercises use the rest of it")]
mod desk;
mod processes;
mod rules;

//! Background jobs with real processes. They wait at a named pipe, not for a clock.
//!
//! Invariant: a job goes on exactly when the test lets it.

#[allow(dead_code, reason = "the exercises use the rest of it")]
mod desk;
mod ends;
mod starts;

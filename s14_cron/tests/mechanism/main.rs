//! Cron through its public handle, by a clock that the test sets.
//!
//! Invariant: nothing here waits: the clock is the test's, and tokio's time is paused.

#[allow(dead_code, reason = "the exercises use the rest of it")]
mod desk;
mod firing;
mod keeping;

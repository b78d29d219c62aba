//! The exercises of this chapter; `cargo x check s06` runs them.
//!
//! Each file is a task with its tests, and beside it lies one way to solve it, as a patch. Invariant: a test compiles
//! before its exercise is solved, fails then, and passes afterwards.

mod ex1_the_last_round;
mod ex2_only_reading;
mod ex3_what_it_had_said;

use crate::bench::Bench;

//! The exercises of this chapter; `cargo x check s11` runs them.
//!
//! Each file is a task with its tests, and beside it lies one way to solve it, as a patch. The clock of these tests writes
//! down each wait and lets it pass at once. Invariant: a test compiles before its exercise is solved, fails then, and
//! passes afterwards.

mod ex1_not_all_at_once;
mod ex2_enough_waiting;
mod ex3_an_empty_reply;

//! The exercises of this chapter; `cargo x check s12` runs them.
//!
//! Each file is a task with its tests, and beside it lies one way to solve it, as a patch. Invariant: a test compiles
//! before its exercise is solved, fails then, and passes afterwards.

mod ex1_a_task_by_its_subject;
mod ex2_what_is_urgent;
mod ex3_blockers_added_later;

//! The exercises of this chapter; `cargo x check s09` runs them.
//!
//! Each file is a task with its tests, and beside it lies one way to solve it, as a patch. Invariant: a test compiles
//! before its exercise is solved, fails then, and passes afterwards.

mod ex1_what_is_never_kept;
mod ex2_how_old_is_it;
mod ex3_forget;

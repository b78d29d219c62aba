//! The exercises of this chapter; cargo x check s18 runs them.
//!
//! They work at the desk that the chapter's own tests work at. Invariant: each test is switched off until the student
//! switches it on.

mod ex1_a_task_that_fits;
mod ex2_a_call_for_help;
mod ex3_who_was_here_before;

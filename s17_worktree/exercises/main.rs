//! The exercises of this chapter; cargo x check s17 runs them.
//!
//! They work in the repositories that the chapter's own tests work in. Invariant: each test is switched off until the
//! student switches it on.

mod ex1_what_waits_for_a_review;
mod ex2_files_that_come_along;
mod ex3_one_writer_a_worktree;

//! The exercises of this chapter; `cargo x check s14` runs them.
//!
//! Each file is one task and the tests that tell whether it is done. They work at the desk of the chapter's own tests.
//! Invariant: nothing here waits: the clock is the test's.

mod ex1_the_next_three_times;
mod ex2_so_many_times;
mod ex3_as_edited;

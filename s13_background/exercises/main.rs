//! The exercises of this chapter; `cargo x check s13` runs them.
//!
//! Each file is one task and the tests that tell whether it is done. They work at the desk of the chapter's own tests.
//! Invariant: a job of an exercise waits at a named pipe and goes on when the test lets it; nothing waits for a clock.

mod ex1_how_long_it_took;
mod ex2_four_at_a_time;
mod ex3_stop_a_job;

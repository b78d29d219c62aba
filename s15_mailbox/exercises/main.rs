//! The exercises of this chapter; `cargo x check s15` runs them.
//!
//! Each file is one task and the tests that tell whether it is done. They begin with the scene of the chapter's own tests.
//! Invariant: no teammate of an exercise works for ever, and nothing here waits for a clock.

mod ex1_a_message_to_all;
mod ex2_the_last_round;
mod ex3_unread;

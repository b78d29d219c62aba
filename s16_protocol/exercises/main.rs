//! The exercises of this chapter; `cargo x check s16` runs them.
//!
//! Each file is one task and the tests that tell whether it is done. They work at the desk of the chapter's own tests.
//! Invariant: nobody waits for ever: what does not come is said in words.

mod ex1_everybody_leaves;
mod ex2_a_plan_that_binds;

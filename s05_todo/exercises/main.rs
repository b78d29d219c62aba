//! The exercises of this chapter; `cargo x check s05` runs them.
//!
//! Each file is a task with its tests, and beside it lies one way to solve it, as a patch. Invariant: a test compiles
//! before its exercise is solved, fails then, and passes afterwards.

mod ex1_show_the_plan;
mod ex2_what_fell_off_the_plan;
mod ex3_done_stays_done;

use testkit::Class;

/// The program of this chapter, in a fresh directory.
fn class() -> Class {
    Class::new(env!("CARGO_BIN_EXE_s05_todo"))
}

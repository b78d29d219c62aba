//! The exercises of this chapter; `cargo x check s07` runs them.
//!
//! Each file is a task with its tests, and beside it lies one way to solve it, as a patch. Invariant: a test compiles
//! before its exercise is solved, fails then, and passes afterwards.

mod ex1_a_slash_and_a_name;
mod ex2_loaded_once;
mod ex3_a_file_beside_it;

use crate::place::{Place, skill, write};

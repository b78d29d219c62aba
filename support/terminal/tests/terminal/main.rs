//! The terminal as a person uses it: keys are pressed on a pseudo-terminal, and the screen is read.
//!
//! Invariant: nothing here waits for a clock but the program itself, whose sign of life is due after half a second.

mod program;
mod questions;
mod turns;
mod typing;

//! Python, as much of it as a rehearsal needs: small functions to write, small faults to find, small files to improve.
//!
//! A model that is asked to refactor a file reads it first and changes what is there. So does this one: what it writes is
//! worked out from the text it has read. Invariant: a text it does not understand is left as it is.

pub mod lines;
pub mod long;
pub mod refactor;
pub mod samples;
mod spacing;
pub mod style;
pub mod styled;

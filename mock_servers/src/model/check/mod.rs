//! The rules of the Messages API: what it refuses, with the words and the place it gives.
//!
//! `shapes.txt` has the shape of each part of a request, `shape` checks it; the other files read the part and hold the rules
//! that are more than a shape. Reading a part and checking it are one step, so that no part reaches a brain unchecked.
//! Invariant: a rule looks at content only, so a part that passed once may be remembered and need not be checked again;
//! the rules that span messages live in `conversation` and run on every request.

mod betas;
mod conversation;
mod message;
mod options;
mod schema;
mod shape;
mod tools;

pub use betas::Betas;
pub use conversation::{breakpoints, combine, conversation, instructions, is_over};
pub use message::{Known, Said, System, message, system};
pub use options::{Options, option};
pub use tools::{ToolSet, tools};

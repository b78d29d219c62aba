//! The tests of this chapter, its exercises among them, as one program, which is linked once.

mod bench;
mod class;
#[path = "../exercises/main.rs"]
mod exercises;
mod subagent;

//! The tests of this chapter, its exercises among them, as one program, which is linked once.

mod class;
#[path = "../exercises/main.rs"]
mod exercises;
mod mechanism;
mod stage;

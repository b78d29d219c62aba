//! The tests of this chapter, its exercises among them, as one program, which is linked once.

mod class;
#[path = "../exercises/main.rs"]
mod exercises;
mod mechanism;
#[allow(dead_code, reason = "later chapters use the rest of it")]
mod scene;

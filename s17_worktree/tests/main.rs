//! The tests of this chapter, its exercises among them, as one program, which is linked once.

mod class;
#[path = "../exercises/main.rs"]
mod exercises;
mod mechanism;
#[path = "../../s15_mailbox/tests/scene.rs"]
#[allow(dead_code, reason = "other chapters use the rest of it")]
mod scene;
mod yard;

//! The tests of this chapter, its exercises among them, as one program, which is linked once.

mod class;
mod desk;
#[path = "../exercises/main.rs"]
mod exercises;
#[path = "../../s16_protocol/tests/desk.rs"]
#[allow(dead_code, reason = "other chapters use the rest of it")]
mod lead;
mod mechanism;
#[path = "../../s15_mailbox/tests/scene.rs"]
#[allow(dead_code, reason = "other chapters use the rest of it")]
mod scene;

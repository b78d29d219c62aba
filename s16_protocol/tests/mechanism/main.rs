//! The protocol through its tools and the teammate's loop, with a real client and a model that checks every request.

#[allow(dead_code, reason = "the exercises use the rest of it")]
mod desk;
mod leaving;
mod plans;
#[path = "../../../s15_mailbox/tests/scene/mod.rs"]
#[allow(dead_code, reason = "other chapters use the rest of it")]
mod scene;

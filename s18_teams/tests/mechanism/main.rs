//! Work loops of teammates that do what a test says: the real team, board, mail and protocol, no model, paused time.
//!
//! Invariant: a round begins when the test says so, and time passes only while everybody waits.

mod begins;
#[allow(dead_code, reason = "the exercises use the rest of it")]
mod desk;
mod ends;
#[path = "../../../s16_protocol/tests/mechanism/desk.rs"]
#[allow(dead_code, reason = "other chapters use the rest of it")]
mod lead;
#[path = "../../../s15_mailbox/tests/scene/mod.rs"]
#[allow(dead_code, reason = "other chapters use the rest of it")]
mod scene;

//! Mailboxes and teammates through their public handles, and many processes on one mailbox.
//!
//! Invariant: nothing here waits for a clock.

mod delivery;
mod processes;
#[path = "../scene/mod.rs"]
#[allow(dead_code, reason = "later chapters use the rest of it")]
mod scene;
mod team;

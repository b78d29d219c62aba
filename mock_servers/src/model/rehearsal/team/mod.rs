//! Several agents: the lead that hires, waits for mail and goes on; the teammate that does its job.
//!
//! Each of them is asked in a conversation of its own, so each is worked out from its own conversation alone.
//! Invariant: a lead never polls. What it waits for wakes it, and then it goes on with the request that waits.

pub mod errands;
pub mod fillings;
pub mod hiring;
pub mod job;
pub mod letters;
pub mod mate;
pub mod people;
pub mod told;
pub mod waiting;
pub mod wake;
pub mod works;

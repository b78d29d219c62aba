//! Mailboxes and teammates through their public handles, and many processes on one mailbox.
//!
//! Invariant: nothing here waits for a clock.

mod delivery;
mod processes;
mod team;

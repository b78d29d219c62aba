//! The relay and its front, over real sockets.
//!
//! Invariant: every port is a free one, and what a test starts ends with it.

mod both_ways;
#[path = "../external/mod.rs"]
mod external;
mod failures;
mod front;
mod manage;
mod program;
mod reloads;
mod scene;
mod service;
mod troubleshooting;
mod values;

//! The relay and its front, over real sockets.
//!
//! Invariant: every port is a free one, and what a test starts ends with it.

mod front;
mod service;

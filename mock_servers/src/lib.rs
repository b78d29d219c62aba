//! Mock servers: what a class talks to when there is neither a key nor a network.
//!
//! The mock model stands in for the Messages API. It is strict: what the real API would refuse, it refuses.
//! Invariant: this crate depends on no chapter, so a chapter is always examined by somebody else's code.

pub mod model;

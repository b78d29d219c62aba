//! Mock servers: what a class talks to when there is neither a key nor a network.
//!
//! The mock model stands in for the Messages API. It is strict: what the real API would refuse, it refuses.
//! Invariant: this crate depends on no chapter, so a chapter is always examined by somebody else's code.
//!
//! - [`model::MockModel`] is a running server: [`rehearsal`](model::MockModel::rehearsal) for a class,
//!   [`scripted`](model::MockModel::scripted) for a test, [`start`](model::MockModel::start) for the rest.
//! - [`model::Fault`] is what can go wrong on request.
//! - [`model::tokens`] is the rule by which the mock counts.

// The first of our crates to be built, so this one sentence stands where a hundred errors would.
#[cfg(not(unix))]
compile_error!(
    "this course runs on Linux and macOS; on Windows it runs in WSL, because bash, process groups and signals are Unix's"
);

#[cfg(all(unix, feature = "mcp"))]
pub mod mcp;
#[cfg(unix)]
pub mod model;
#[cfg(unix)]
pub mod watch;

/// The README's example, compiled with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

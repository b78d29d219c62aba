//! The mock model from outside: real HTTP, byte for byte.
//!
//! One test binary, so that a whole run links once.
//! Invariant: nothing here uses an HTTP client of the course; the mock is examined by something that is not its pupil.

mod caching;
mod client;
mod faulty;
mod memory;
mod refusals;
mod scripts;
mod sdk;
mod watch;
mod wire;

//! The library and the program, without a network and without waiting.
//!
//! Invariant: time is paused wherever something takes time; what is started is a server of the course, or a task here.

#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

mod channels;
mod config;
mod connect;
mod errors;
#[path = "../external/mod.rs"]
mod external;
mod fuzz;
#[path = "../login/mod.rs"]
mod login;
mod program;
mod refused;
mod server;
mod sources;
mod survive;

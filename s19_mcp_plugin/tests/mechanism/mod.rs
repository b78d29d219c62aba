//! The mechanism through its handles: a connection over streams in memory, servers as processes, the pool, the pins.
//!
//! Invariant: what a server does wrong is said in one sentence that names it, and nothing of it stays.

mod connection;
mod peer;
mod pins;
mod pool;
mod process;

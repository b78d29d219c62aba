//! The memory through its public handle, with real files and scripted side calls.

mod consolidating;
mod killed;
mod learning;
mod recalling;

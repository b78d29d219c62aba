//! Servers as they are: real processes with habits, and bad ones.
//!
//! Most are played by bash, which says a line and reads a line as the test wants; the rest are the mock servers with a
//! fault. Invariant: each process of a test is marked, and what is left of it at the end is found by its mark.

mod agreed;
mod bad;
mod ends;
mod habits;
mod lists;
mod scene;

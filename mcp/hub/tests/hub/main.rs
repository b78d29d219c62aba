//! The hub as its clients and spokes meet it.

mod program;
mod spokes;
mod stage;
mod tools;

//! The hub as its clients and spokes meet it.

mod context;
mod program;
mod spokes;
mod stage;
mod tools;

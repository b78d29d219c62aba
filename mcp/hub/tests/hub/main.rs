//! The hub as its clients and spokes meet it.

mod context;
#[path = "../external/mod.rs"]
mod external;
mod program;
mod spokes;
mod stage;
mod tools;

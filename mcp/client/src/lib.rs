#![doc = include_str!("../README.md")]

pub mod channels;
pub mod child;
pub mod client;
pub mod config;
pub mod errors;
pub mod fleet;
pub mod link;
pub mod login;
pub mod sources;
pub mod start;
pub mod transport;

pub use client::{Client, Error, Options, Tool};
pub use config::{Server, Transport};
pub use link::{Patience, State};
pub use login::{Challenge, Login};

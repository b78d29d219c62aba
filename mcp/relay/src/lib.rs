#![doc = include_str!("../README.md")]

mod backend;
mod clients;
pub mod config;
pub mod front;
pub mod lifecycle;
mod lines;
mod manage;
mod relay;
pub mod reload;
pub mod routing;
pub mod service;
mod subscriptions;
mod switch;
pub mod watcher;
pub mod yaml;

pub use relay::Relay;

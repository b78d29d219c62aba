#![doc = include_str!("../README.md")]

pub mod agent;
pub mod api;
pub mod audit;
pub mod config;
pub mod database;
pub mod host;
pub mod owner;
pub mod process;
pub mod queue;
pub mod relay;
pub mod schedule;
pub mod shim;
pub mod tools;
mod worker;

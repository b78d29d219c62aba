#![doc = include_str!("../README.md")]

pub mod agent;
mod api;
mod audit;
pub mod config;
pub mod database;
pub mod host;
pub mod owner;
pub mod process;
pub mod relay;
pub mod schedule;
pub mod shim;
pub mod tokens;
mod tools;
mod worker;

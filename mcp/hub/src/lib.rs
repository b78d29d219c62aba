#![doc = include_str!("../README.md")]

pub mod answer;
pub mod capability;
pub mod config;
pub mod context;
pub mod files;
pub mod guard;
pub mod hub;
pub mod mode;
pub mod server;
pub mod spoke;
pub mod telemetry;
pub mod threads;

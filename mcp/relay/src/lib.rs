#![doc = include_str!("../README.md")]

pub mod front;
pub mod lifecycle;
pub mod service;

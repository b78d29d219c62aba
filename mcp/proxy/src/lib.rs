#![doc = include_str!("../README.md")]

pub mod backends;
pub mod calls;
pub mod index;
pub mod proxy;
pub mod recall;
pub mod settings;
pub mod store;
pub mod template;
pub mod trust;
pub mod view;

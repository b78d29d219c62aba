#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_macros))]

mod compactor;
mod layers;
mod requests;
mod side_call;
mod store;
mod summary;
mod text;
mod too_long;
mod transcript;
mod turn;

pub use compactor::Compactor;
pub use side_call::{side_call, side_model};
pub use transcript::transcript;

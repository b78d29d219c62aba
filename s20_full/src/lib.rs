#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_macros))]

mod adaptor;
mod channels;
mod commands;
mod denials;
mod hold;
mod pool;
mod saved;
mod servers;
mod sessions;
mod start;
mod stream;

pub use commands::Commands;
pub use denials::Denials;
pub use pool::built_in;
pub use servers::Servers;
pub use sessions::Sessions;
pub use start::Start;
pub use stream::Stream;

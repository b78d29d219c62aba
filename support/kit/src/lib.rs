//! Helpers with no mechanism in them, so that a `use` line of a chapter names a lesson only where it means that lesson.
//!
//! Files written whole, the state folder, a lock on a folder, names that are safe as file names, texts in tags, cut or
//! counted. Invariant: a mechanism never goes in here, and a helper never comes from a lesson; `cargo x tidy` holds it to
//! 400 lines.
#![cfg_attr(not(test), warn(clippy::disallowed_methods, clippy::disallowed_macros))]

mod lock;
mod name;
mod state;
mod tag;
mod text;
mod tickets;
mod write;

use std::pin::Pin;

pub use lock::FolderLock;
pub use name::{fresh_suffix, is_safe_name};
pub use state::{STATE_DIR, make_state_folder};
pub use tag::{harmless, quoted, tagged};
pub use text::{counted, cut, first_chars, grouped, one_line};
pub use tickets::Tickets;
pub use write::write_whole;

/// A future on the heap, where a function is a value or a trait has an async method.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

//! What the user may see of a request while it runs.
//!
//! The client knows when text arrives, the terminal knows how to show it; neither knows the other. Invariant: every
//! `Waiting` is followed by one `Done`, whether the request succeeds, fails or is dropped.

use std::sync::Arc;

use crate::reply::Usage;
use crate::tool::ToolCall;

/// Something that happened while the model answers.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// A client was made: which model it will ask, and where.
    Connected(&'a str),
    /// A request is on its way.
    Waiting,
    /// A piece of text arrived.
    Text(&'a str),
    /// A tool call arrived whole.
    Call(&'a ToolCall),
    /// Something the user should know of, such as a reply cut at `max_tokens`.
    Notice(&'a str),
    /// The reply is complete, and this is what it cost.
    Spent(&'a Usage),
    /// The request is over.
    Done,
}

/// Sees the events of a client's requests.
pub trait Observer: Send + Sync {
    /// Called for each event, in order; must not block.
    fn see(&self, event: Event<'_>);

    /// Under whose name it shows them, when they are not the main speaker's.
    fn name(&self) -> Option<&str> {
        None
    }
}

/// A shared observer; each clone of a client holds one.
pub type SharedObserver = Arc<dyn Observer>;

/// Watches nothing: for requests that the user need not see.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn see(&self, _event: Event<'_>) {}
}

//! How it stands with a connection, how patient it is, and what its own refusals carry.
//!
//! Invariant: whoever made a request can tell apart what the server says from what the link says in its place.

use std::sync::Arc;
use std::time::Duration;

/// How it stands with a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Not connected yet, or not any more and about to be.
    #[default]
    Pending,
    /// The server has answered.
    Connected,
    /// It cannot be reached, and why; after it has once been there, attempts go on.
    Failed(Arc<str>),
    /// Somebody has to log in, and how.
    NeedsAuth(Arc<str>),
    /// The configuration switches it off.
    Disabled,
}

/// A random part of a pause, so that many clients do not come back at once.
pub type Jitter = Arc<dyn Fn(Duration) -> Duration + Send + Sync>;

/// How patient a connection is.
#[derive(Clone)]
pub struct Patience {
    /// For a connection to open, and for `initialize`.
    pub connect: Duration,
    /// For a request to wait while the server is away.
    pub away: Duration,
    /// The first pause between two attempts, and the longest.
    pub pauses: (Duration, Duration),
    /// The longest while a request waits.
    pub hurry: Duration,
    /// Chance.
    pub jitter: Jitter,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(30),
            away: Duration::from_secs(10),
            pauses: (Duration::from_secs(1), Duration::from_secs(60)),
            hurry: Duration::MAX,
            jitter: Arc::new(full_jitter),
        }
    }
}

fn full_jitter(most: Duration) -> Duration {
    most.mul_f64(f64::from(getrandom::u32().unwrap_or_default()) / f64::from(u32::MAX))
}

/// What an error of this crate's own making carries in `data`, so that what is above can tell them apart.
pub const REASON: &str = "mcp_client";
/// The server cannot be reached.
pub const AWAY: &str = "connection";
/// The connection broke while the server may have been acting.
pub const UNKNOWN: &str = "outcome-unknown";
/// Somebody has to log in.
pub const LOGIN: &str = "needs-auth";
